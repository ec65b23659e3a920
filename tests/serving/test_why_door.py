"""/v1/why and /v1/examples: the numbers of `Model.why` and `look_examples` for every kind of input, and refusals."""

import json
import math
import socket
import threading
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import httpx2 as httpx
import pytest
from loopback import on_loopback
from toy_verbs import inputs_of
from toys import open_trained_toy

import regard
from regard.base.doors import Limits, Question
from regard.seeing.why.explaining import CHOICES, INSIDE
from regard.seeing.why.maps import log_probabilities
from regard.seeing.why.question import Question as Decision
from regard.serving.app import make_app
from regard.serving.options import ServingOptions
from regard.verbs.look import reasons
from regard.verbs.look.reasons_door import WHY, WhyBody
from regard.verbs.look.request import Method

TEXT = "Ana sees the red house."
OUTPUT = "Eu amo os livros ."
TOYS = ["gpt", "bert", "encoder", "tagging rnn", "memory", "ntm", "gat", "patches", "ctc", "ngram", "bag"]
SILENT = {"ngram", "bag"}
VIEWS = {"patches": "overlay", "ctc": "frames"}


@pytest.fixture(scope="module")
def toys(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, str]]:
    """Return the folder of each toy, under its own name, and an input."""
    made = {}
    for name in TOYS:
        place = tmp_path_factory.mktemp("why") / name.replace(" ", "-")
        place.mkdir()
        run = open_trained_toy(name, place)
        item = inputs_of(name, run.recipe.task, place)[0]
        made[name] = ((place / "run").rename(place / place.name), item)
    return made


OPTIONS = ServingOptions.model_validate({"limits": {"characters": 600, "examples": 50, "units": 40}})


@pytest.fixture(scope="module")
def asked(forth: Path) -> Iterator[httpx.Client]:
    with on_loopback(make_app([forth], OPTIONS)) as address, httpx.Client(base_url=address, timeout=60) as client:
        yield client


@pytest.fixture(scope="module")
def others(toys: dict[str, tuple[Path, str]]) -> Iterator[httpx.Client]:
    app = make_app([folder for folder, _ in toys.values()], OPTIONS)
    with on_loopback(app) as address, httpx.Client(base_url=address, timeout=60) as client:
        yield client


def why(client: httpx.Client, status: int = 200, path: str = "/v1/why", **question: Any) -> dict[str, Any]:
    answer = client.post(path, json={"model": "forth", **question})
    assert answer.status_code == status, answer.text
    return dict(answer.json())


def sent(item: str) -> Any:
    """Return an input as a client sends it."""
    path = Path(item)
    if path.suffix in (".png", ".jpg", ".wav") and path.exists():
        kind = "sound" if path.suffix == ".wav" else "picture"
        return {kind: b64encode(path.read_bytes()).decode()}
    return item


def test_methods_are_those_of_python() -> None:
    assert set(get_args(Method)) == set(CHOICES)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("method", [*CHOICES])
def test_a_translator_is_explained_as_in_python(asked: httpx.Client, forth: Path, method: str) -> None:
    other = "Ana sees the new house." if method == "patching" else None
    more: dict[str, Any] = {} if other is None else {"from": other}
    trust = method not in INSIDE
    report = why(asked, input=TEXT, method=method, output=OUTPUT, word="amo", trust=trust, **more)
    view = regard.load(forth).why(TEXT, method, output=OUTPUT, word="amo", trust=trust, other=other)
    expected = view.numbers()
    assert report["chosen"] == expected["chosen"] == "amo"
    assert report["log_probability"] == pytest.approx(expected["log_probability"], abs=1e-6)
    if method in INSIDE:
        titles = [table["title"] for table in report["tables"]]
        assert titles == [table["title"] for table in expected["tables"]]
        return
    assert [found["method"] for found in report["maps"]] == [found["method"] for found in expected["maps"]]
    for own, found in zip(report["maps"], expected["maps"], strict=True):
        assert own["scores"] == pytest.approx(found["scores"], abs=1e-5)
        assert own["trust"]["figures"]["deletion"]["value"] == pytest.approx(
            found["trust"]["figures"]["deletion"]["value"], abs=1e-5
        )
    assert report["words"]["words"] == ["Ana", "sees", "the", "red", "house", ".", "</s>"]
    assert report["choices"]["tokens"][1] == "amo"
    assert report["explained"] == [1]
    assert (report["tables"], report["view"]) == ([], None)


def test_an_output_is_given_by_its_tokens_and_a_word_by_its_place(asked: httpx.Client) -> None:
    tokens = ["Eu", "amo", "Eu", "livros"]
    second = why(asked, input=TEXT, method="gradient", tokens=tokens, word="Eu", place=3)
    assert (second["explained"], second["output"]) == ([2], "Eu amo Eu livros")
    first = why(asked, input=TEXT, method="gradient", tokens=tokens, word="Eu")
    assert first["explained"] == [0]
    assert first["maps"] != second["maps"]
    wrong = why(asked, 400, input=TEXT, tokens=tokens, word="Eu", place=2)
    assert wrong["error"] == "Token 2 of the output belongs to 'amo', not to 'Eu'."


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", [name for name in TOYS if name not in SILENT])
def test_every_kind_of_input_is_explained(others: httpx.Client, toys: dict[str, tuple[Path, str]], name: str) -> None:
    folder, item = toys[name]
    output = {"ctc": "a"}.get(name)
    given: dict[str, Any] = {} if output is None else {"output": output}
    report = why(others, model=folder.name, input=_numbered(name, sent(item)), method="all", trust=True, **given)
    expected = regard.load(folder).why(item, "all", output=output, trust=True).numbers()
    assert report["units"] == expected["units"]
    assert set(report["refused"]) == set(expected["refused"])
    for served, found in zip(report["maps"], expected["maps"], strict=True):
        assert served["scores"] == pytest.approx(found["scores"], rel=1e-3, abs=1e-4)
        assert all(math.isfinite(figure["value"]) for figure in served["trust"]["figures"].values())
    assert report["view"] == VIEWS.get(name)
    assert str(folder.parent) not in report["text"]


def _numbered(name: str, item: Any) -> Any:
    return int(item) if name == "gat" else item


def test_only_models_that_can_are_asked(others: httpx.Client, toys: dict[str, tuple[Path, str]]) -> None:
    can = {model["name"]: model["can"] for model in others.get("/v1/models").json()["models"]}
    assert {name for name in TOYS if "why" not in can[toys[name][0].name]} == SILENT
    assert {name for name, verbs in can.items() if "examples" in verbs} == {"gpt", "bert", "encoder"}
    message = why(others, 400, model="ngram", input="a")["error"]
    assert message.startswith("The model ngram does not answer at /v1/why: it gives")


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ({"input": TEXT, "method": "magic"}, "method is 'magic', expected one of 'attention'"),
        ({"input": TEXT, "steps": 1_000_000}, "steps"),
        ({"input": TEXT, "output": "Eu", "tokens": ["Eu"]}, "give one of the two"),
        ({"input": TEXT, "tokens": ["nonsense"]}, "'nonsense' is not a token of the model forth."),
        ({"input": TEXT, "method": "lens", "trust": True}, "this method gives none; omit 'trust'."),
        ({"input": TEXT, "layer": 1}, "'layer' and 'head' choose an attention; they go with that method."),
        ({"input": TEXT, "method": "flow", "head": 1}, "'layer' and 'head' choose an attention"),
        ({"input": TEXT, "method": "attention", "layer": 9}, "blocks"),
        ({"input": TEXT, "method": "flow", "from": TEXT}, "'from' gives the states for patching"),
        ({"input": TEXT, "method": "patching"}, "Patching takes states from another input"),
        ({"input": TEXT, "method": "patching", "from": "Ana"}, "patching needs the same number"),
        ({"input": TEXT, "place": 99}, "so there is no token number 99."),
        ({"input": TEXT, "place": 0}, "place is 0, expected 1 or more."),
        ({"input": TEXT, "word": "nunca"}, "The output has no word 'nunca'"),
        ({"input": 3}, "The model forth reads texts; the input is something else."),
        ({"input": " "}, "There is no text to read; give a sentence."),
        ({"input": "Ana " * 200}, "request (800) exceeds text limit (600)"),
    ],
    ids=str,
)
def test_what_cannot_be_explained_is_refused_in_words(
    asked: httpx.Client, question: dict[str, Any], sentence: str
) -> None:
    assert sentence in why(asked, 400, **question)["error"]


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        (
            {"model": "gpt", "input": "a b", "tokens": ["a"]},
            "'tokens' is for translators; the model gpt takes",
        ),
        ({"model": "gpt", "input": "a b", "place": 1}, "Without an output the next token is explained"),
        ({"model": "bert", "input": "a b"}, "There is no [MASK] in the text"),
        ({"model": "patches", "input": "/etc/passwd"}, "reads pictures"),
        ({"model": "patches", "input": {"picture": ""}, "method": "patching", "from": "/etc/passwd"}, "reads pictures"),
    ],
    ids=str,
)
def test_so_it_is_for_other_models(others: httpx.Client, question: dict[str, Any], sentence: str) -> None:
    assert sentence in why(others, 400, **question)["error"]


def test_an_input_with_too_many_units_is_too_large(asked: httpx.Client) -> None:
    message = why(asked, 413, input="Ana " * 45, method="gradient", output="Eu")["error"]
    assert message == "The input has 46 units, but at most 40 are explained here; shorten it."


def test_work_that_nobody_waits_for_is_given_up_and_others_are_served(
    forth: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A short request overtakes an explanation that never ends, and a client that leaves ends it."""
    began, ended = threading.Event(), threading.Event()

    def explain_for_ever(model: Any, item: Any, question: Decision, request: Any) -> None:
        began.set()
        try:
            while True:
                log_probabilities(question, question.inputs[None])
        finally:
            ended.set()

    app = make_app([forth], ServingOptions.model_validate({"batching": {"turn": 0.05}}))
    with on_loopback(app) as address, httpx.Client(base_url=address, timeout=60) as client:
        short: dict[str, Any] = {"text": TEXT, "at": 0}
        alone = why(client, path="/v1/next", **short)
        monkeypatch.setattr(reasons, "explain_question", explain_for_ever)

        body = json.dumps({"input": TEXT, "method": "gradient"})
        head = f"Host: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        place = httpx.URL(address)
        with socket.create_connection((place.host, place.port)) as leaving:
            leaving.sendall(f"POST /v1/why HTTP/1.1\r\n{head}\r\n{body}".encode())
            assert began.wait(20)
            overtaking = why(client, path="/v1/next", **short)
            assert overtaking["log_probabilities"] == alone["log_probabilities"]
            assert not ended.is_set()
        assert ended.wait(20)


def test_costs_follow_the_method_and_the_length() -> None:
    class Served:
        name, reads, can = "toy", "text", ("answer",)

    def cost(**fields: Any) -> float:
        assert WHY.costs is not None
        (found,) = WHY.costs(Question(Served(), WhyBody(**fields), Limits()))  # type: ignore[arg-type]
        return found

    assert cost(input="a" * 39, method="gradient") == 3 * 40
    assert cost(input="a" * 39, method="occlusion") == pytest.approx(40 * (1 + 10.75))
    assert cost(input="a" * 39) == 150 * 40
    assert cost(input="a" * 39, trust=True) > cost(input="a" * 39)
    assert cost(input="a" * 39, method="all") > sum(cost(input="a" * 39, method=name) for name in ("flow", "occlusion"))


# Nearest training examples


def test_examples_are_those_of_python(others: httpx.Client, toys: dict[str, tuple[Path, str]]) -> None:
    folder, item = toys["encoder"]
    report = why(others, path="/v1/examples", model=folder.name, text=item, examples=3)
    expected = regard.load(folder).look_examples(item, 3, from_lines=50).numbers()
    (place,), (own,) = expected["places"], report["places"]
    assert [each["text"] for each in own["examples"]] == [each["text"] for each in place["examples"]]
    assert own["examples"][0]["closeness"] == pytest.approx(place["examples"][0]["cosine"], abs=1e-5)
    assert [report[name] for name in ("states", "texts")] == [expected[name] for name in ("states", "texts")]


def test_examples_of_a_translator_follow_its_tokens(asked: httpx.Client) -> None:
    report = why(asked, path="/v1/examples", text=TEXT, output="Eu amo", examples=2, at=1)
    (place,) = report["places"]
    assert place["name"] == "amo"
    assert len(place["examples"]) == 2
    assert all(example["text"] for example in place["examples"])


def test_training_data_is_shown_only_where_the_operator_allows_it(
    client: httpx.Client, asked: httpx.Client, others: httpx.Client, toys: dict[str, tuple[Path, str]]
) -> None:
    message = why(client, 400, path="/v1/examples", text=TEXT)["error"]
    assert message == "This server shows no training texts; its operator can allow it with --set limits.examples=5000."
    assert why(asked, 400, path="/v1/examples", text=TEXT, from_lines=51)["error"] == (
        "'from_lines' is 51, but the limit here is 50."
    )
    folder, item = toys["gpt"]
    texts = [path for path in folder.parent.iterdir() if path.is_file()]
    contents = {path: path.read_bytes() for path in texts}
    for path in texts:
        path.unlink()
    try:
        gone = why(others, 400, path="/v1/examples", model="gpt", text=item)["error"]
    finally:
        for path, content in contents.items():
            path.write_bytes(content)
    assert gone == "The training data of the model gpt is not on this server."
