"""/v1/embed: the same text vectors as in Python."""

from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest
from loopback import on_loopback

import regard
from regard.serving.app import make_app
from regard.serving.options import ServingOptions


def test_vectors_are_those_of_python(client: httpx.Client, forth: Path) -> None:
    texts = ["Ana reads books.", "", "the red house"]
    answer = client.post("/v1/embed", json={"text": texts, "layer": 1})
    assert answer.status_code == 200, answer.text
    assert answer.json()["model"] == "forth"
    for vectors, expected in zip(answer.json()["texts"], regard.load(forth).embed(texts, 1), strict=True):
        assert (vectors["tokens"], vectors["words"]) == (expected.text.tokens, expected.text.words)
        assert vectors["word_of_token"] == expected.text.places
        (layer,) = vectors["layers"]
        assert layer["layer"] == 1
        assert layer["sentence"] == pytest.approx(expected.sentence[1].tolist(), abs=1e-5)
        for one, other in zip(layer["tokens"], expected.layers[1].tolist(), strict=True):
            assert one == pytest.approx(other, abs=1e-5)


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ({"text": "Ana", "layer": 3}, "This model has layers 0 to 2; there is no layer 3."),
        ({"text": ["Ana", "Ana " * 80]}, "Text 2: it has 81 tokens, but the model takes 64 at most; split it."),
        ({"text": "Ana " * 80}, '"It has 81 tokens, but the model takes 64 at most; split it."'),
        ({"text": ["a"] * 21}, "exceeds batch text limit (20)"),
    ],
    ids=str,
)
def test_what_there_is_not_is_refused(client: httpx.Client, question: dict[str, Any], sentence: str) -> None:
    answer = client.post("/v1/embed", json=question)
    assert answer.status_code == 400
    assert sentence in answer.text


def test_an_answer_has_no_more_numbers_than_is_granted(back: Path) -> None:
    options = ServingOptions.model_validate({"limits": {"vectors": 90}})
    with on_loopback(make_app([back], options)) as address:
        responses = [httpx.post(f"{address}/v1/embed", json={"text": "a casa"} | more) for more in ({}, {"layer": 0})]
    assert [response.status_code for response in responses] == [400, 200]
    assert "The vectors have 96 numbers, but the limit here is 90. Ask for one 'layer'" in responses[0].json()["error"]


def test_what_has_too_many_numbers_is_not_worked_on_to_the_end(back: Path) -> None:
    """All of it used to be held in memory before the refusal."""
    options = ServingOptions.model_validate({"limits": {"vectors": 90}, "batching": {"rows": 1}})
    with on_loopback(make_app([back], options)) as address:
        response = httpx.post(f"{address}/v1/embed", json={"text": ["a casa"] * 10, "layer": 0})
    assert response.status_code == 400
    assert "The vectors of the first 3 texts have 96 numbers, but the limit here is 90." in response.json()["error"]
