"""/v1/generate: a language model goes on with a prompt as Python has it."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest
from loopback import on_loopback

sys.path.insert(0, str(Path(__file__).parents[2] / "tasks" / "language"))
from counted_language import write_recipe

import regard
from regard.cli import main
from regard.serving.app import make_app
from regard.serving.options import ServingOptions
from regard.verbs.generate.model import LanguageModel

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
    assert answer.json()["texts"] == [[each.as_dict() for each in texts] for texts in expected]


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ({"tokens": 201}, "'tokens' is 201; here 200 is the most."),
        ({"samples": 5}, "'samples' is 5; here 4 is the most."),
        ({"beam": 4}, "'beam' is 4; here 3 is the most."),
        ({"beam": 3, "n_best": 3}, "'n_best' is 3; here 2 is the most."),
        ({"prompt": ["a"] * 4}, "exceeds batch text limit (3)"),
        ({"samples": 2, "beam": 2}, "'beam' is of a beam search, but 'samples' draws at random"),
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
    """What is drawn depends on the number of a prompt, in whatever turn it is drawn."""
    question = {"prompt": ["the cat", "the", ""], "tokens": 5, "sample": {"seed": 4}}
    one_by_one = ServingOptions.model_validate({"batching": {"rows": 1}})
    with on_loopback(make_app([folder], one_by_one)) as address:
        alone = httpx.post(f"{address}/v1/generate", json=question).json()["texts"]
    assert alone == served.post("/v1/generate", json=question).json()["texts"]


def test_it_has_no_other_doors(served: httpx.Client) -> None:
    (model,) = served.get("/v1/models").json()["models"]
    assert (model["task"], model["reads"], model["can"]) == ("language", "prompt", ["generate"])
    answer = served.post("/v1/translate", json={"text": "the cat"})
    assert (answer.status_code, answer.json()["error"]) == (
        404,
        "The model ngrams cannot translate: it gives text that goes on with a prompt, and can generate.",
    )
