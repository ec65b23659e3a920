"""/v1/generate and /v1/prompt: a language model continues and reads a prompt as in Python."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest
from loopback import on_loopback

sys.path.insert(0, str(Path(__file__).parents[1] / "tasks" / "language"))
from counted_language import write_recipe

import regard
from regard.cli import main
from regard.serving.app import make_app
from regard.serving.options import ServingOptions
from regard.verbs.generate.model import LanguageModel
from regard.verbs.generate.request import PromptRequest

LIMITS = ServingOptions.model_validate({"limits": {"tokens": 200, "samples": 4, "beam": 3, "n_best": 2, "texts": 3}})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("language")
    assert main(["train", str(write_recipe(place)), "--out", str(place / "ngrams")]) == 0
    return place / "ngrams"


@pytest.fixture(scope="module")
def served(folder: Path) -> Iterator[httpx.Client]:
    with on_loopback(make_app([folder], LIMITS)) as address, httpx.Client(base_url=address, timeout=60) as client:
        yield client


@pytest.mark.parametrize(
    "more",
    [
        {"samples": 3, "sample": {"seed": 5, "temperature": 0.8}},
        {"beam": 3, "n_best": 2},
        {"prompt": ["the cat", "the"], "sample": {"top_k": 1}},
    ],
    ids=str,
)
def test_texts_are_those_of_python(served: httpx.Client, folder: Path, more: dict[str, Any]) -> None:
    question = {"prompt": "the cat", "tokens": 6} | more
    answer = served.post("/v1/generate", json=question)
    assert answer.status_code == 200, answer.text
    model = regard.load(folder)
    assert isinstance(model, LanguageModel)
    prompts = [question["prompt"]] if isinstance(question["prompt"], str) else question["prompt"]
    options = {name: value for name, value in question.items() if name != "prompt"}
    expected = model.generate(prompts, **options)
    assert answer.json()["model"] == "ngrams"
    assert answer.json()["texts"] == [[text.as_dict() for text in texts] for texts in expected]


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ({"tokens": 201}, "'tokens' is 201, but the limit here is 200."),
        ({"samples": 5}, "'samples' is 5, but the limit here is 4."),
        ({"beam": 4}, "'beam' is 4, but the limit here is 3."),
        ({"beam": 3, "n_best": 3}, "'n_best' is 3, but the limit here is 2."),
        ({"prompt": ["a"] * 4}, "exceeds batch text limit (3)"),
        ({"samples": 2, "beam": 2}, "'beam' is for beam search, but sampling draws at random"),
        ({"promt": "a"}, "the request has no 'promt'; did you mean 'prompt'?"),
    ],
    ids=str,
)
def test_what_is_too_much_or_does_not_go_together_is_refused(
    served: httpx.Client, question: dict[str, Any], sentence: str
) -> None:
    answer = served.post("/v1/generate", json=question)
    assert answer.status_code == 400
    assert sentence in answer.json()["error"]


def test_many_prompts_take_turns_and_come_out_the_same(folder: Path, served: httpx.Client) -> None:
    """Samples depend on the number of a prompt, not on its turn."""
    question = {"prompt": ["the cat", "the", ""], "tokens": 5, "sample": {"seed": 4}}
    one_by_one = ServingOptions.model_validate({"batching": {"rows": 1}})
    with on_loopback(make_app([folder], one_by_one)) as address:
        alone = httpx.post(f"{address}/v1/generate", json=question).json()["texts"]
    assert alone == served.post("/v1/generate", json=question).json()["texts"]


def events(answer: httpx.Response) -> list[tuple[str, Any]]:
    """Return the kinds and the data of a stream of events."""
    assert answer.status_code == 200, answer.text
    parts = [event.split("\n") for event in answer.text.strip().split("\n\n")]
    return [(kind.removeprefix("event: "), json.loads(data.removeprefix("data: "))) for kind, data in parts]


@pytest.mark.parametrize("search", [{"beam": 1}, {"beam": 2}, {"sample": {"seed": 2}, "past_end": True}], ids=str)
def test_a_stream_tells_token_by_token_what_is_written(served: httpx.Client, search: dict[str, Any]) -> None:
    question = {"prompt": "the cat", "tokens": 9, **search}
    *tokens, (kind, over) = events(served.post("/v1/generate", json=question | {"stream": True}))
    assert {name for name, _ in tokens} == {"token"}
    assert kind == "done"
    (expected,) = served.post("/v1/generate", json=question).json()["texts"]
    assert over["texts"] == expected
    assert "the cat" + "".join(token["text"] for _, token in tokens) == expected[0]["text"]
    assert [token["token"] for _, token in tokens] == expected[0]["tokens"]


def test_what_is_wrong_with_a_stream_is_said_in_it_or_before_it(served: httpx.Client) -> None:
    several = served.post("/v1/generate", json={"prompt": ["a", "b"], "stream": True})
    assert (several.status_code, several.json()["error"]) == (
        400,
        "A stream continues one prompt only; give one, or ask without 'stream'.",
    )
    ((kind, data),) = events(served.post("/v1/generate", json={"beam": 2, "search": {"groups": 3}, "stream": True}))
    assert kind == "error"
    assert "a beam of 2 cannot be divided into 3 groups" in data["error"]


def test_who_stops_listening_stops_the_search(served: httpx.Client) -> None:
    """The next request is served at once, though the previous one would have run for long."""
    question = {"prompt": "the", "tokens": 200, "past_end": True, "stream": True}
    with served.stream("POST", "/v1/generate", json=question) as answer:
        assert next(answer.iter_lines()) == "event: token"
    assert served.post("/v1/prompt", json={}).status_code == 200


def test_a_prompt_is_read_as_python_does(served: httpx.Client, folder: Path) -> None:
    answer = served.post("/v1/prompt", json={"prompt": "the cat\nthe", "shown": 4}).json()
    model = regard.load(folder)
    assert isinstance(model, LanguageModel)
    expected = model.read_prompt(PromptRequest(prompt="the cat\nthe", shown=4))
    assert (answer["model"], answer["stem"]) == ("ngrams", "the cat\nthe")
    assert [token["token"] for token in answer["tokens"]] == ["the", "cat", "</s>", "the"]
    assert [token["score"] for token in answer["tokens"]] == pytest.approx([token.score for token in expected.tokens])
    choices = [(choice["token"], choice["text"], choice["end"]) for choice in answer["next"]]
    assert choices == [(choice.token, choice.text, choice.end) for choice in expected.next]
    assert answer["rest"]["count"] == expected.others
    assert answer["perplexity"] == pytest.approx(expected.perplexity)


def test_a_prompt_has_its_limits(served: httpx.Client) -> None:
    assert "shown is 201, expected 200 or less" in served.post("/v1/prompt", json={"shown": 201}).json()["error"]
    assert served.post("/v1/prompt", json={"prompt": "a " * 40_000}).status_code == 400
    assert "did you mean 'prompt'?" in served.post("/v1/prompt", json={"promt": ""}).json()["error"]


def test_it_has_no_other_doors(served: httpx.Client) -> None:
    (model,) = served.get("/v1/models").json()["models"]
    assert (model["task"], model["reads"], model["can"]) == ("language", "prompt", ["generate"])
    answer = served.post("/v1/translate", json={"text": "the cat"})
    assert (answer.status_code, answer.json()["error"]) == (
        404,
        "The model ngrams does not answer at /v1/translate: it gives text that continues a prompt; "
        "use /v1/generate. It can generate.",
    )
