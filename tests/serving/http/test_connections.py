"""Bare sockets: invalid HTTP is refused like any other error, and no connection is held for nothing."""

import json
import logging
import random
import re
import resource
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest
from loopback import WAIT, on_loopback

from regard.serving.app import make_app
from regard.serving.http.connections import connections_allowed
from regard.serving.http.guard import HEADERS
from regard.serving.options import ServingOptions


@contextmanager
def connected(address: str) -> Iterator[socket.socket]:
    host, port = address.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=WAIT) as connection:
        yield connection


def rest_of(connection: socket.socket) -> bytes:
    """Return everything until the server closes the connection."""
    return b"".join(iter(lambda: connection.recv(65536), b""))


def told(received: bytes) -> tuple[int, dict[str, str], bytes]:
    """Return the status, headers and body of an answer."""
    head, _, body = received.partition(b"\r\n\r\n")
    status, *lines = head.decode().split("\r\n")
    pairs = (line.partition(": ") for line in lines)
    return int(status.split()[1]), {name.lower(): value for name, _, value in pairs}, body


@pytest.mark.parametrize(
    "sent",
    [
        b"hello\r\n\r\n",
        b"GET /\x00 HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"<script> / HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",  # no host
        b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\n X: folded\r\nBad Header: x\r\n\r\n",
        b"POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
        b"POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\n",
        b"POST /translate HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    ],
)
def test_what_is_no_http_is_refused_like_anything_else(running: str, sent: bytes) -> None:
    with connected(running) as connection:
        connection.sendall(sent)
        status, headers, body = told(rest_of(connection))
    assert status == 400
    assert json.loads(body) == {"error": "This is not a valid HTTP request."}
    assert headers["content-type"] == "application/json"
    for name, value in HEADERS.items():
        assert headers[name.lower()] == value


def test_what_comes_behind_an_answer_and_is_no_http_is_refused(running: str) -> None:
    with connected(running) as connection:
        connection.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\nnonsense\r\n\r\n")
        first, _, second = rest_of(connection).partition(b'{"status":"ok"}')
    assert (told(first)[0], told(second)[0]) == (200, 400)


def test_a_body_that_breaks_after_its_answer_ends_the_connection(
    running: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR), connected(running) as connection:
        head = b"POST /translate_file HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
        connection.sendall(head)  # its answer does not wait for the body
        first = connection.recv(65536)
        connection.sendall(b"zz\r\n")
        rest = rest_of(connection)
    assert told(first + rest)[0] == 403
    assert caplog.records == []


@pytest.mark.parametrize("answered", [b"", b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"])
def test_who_never_ends_a_head_is_not_waited_for(
    running: str, monkeypatch: pytest.MonkeyPatch, answered: bytes
) -> None:
    monkeypatch.setattr("regard.serving.http.connections.HEAD_SECONDS", 0.1)
    with connected(running) as connection:
        connection.sendall(answered + b"GET /health HTTP/1.1\r\nX: ")
        assert rest_of(connection).count(b"HTTP/1.1") == (1 if answered else 0)


def test_who_ended_a_head_has_the_time_of_a_request(running: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("regard.serving.http.connections.HEAD_SECONDS", 0.05)
    with connected(running) as connection:
        head = b"POST /detect HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n"
        connection.sendall(head)
        assert connection.recv(100).startswith(b"HTTP/1.1 100")
        connection.settimeout(0.2)
        with pytest.raises(TimeoutError):  # nothing arrives, and it stays open
            connection.recv(1)
        connection.settimeout(WAIT)
        connection.sendall(b"q=Ana")
        assert told(connection.recv(65536))[0] == 200


@pytest.mark.parametrize("host", ["localhost", "evil.example"])
def test_a_body_whose_length_is_told_in_two_ways_ends_the_connection(running: str, host: str) -> None:
    """A proxy that believes the other length would take the second request for a body, or for someone else's."""
    with connected(running) as connection:
        head = f"POST /detect HTTP/1.1\r\nHost: {host}\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n"
        connection.sendall(head.encode() + b"0\r\n\r\nGET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        received = rest_of(connection)
    status, headers, body = told(received)
    assert (status, headers["connection"]) == (400, "close")
    assert json.loads(body) == {
        "error": "The request gives the length of its body twice; send Content-Length or Transfer-Encoding, not both."
    }
    assert received.count(b"HTTP/1.1") == 1


def test_who_sends_nothing_more_makes_room_for_others(forth: Path) -> None:
    """The connection that has waited longest is closed, whether idle or in the middle of a request."""
    remarks: list[str] = []
    app = make_app([forth], ServingOptions.model_validate({"limits": {"connections": 8}}), warn=remarks.append)
    with on_loopback(app) as address, ExitStack() as open_ones:
        sockets = [open_ones.enter_context(connected(address)) for _ in range(8)]
        for connection in sockets:
            connection.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
            received = b""
            while not received.endswith(b'{"status":"ok"}'):
                received += connection.recv(65536)
        for connection in sockets[:2]:
            connection.sendall(
                b"POST /detect HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n"
            )
            assert connection.recv(100).startswith(b"HTTP/1.1 100")
        for closed in (*sockets[2:], sockets[0], sockets[1]):  # the first two have since begun a request
            with connected(address) as another:
                another.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                assert closed.recv(1) == b""
                assert told(rest_of(another))[0] == 200
            open_ones.enter_context(connected(address))
    assert len(remarks) == 1


@pytest.mark.parametrize(
    ("limits", "wanted", "allowed", "raised"),
    [((1024, 4096), 1000, 1000, 2000), ((1024, 1024), 1000, 512, 1024), ((4096, 4096), 1000, 1000, 4096)],
)
def test_connections_have_half_of_the_files_and_the_limit_is_raised_for_them(
    monkeypatch: pytest.MonkeyPatch, limits: tuple[int, int], wanted: int, allowed: int, raised: int
) -> None:
    now = [limits]
    monkeypatch.setattr(resource, "getrlimit", lambda which: now[-1])
    monkeypatch.setattr(resource, "setrlimit", lambda which, limits: now.append(limits))
    assert connections_allowed(wanted) == allowed
    assert now[-1] == (raised, limits[1])


def hostile_bytes(seed: int) -> bytes:
    """Return the bytes of a request that is wrong in some way."""
    draw = random.Random(seed)
    path = draw.choice(
        ["/translate", "/detect", "/v1/translate", "/v1/beam", "/health", "/ready", "/%00", "/" + "a" * 9000]
    )
    kind = draw.choice(["application/json", "text/html", "multipart/form-data; boundary=x", "\xff", "a" * 5000, ""])
    body = draw.choice(
        [
            b"{" * 5000,
            b'{"text":' + b"[" * 50_000,
            b'{"text": "\\ud800", "beam": 1e400}',
            b'{"text": "a", "search": {"longest_ratio": 1e308}}',
            b"q=" + b"%f0%9f" * 500,
            draw.randbytes(200),
            b"",
        ]
    )
    length = draw.choice([len(body), len(body), len(body), len(body) + 7, 0, 10**18])
    more = draw.choice(
        [
            "",
            "X-Long: " + "y" * draw.choice([100, 70_000]) + "\r\n",
            "".join(f"X-{number}: z\r\n" for number in range(200)),
            "Expect: 200-maybe\r\n",
            "Transfer-Encoding: chunked\r\n",
            "Transfer-Encoding: gzip\r\n",
            "Upgrade: websocket\r\nConnection: Upgrade\r\n",
            "Range: bytes=0-\r\nIf-None-Match: *\r\n",
        ]
    )
    method = draw.choice(["POST", "POST", "GET", "PUT", "OPTIONS", "HEAD", "CONNECT"])
    head = (
        f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n{more}\r\n"
    )
    return head.encode("latin-1") + body


@pytest.mark.parametrize("first", range(0, 200, 50))
def test_hostile_requests_are_refused_and_the_server_lives(running: str, first: int) -> None:
    """No answer is an internal server error, whatever is sent and wherever it breaks off."""
    for seed in range(first, first + 50):
        with connected(running) as connection, suppress(ConnectionError):  # it may be closed before everything is sent
            connection.sendall(hostile_bytes(seed))
            connection.shutdown(socket.SHUT_WR)
            received = rest_of(connection)
            for status in re.findall(rb"HTTP/1\.1 (\d+)", received):
                assert int(status) < 500, seed
    with connected(running) as connection:
        connection.sendall(b"GET /ready HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        assert told(rest_of(connection))[0] == 200


def test_a_body_that_trickles_in_keeps_nobody_waiting(running: str) -> None:
    with ExitStack() as slow:
        for _ in range(20):
            connection = slow.enter_context(connected(running))
            connection.sendall(b"POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\nq=A")
        with connected(running) as quick:
            body = b"q=Ana"
            head = (
                f"POST /detect HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {len(body)}\r\n\r\n"
            )
            quick.sendall(head.encode() + body)
            assert told(rest_of(quick))[0] == 200
