"""Real connections: a third-party client, many clients at once, and clients that disconnect."""

import asyncio
import dataclasses
import json
import random
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest
from libretranslatepy import LibreTranslateAPI
from loopback import WAIT, on_loopback, until
from oracles import Parity
from toy import WORDS

import regard
from regard.serving.app import app_of, make_app
from regard.serving.options import ServingOptions
from regard.serving.queue.worker import Worker

# A third-party client


@pytest.fixture(scope="module")
def api(running: str) -> LibreTranslateAPI:
    return LibreTranslateAPI(f"{running}/")


def test_their_client_translates(api: LibreTranslateAPI, forth: Path) -> None:
    (expected,) = regard.load(forth).translate(["I love books."])
    assert api.translate("I love books.", "en", "pt") == expected.text


def test_their_client_detects(api: LibreTranslateAPI) -> None:
    languages = api.detect("Os meninos leem os livros novos em casa.")
    assert languages[0]["language"] == "pt"
    assert 0 < languages[0]["confidence"] <= 100


def test_their_client_lists_languages(api: LibreTranslateAPI) -> None:
    assert api.languages() == [
        {"code": "en", "name": "English", "targets": ["en", "pt"]},
        {"code": "pt", "name": "Portuguese", "targets": ["pt", "en"]},
    ]


# Many at once


def test_no_answer_is_lost_or_swapped_among_many_clients(running: str, forth: Path) -> None:
    draw = random.Random(7)
    words = [word for word in WORDS if word.isalnum()]
    texts = [" ".join(draw.choices(words, k=draw.randint(1, 9))) for _ in range(120)]
    expected = {
        text: translation.text for text, translation in zip(texts, regard.load(forth).translate(texts), strict=True)
    }
    assert len(set(expected.values())) > 60  # a swapped answer would be seen

    async def client(http: httpx.AsyncClient, own: list[str]) -> None:
        for text in own:
            if draw.random() < 0.5:
                answer = await http.post("/translate", data={"q": text, "source": "en", "target": "pt"})
                assert answer.json() == {"translatedText": expected[text]}
            else:
                batch = [text, draw.choice(texts)]
                answer = await http.post("/v1/translate", json={"text": batch, "model": "forth"})
                assert [translation["text"] for translation in answer.json()["translations"]] == [
                    expected[text] for text in batch
                ]

    async def main() -> None:
        async with httpx.AsyncClient(base_url=running, timeout=WAIT) as http:
            await asyncio.gather(*(client(http, texts[first::24]) for first in range(24)))

    asyncio.run(main())


# Clients that disconnect


class Slow:
    """Model with a set time per batch."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.begun, self.open = threading.Event(), threading.Event()
        self.batches: list[list[str]] = []
        original = regard.serving.served.ServedTranslator.run

        def run(model: Any, plan: Any, pieces: Any) -> Any:
            self.batches.append([piece.text for piece in pieces])
            self.begun.set()
            assert self.open.wait(WAIT)
            return original(model, plan, pieces)

        monkeypatch.setattr("regard.serving.served.ServedTranslator.run", run)


@contextmanager
def slow_server(folder: Path, **limits: Any) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    notes: list[dict[str, Any]] = []
    options = ServingOptions.model_validate({"limits": limits})
    with on_loopback(make_app([folder], options, note=notes.append)) as address:
        yield address, notes


def sent(address: str, path: str, body: str) -> socket.socket:
    """Send a request without reading its answer yet."""
    host, port = address.removeprefix("http://").split(":")
    connection = socket.create_connection((host, int(port)), timeout=WAIT)
    content = body.encode()
    lines = [f"POST {path} HTTP/1.1", f"Host: {host}", "Content-Type: application/json"]
    head = "\r\n".join([*lines, f"Content-Length: {len(content)}", "", ""])
    connection.sendall(head.encode() + content)
    return connection


@pytest.mark.parametrize("stream", ["false", "true"])
def test_who_goes_away_costs_nothing_more(forth: Path, monkeypatch: pytest.MonkeyPatch, stream: str) -> None:
    slow = Slow(monkeypatch)
    with slow_server(forth) as (address, notes):
        first = sent(address, "/v1/translate", '{"text": "Ana"}')
        assert slow.begun.wait(WAIT)
        second = sent(address, "/v1/translate", f'{{"text": "books", "stream": {stream}}}')
        worker = httpx.get(f"{address}/metrics").text
        until(lambda: 'regard_waiting{model="forth"} 1.0' in httpx.get(f"{address}/metrics").text)
        assert worker
        second.close()
        until(lambda: 'regard_waiting{model="forth"} 0.0' in httpx.get(f"{address}/metrics").text)
        slow.open.set()
        assert first.recv(12) == b"HTTP/1.1 200"
        first.close()
    assert slow.batches == [["Ana"]]
    assert 499 in [note["status"] for note in notes]


def test_a_search_that_nobody_waits_for_is_given_up(back: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steps, start, gone = [0], threading.Event(), threading.Event()
    original = regard.tasks.translation.task.Translation.step

    def step(task: Any, tokens: Any, state: Any) -> Any:
        steps[0] += 1
        start.set()
        assert gone.wait(WAIT)
        return original(task, tokens, state)

    with slow_server(back) as (address, notes):
        monkeypatch.setattr("regard.tasks.translation.task.Translation.step", step)
        connection = sent(address, "/v1/translate", '{"text": "Ana"}')
        assert start.wait(WAIT)
        connection.close()
        until(lambda: 499 in [note["status"] for note in notes])
        gone.set()
        until(lambda: httpx.get(f"{address}/health").status_code == 200)
    assert steps == [1]  # all others would have been in vain


def test_what_nobody_waits_for_ends_with_its_batch_whatever_the_model_is() -> None:
    """A model without torch and steps cannot be stopped within a batch, but begins no other."""
    gate, notes = threading.Event(), list[dict[str, Any]]()
    model = Parity(gate=gate)
    options = ServingOptions.model_validate({"batching": {"rows": 4}})
    with on_loopback(app_of([model], options, note=notes.append)) as address:
        connection = sent(address, "/v1/answer", json.dumps({"inputs": list(range(100))}))
        assert model.begun.wait(WAIT)
        connection.close()
        until(lambda: 499 in [note["status"] for note in notes])
        gate.set()
        assert httpx.post(f"{address}/v1/answer", json={"inputs": [7]}).json()["answers"][0]["answer"] == "odd"
    assert model.batches == [[0, 1, 2, 3], [7]]


def test_what_takes_too_long_is_given_up_and_told(forth: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = Slow(monkeypatch)
    with slow_server(forth, seconds=0.2) as (address, _):
        answer = httpx.post(f"{address}/translate", json={"q": "Ana", "source": "en", "target": "pt"}, timeout=WAIT)
        assert (answer.status_code, "took too long" in answer.json()["error"]) == (504, True)
        stream = httpx.post(f"{address}/v1/translate", json={"text": "Ana", "stream": True}, timeout=WAIT)
        assert '"status":504' in stream.text
        slow.open.set()


def test_who_speaks_too_slowly_is_not_waited_for(forth: Path) -> None:
    with slow_server(forth, seconds=0.2) as (address, _):
        host, port = address.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port)), timeout=WAIT) as connection:
            connection.sendall(f"POST /translate HTTP/1.1\r\nHost: {host}\r\nContent-Length: 9\r\n\r\nq=".encode())
            assert connection.recv(12) == b"HTTP/1.1 504"


def test_a_full_server_says_when_to_come_again(forth: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = Slow(monkeypatch)
    with slow_server(forth, waiting=1) as (address, _):
        first = sent(address, "/v1/translate", '{"text": "Ana"}')
        assert slow.begun.wait(WAIT)
        second = sent(address, "/v1/translate", '{"text": "books"}')
        until(lambda: 'regard_waiting{model="forth"} 1.0' in httpx.get(f"{address}/metrics").text)
        answer = httpx.post(f"{address}/v1/translate", json={"text": "red"}, timeout=WAIT)
        assert (answer.status_code, int(answer.headers["Retry-After"]) >= 1) == (503, True)
        assert httpx.get(f"{address}/health").status_code == 200  # others do not have to wait
        slow.open.set()
        for connection in (first, second):
            assert connection.recv(12) == b"HTTP/1.1 200"
            connection.close()


def test_stopping_finishes_what_was_accepted(forth: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = Slow(monkeypatch)
    with slow_server(forth) as (address, _):
        first = sent(address, "/v1/translate", '{"text": "Ana"}')
        assert slow.begun.wait(WAIT)
        second = sent(address, "/v1/translate", '{"text": ["books", "red house"]}')
        until(lambda: 'regard_waiting{model="forth"} 2.0' in httpx.get(f"{address}/metrics").text)
        threading.Timer(0.2, slow.open.set).start()
    for connection in (first, second):  # the server is gone
        assert connection.recv(12) == b"HTTP/1.1 200"
        connection.close()


# An engine that dies


@pytest.mark.parametrize("place", ["_work_on", "_work"])
def test_who_is_in_flight_when_an_engine_dies_is_told_at_once_and_the_next_is_served(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It dies in its own work, or outside it together with its thread."""
    healthy = getattr(Worker, place)

    def die_once(self: Worker, *given: Any) -> Any:
        monkeypatch.setattr(Worker, place, healthy)
        if place == "_work":
            raise SystemExit
        turn, items, order = given
        return healthy(self, turn, items, dataclasses.replace(order, work=fatal))

    def fatal(items: list[Any]) -> list[Any]:
        raise SystemExit

    monkeypatch.setattr(Worker, place, die_once)
    with on_loopback(app_of([Parity()])) as address, httpx.Client(base_url=address, timeout=WAIT) as client:
        lost = client.post("/v1/answer", json={"inputs": [3]})
        assert (lost.status_code, lost.headers["Retry-After"]) == (503, "1")
        assert "ask again" in lost.json()["error"]
        assert client.post("/v1/answer", json={"inputs": [3]}).json()["answers"][0]["answer"] == "odd"
        assert (client.get("/health").status_code, client.get("/ready").status_code) == (200, 200)
