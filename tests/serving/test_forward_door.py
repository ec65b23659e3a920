"""/v1/forward: the pass of `regard show forward`, with the numbers of the opened layers, and what it refuses."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest
from loopback import on_loopback
from toy import make_recurrent

import regard
from regard.seeing.lessons.forward import forward_pass
from regard.serving.app import make_app
from regard.serving.options import ServingOptions
from regard.viewing.forward import count_numbers, forward_data

sys.path.insert(0, str(Path(__file__).parents[1] / "seeing" / "lessons"))
from untrained import toy_folder

TEXTS = {"forth": "Ana sees the red house.", "gpt": "a b c", "bert": "a [MASK] b"}


@pytest.fixture(scope="module")
def folders(forth: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    place = tmp_path_factory.mktemp("followed")
    readers = {name: toy_folder(place / name).rename(place / f"{name}-run") for name in ("gpt", "bert")}
    return {"forth": forth, **readers, "luong": make_recurrent(place / "luong", "luong")}


@pytest.fixture(scope="module")
def followed(folders: dict[str, Path]) -> Iterator[httpx.Client]:
    options = ServingOptions.model_validate({"limits": {"characters": 600, "weights": 10_000}})
    app = make_app(list(folders.values()), options)
    with on_loopback(app) as address, httpx.Client(base_url=address, timeout=60) as client:
        yield client


def asked(client: httpx.Client, name: str, status: int = 200, **question: Any) -> dict[str, Any]:
    body = {"model": name if name in ("forth", "luong") else f"{name}-run", "text": TEXTS.get(name, "Ana"), **question}
    answer = client.post("/v1/forward", json=body)
    assert answer.status_code == status, answer.text
    return dict(answer.json())


@pytest.mark.parametrize("name", TEXTS)
def test_the_whole_pass_is_that_of_the_lesson(followed: httpx.Client, folders: dict[str, Path], name: str) -> None:
    report = asked(followed, name)
    expected = forward_pass(regard.load(folders[name]), TEXTS[name])
    data = forward_data(expected)
    assert (report["text"], report["output"]) == (TEXTS[name], expected.output)
    assert report["guesses"] == data["guesses"]
    assert report["layers"] == data["layers"]


def test_only_opened_layers_have_numbers(followed: httpx.Client) -> None:
    whole = asked(followed, "forth")["layers"]
    closed = asked(followed, "forth", opened=[])["layers"]
    assert [layer["norm"] for layer in closed] == [layer["norm"] for layer in whole]
    assert {(layer["values"], len(layer["inside"]), len(layer["rows"])) for layer in closed} == {(None, 0, 0)}
    some = asked(followed, "forth", opened=["3", "3.0", "4.1", "99"])["layers"]
    assert some[3]["values"] == whole[3]["values"]
    assert some[3]["inside"][0]["values"] == whole[3]["inside"][0]["values"]
    assert some[3]["inside"][1]["values"] is None
    assert some[4] == closed[4]  # what is open inside a closed layer is not sent


def test_a_translator_writes_what_is_given(followed: httpx.Client) -> None:
    by_text = asked(followed, "forth", output="Eu amo livros.")
    by_tokens = asked(followed, "forth", tokens=["Eu", "amo", "livros", "."])
    assert by_text["output"] == by_tokens["output"] == "Eu amo livros."
    assert by_text["layers"] == by_tokens["layers"]
    assert [guess["place"] for guess in by_text["guesses"]] == ["<s>", "Eu", "amo", "livros", "."]
    assert asked(followed, "forth", query=2, opened=["14"])["layers"][14]["query"] == 1


def test_a_model_that_cannot_is_refused_with_what_it_can(followed: httpx.Client) -> None:
    described = {model["name"]: model["can"] for model in followed.get("/v1/models").json()["models"]}
    assert [name for name, can in described.items() if "forward" in can] == ["forth", "gpt-run", "bert-run"]
    assert asked(followed, "luong", 400)["error"] == (
        "The model luong does not answer at /v1/forward: it gives a text for each text; use /v1/attention. It can "
        "translate, embed, attention, next, beam, why, examples."
    )
    assert "/v1/forward" in followed.get("/openapi.json").json()["paths"]


@pytest.mark.parametrize(
    ("name", "question", "sentence"),
    [
        ("forth", {"output": "Eu", "tokens": ["Eu"]}, "give one of the two"),
        ("forth", {"tokens": ["Eu", "</s>"]}, "An output's end is not one of its tokens; omit it."),
        ("forth", {"tokens": ["nonsense"]}, "'nonsense' is not a token of the model forth."),
        ("forth", {"text": " "}, "it is blank"),
        ("forth", {"query": 99}, "there is no token 99."),
        ("forth", {"opened": ["3."]}, "it is not the place of a layer, such as 3 or 3.0"),
        ("forth", {"text": "Ana " * 200}, "request (800) exceeds text limit (600)"),
        ("forth", {"text": "Ana " * 70}, "has 71 tokens, but the model takes 64 at most"),
        ("gpt", {"output": "b"}, "'output' is for translators; the model gpt-run only reads."),
        ("gpt", {"tokens": ["b"]}, "'tokens' is for translators; the model gpt-run only reads."),
        ("gpt", {"text": "a " * 40}, "The text has 41 tokens, but the model reads 12 at once; shorten it."),
        ("gpt", {"text": "a " * 80}, "The text has 81 tokens, but at most 64 can be shown; shorten it."),
        ("bert", {"text": "a " * 40}, "tokens, but this model reads"),
    ],
)
def test_what_cannot_be_followed_is_refused_in_words(
    followed: httpx.Client, name: str, question: dict[str, Any], sentence: str
) -> None:
    assert sentence in asked(followed, name, 400, **question)["error"]


def test_an_answer_that_would_be_too_large_is_refused(followed: httpx.Client, folders: dict[str, Path]) -> None:
    text = "Ana sees the red house and the new books of two dogs."
    count = count_numbers(forward_pass(regard.load(folders["forth"]), text).layers)
    sentence = f"These are {count:,} numbers, but the limit is 10,000; close some layers or shorten the text."
    assert asked(followed, "forth", 413, text=text)["error"] == sentence
    assert asked(followed, "forth", text=text, opened=["3"])["layers"][3]["values"]
