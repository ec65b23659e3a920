"""One flow behind every door: a made-up verb is read, bounded, numbered, streamed and written."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import httpx2 as httpx
import pytest
from loopback import on_loopback
from oracles import Oracle

from regard.base.doors import (
    EVENTS,
    Bound,
    DoorAnswer,
    ModelBody,
    Price,
    Question,
    Stream,
    Tell,
    VerbDoor,
    check_numbers,
    check_texts,
)
from regard.base.faults import TextFault
from regard.base.requests.fields import Texts
from regard.base.requests.rules import VerbRequest
from regard.serving.app import app_of
from regard.serving.options import ServingOptions


class ProphesyRequest(VerbRequest):
    """Questions for an oracle."""

    verb, items = "prophesy", "questions"

    questions: Texts
    beam: int = 1


class ProphesyBody(ProphesyRequest, ModelBody):
    """Questions for an oracle, and the oracle to ask."""

    stream: bool = False


class Riddle(DoorAnswer):
    text: str
    number: int


class RiddlesAnswer(DoorAnswer):
    model: str
    seconds: float
    riddles: list[Riddle]


class LastRiddle(DoorAnswer):
    model: str
    seconds: float
    riddles: Riddle


class LengthAnswer(DoorAnswer):
    model: str
    seconds: float
    letters: int


class Pythia(Oracle):
    """Returns every question in capitals, three at a time, and knows none with a digit."""

    def __init__(self) -> None:
        super().__init__("pythia", ["prophesy"])
        self.asked: list[tuple[int, list[str]]] = []

    def ask(self, request: VerbRequest, **more: Any) -> list[Any]:
        assert isinstance(request, ProphesyBody)
        self.asked.append((more["first"], request.questions))
        for number, question in enumerate(request.questions):
            if any(map(str.isdigit, question)):
                raise TextFault(number, "it has a digit.")
        return [question.upper() for question in request.questions]


def check(question: Question[ProphesyBody]) -> ProphesyBody:
    check_numbers(question.body, ("beam",), question.limits)
    return ProphesyBody.model_validate(check_texts(question))


def aloud(question: Question[ProphesyBody], tell: Tell) -> str:
    (words,) = question.body.questions
    for number, letter in enumerate(words):
        tell("letter", Riddle(text=letter, number=number))
    return words.upper()


LISTED = VerbDoor(
    path="/v1/prophesy",
    can="prophesy",
    summary="A riddle for each question.",
    body=ProphesyBody,
    answer=RiddlesAnswer,
    other_kinds=(EVENTS,),
    texts="questions",
    ready=check,
    price=Price("letters", 1000, ordinary=250),
    costs=lambda question: [1.0 + len(question) for question in question.body.questions],
    work=lambda question: question.model.ask(question.body, first=question.first),
    write=lambda text: Riddle(text=text, number=len(text)),
    listed="riddles",
    bound=Bound("vectors", len, "The riddles{some} have {size} letters; the limit is {limit}."),
    stream=Stream(aloud, LastRiddle),
)
WHOLE = VerbDoor(
    path="/v1/measure",
    can="prophesy",
    summary="How many letters there are.",
    body=ProphesyBody,
    answer=LengthAnswer,
    texts="questions",
    price=Price("letters", 1000),
    costs=lambda question: [1.0],
    work=lambda question: {"letters": sum(map(len, question.body.questions))},
)


@contextmanager
def served(model: Oracle, monkeypatch: pytest.MonkeyPatch, **limits: Any) -> Iterator[httpx.Client]:
    monkeypatch.setattr("regard.serving.app.verb_doors", lambda: (LISTED, WHOLE))
    options = ServingOptions.model_validate({"limits": limits, "batching": {"rows": 3}})
    with on_loopback(app_of([model], options)) as address, httpx.Client(base_url=address) as client:
        yield client


def test_items_are_worked_on_some_at_a_time_and_answered_in_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    pythia, questions = Pythia(), [letter * (number + 1) for number, letter in enumerate("abcdefg")]
    with served(pythia, monkeypatch) as client:
        answer = client.post("/v1/prophesy", json={"questions": questions}).json()
    assert answer["riddles"] == [{"text": question.upper(), "number": len(question)} for question in questions]
    assert (answer["model"], list(answer)) == ("pythia", ["model", "seconds", "riddles"])
    assert len(pythia.asked) > 1
    assert all(questions[first : first + len(some)] == some for first, some in pythia.asked)


def test_a_body_without_items_is_worked_on_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    with served(Pythia(), monkeypatch) as client:
        answer = client.post("/v1/measure", json={"questions": ["ab", "c"], "stream": True}).json()
        described = client.get("/openapi.json").json()["paths"]
    assert {**answer, "seconds": 0} == {"model": "pythia", "seconds": 0, "letters": 3}
    assert {"/v1/prophesy", "/v1/measure"} < described.keys()


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ({"questions": ["a", "b", "c", "d", "e5"]}, "Text 5: it has a digit."),
        ({"questions": ["e5"]}, "It has a digit."),
        ({"questions": ["abc", "d"], "beam": 17}, "'beam' is 17, but the limit here is 16."),
        ({"questions": ["abcdefghijk"]}, "The riddles have 11 letters; the limit is 10."),
        ({"questions": ["a" * 21]}, "Invalid request: request (21) exceeds text limit (20)."),
        ({"questions": ["a"], "model": "sibyl"}, "There is no model 'sibyl' here; there are pythia."),
        (
            {"questions": ["a", "b"], "nonsense": 1},
            "Invalid request: the request has no 'nonsense'; it has model, api_key, questions, beam, stream.",
        ),
    ],
    ids=str,
)
def test_refusals_are_of_the_declaration(
    question: dict[str, Any], sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with served(Pythia(), monkeypatch, vectors=10, characters=20) as client:
        answer = client.post("/v1/prophesy", json=question)
    assert (answer.status_code, answer.json()) == (400, {"error": sentence})


def test_results_that_are_too_large_together_end_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    with served(Pythia(), monkeypatch, vectors=10) as client:
        answer = client.post("/v1/prophesy", json={"questions": ["abcd"] * 9})
    assert answer.json() == {"error": "The riddles of the first 3 riddles have 12 letters; the limit is 10."}


def test_a_stream_tells_events_from_inside_the_work_and_a_last_one(monkeypatch: pytest.MonkeyPatch) -> None:
    with served(Pythia(), monkeypatch) as client:
        answer = client.post("/v1/prophesy", json={"questions": "ab", "stream": True})
        accepted = client.post("/v1/prophesy", json={"questions": "ab"}, headers={"Accept": EVENTS})
    assert answer.headers["content-type"].startswith(EVENTS)
    events = [part.split("\n") for part in answer.text.strip().split("\n\n")]
    assert [name for name, _ in events] == ["event: letter", "event: letter", "event: done"]
    data = [json.loads(text.removeprefix("data: ")) for _, text in events]
    assert data[:2] == [{"text": "a", "number": 0}, {"text": "b", "number": 1}]
    assert data[2]["riddles"] == {"text": "AB", "number": 2}
    assert accepted.text.count("event: letter") == 2


def test_a_door_that_no_model_opens_says_what_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    silent = Oracle("delphi", ["be silent"])
    monkeypatch.setattr("regard.serving.app.verb_doors", lambda: (replace(LISTED, path="/v1/other"),))
    with on_loopback(app_of([silent])) as address:
        answer = httpx.post(f"{address}/v1/other", json={"questions": "a"})
    assert answer.status_code == 404
    assert "The model delphi does not answer at /v1/prophesy" in answer.json()["error"]
