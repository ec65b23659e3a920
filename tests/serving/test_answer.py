"""/v1/answer: an answer for each input of any kind, with models without torch."""

from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx2 as httpx
import pytest
from loopback import on_loopback
from oracles import Parity

from regard.serving.app import app_of
from regard.serving.options import ServingOptions
from regard.serving.served import Reads

LIMITS = ServingOptions.model_validate({"limits": {"texts": 5, "picture": 4, "characters": 20}})


@contextmanager
def served(reads: Reads) -> Iterator[httpx.Client]:
    with on_loopback(app_of([Parity(reads)], LIMITS)) as address, httpx.Client(base_url=address) as client:
        yield client


def picture(content: bytes) -> dict[str, str]:
    return {"picture": b64encode(content).decode()}


@pytest.mark.parametrize(
    ("reads", "inputs", "answers"),
    [
        ("nodes", [3, 4, "10"], ["odd", "even", "even"]),
        ("text", ["a", "", "ab"], ["odd", "even", "even"]),
        ("picture", [picture(b"12"), picture(b"123")], ["even", "odd"]),
    ],
)
def test_an_answer_for_each_input(reads: Reads, inputs: list[Any], answers: list[str]) -> None:
    with served(reads) as client:
        report = client.post("/v1/answer", json={"inputs": inputs}).json()
    assert report["model"] == "parity"
    assert [answer["answer"] for answer in report["answers"]] == answers
    assert report["answers"][0]["probability"] == report["answers"][0]["probabilities"][answers[0]] == 0.75


def test_a_tag_for_each_word() -> None:
    with served("tokens") as client:
        cut = client.post("/v1/answer", json={"inputs": ["to be or", ""]}).json()["answers"]
        (raw,) = client.post("/v1/answer", json={"inputs": ["ab"], "raw": True, "beam": 2}).json()["answers"]
    expected = {"words": ["to", "be", "or"], "answers": ["even"] * 3, "probabilities": [0.75] * 3}
    assert cut[0] == expected | {"probability": 0.75**3, "spans": [["words", 0, 3]]}
    assert cut[1]["answers"] == []
    assert (raw["words"], raw["answers"]) == (["a", "b"], ["odd", "odd"])


@pytest.mark.parametrize(
    ("reads", "question", "sentence"),
    [
        (
            "nodes",
            {"inputs": [picture(b"12")]},
            "The model parity reads numbers of nodes; the input is something else.",
        ),
        (
            "picture",
            {"inputs": [picture(b"12"), "/etc/passwd"]},
            'reads pictures, each as {"picture": "its file in base64"}; input 2 is something else.',
        ),
        ("text", {"inputs": ["a", 3]}, "The model parity reads texts; input 2 is something else."),
        ("tokens", {"inputs": ["a", 3]}, "The model parity reads sentences; input 2 is something else."),
        ("tokens", {"inputs": ["a"], "beam": 17}, "'beam' is 17, but the limit here is 16."),
        ("picture", {"inputs": [picture(b"12345")]}, "The picture has 5 bytes, but a picture here has at most 4."),
        (
            "picture",
            {"inputs": [picture(b"12"), picture(b"12345")]},
            "Input 2 has 5 bytes, but a picture here has at most 4.",
        ),
        ("picture", {"inputs": [{"picture": "no base64"}]}, "it is not in base64"),
        ("picture", {"inputs": [picture(b"")]}, "The picture is empty."),
        ("nodes", {"inputs": [1] * 6}, "exceeds batch text limit (5)"),
        ("text", {"inputs": ["a" * 21]}, "exceeds text limit (20)"),
        ("nodes", {"inputs": []}, "inputs is [], expected at least 1 of them"),
        ("nodes", {}, "the request needs 'inputs'"),
        ("nodes", {"inputs": [1], "model": "other"}, "There is no model 'other' here; there are parity."),
    ],
    ids=lambda value: str(value)[:40],
)
def test_what_cannot_be_answered_is_refused_in_words(reads: Reads, question: dict[str, Any], sentence: str) -> None:
    with served(reads) as client:
        answer = client.post("/v1/answer", json=question)
    assert answer.status_code == 400
    assert sentence in answer.json()["error"]


def test_it_is_described(client: httpx.Client) -> None:
    with served("nodes") as parity:
        paths = parity.get("/openapi.json").json()["paths"]
        (model,) = parity.get("/v1/models").json()["models"]
    assert "/v1/answer" in paths
    assert "/v1/translate" not in paths
    assert (model["reads"], model["can"]) == ("nodes", ["answer"])
    assert "/v1/answer" not in client.get("/openapi.json").json()["paths"]
