"""Access control, browser headers, and logs without any user text."""

import io
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send

from regard.serving.app import make_app
from regard.serving.http.guard import HEADERS, Guard, is_allowed_host, is_allowed_origin, write_line
from regard.serving.options import Access, ServingOptions
from regard.serving.queue.worker import Worker

SECRET = "Ana sees the red house"


@contextmanager
def server(folder: Path, notes: list[dict[str, Any]] | None = None, **options: Any) -> Iterator[TestClient]:
    access = {"hosts": ("testserver",), **options.pop("access", {})}
    serving = ServingOptions.model_validate({"access": access, **options})
    with TestClient(make_app([folder], serving, note=None if notes is None else notes.append)) as client:
        yield client


@pytest.mark.parametrize("path", ["/", "/health", "/nothing", "/page/..%2f..%2fapp.py", "/metrics", "/v1/models"])
def test_every_answer_is_sealed(client: httpx.Client, path: str) -> None:
    answer = client.get(path)
    for name, value in HEADERS.items():
        assert answer.headers[name] == value
    assert "access-control-allow-origin" not in answer.headers
    assert "server" not in answer.headers


def test_the_policy_lets_nothing_in() -> None:
    policy = dict(part.strip().partition(" ")[::2] for part in HEADERS["Content-Security-Policy"].split(";"))
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == "'self'"
    assert policy["trusted-types"] == policy["frame-ancestors"] == policy["base-uri"] == "'none'"


# Hosts and origins


@pytest.mark.parametrize(
    ("host", "is_so"),
    [
        ("localhost", True),
        ("localhost:5000", True),
        ("LOCALHOST.:80", True),
        ("127.0.0.1:5000", True),
        ("[::1]:5000", True),
        ("evil.example", False),
        ("localhost.evil.example", False),
        ("localhost@evil.example", False),
        ("10.0.0.7", False),
        ("", False),
        ("localhost:x", False),
        ("localhost/x", False),
    ],
)
def test_a_host_must_be_allowed(host: str, is_so: bool) -> None:
    assert is_allowed_host(host, Access()) == is_so


def test_beyond_loopback_bare_addresses_are_allowed_and_names_are_not() -> None:
    access = Access(any_address=True, hosts=("translate.example",))
    assert is_allowed_host("10.0.0.7:5000", access)
    assert is_allowed_host("translate.example", access)
    assert not is_allowed_host("evil.example", access)


def test_another_host_is_refused(client: httpx.Client) -> None:
    answer = client.get("/languages", headers={"Host": "evil.example"})
    assert answer.status_code == 421
    assert "does not answer to that host name" in answer.json()["error"]


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Origin": "own"}, 200),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "cors"}, 403),
        ({"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "cors"}, 200),
        ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}, 200),
    ],
)
def test_pages_of_other_sites_may_not_ask(client: httpx.Client, headers: dict[str, str], status: int) -> None:
    origin = str(client.base_url).rstrip("/")
    sent = {name: origin if value == "own" else value for name, value in headers.items()}
    assert client.get("/languages", headers=sent).status_code == status


def test_two_origins_are_none() -> None:
    headers = (b"host", b"localhost"), (b"origin", b"http://localhost")
    assert is_allowed_origin(Headers(raw=[*headers]), Access())
    assert not is_allowed_origin(Headers(raw=[*headers, (b"origin", b"http://evil.example")]), Access())


def test_a_site_can_be_allowed(forth: Path) -> None:
    with server(forth, access={"origins": ("https://good.example",)}) as client:
        answer = client.get("/languages", headers={"Origin": "https://good.example"})
        assert answer.headers["access-control-allow-origin"] == "https://good.example"
        assert "access-control-allow-credentials" not in answer.headers
        asking = {"Origin": "https://good.example", "Access-Control-Request-Method": "POST"}
        assert client.options("/translate", headers=asking).status_code == 200
        assert client.get("/languages", headers={"Origin": "https://evil.example"}).status_code == 403


# Keys and pace


def test_a_key_is_asked_for_where_there_is_one(forth: Path) -> None:
    body = {"q": SECRET, "source": "en", "target": "pt"}
    with server(forth, access={"key": "open sesame"}) as client:
        missing = client.post("/translate", json=body)
        assert (missing.status_code, "API key" in missing.json()["error"]) == (400, True)
        wrong = client.post("/translate", data={**body, "api_key": "open barley"})
        assert (wrong.status_code, wrong.json()["error"]) == (403, "Invalid API key")
        assert client.post("/translate", json={**body, "api_key": "open sesame"}).status_code == 200
        assert client.post("/translate", data={**body, "api_key": "open sesame"}).status_code == 200
        bearer = {"Authorization": "Bearer open sesame"}
        for path, question in (("/v1/translate", {"text": "Ana"}), ("/v1/beam", {"text": "Ana"})):
            assert client.post(path, json=question).status_code == 400
            assert client.post(path, json=question, headers=bearer).status_code == 200
        assert client.post("/detect", json={"q": "Ana"}).status_code == 400
        assert client.post("/detect", json={"q": "Ana", "api_key": 7}).status_code == 403
        settings = client.get("/frontend/settings").json()
        assert (settings["apiKeys"], settings["keyRequired"]) == (True, True)


def test_no_answer_and_no_line_of_the_log_has_a_key(forth: Path) -> None:
    key, notes = "open sesame", list[dict[str, Any]]()
    wrong = [{"api_key": 20261117}, {"api_key": ["open barley"]}, {"api_key": "open barley", "beem": 3}]
    accesses: tuple[dict[str, Any], ...] = ({}, {"key": key, "log_texts": True})
    for access in accesses:
        with server(forth, notes, access=access) as client:
            for header in wrong:
                answer = client.post("/v1/translate", json={"text": "Ana", **header})
                assert answer.status_code in (400, 403)
                assert not {"20261117", "barley", "sesame"} & set(re.findall(r"\w+", answer.text)), answer.text
            request = {"q": "Ana", "source": "en", "target": "pt", "api_key": key}
            assert client.post("/translate", params=request).status_code == 200
            assert client.get(f"/nowhere/{key}").status_code == 404
            for path in ("/metrics", "/openapi.json", "/frontend/settings", "/v1/models", "/health", "/languages"):
                assert "sesame" not in client.get(path).text, path
    assert len(notes) == 2 * (len(wrong) + 8)
    assert not {"20261117", "barley", "sesame"} & set(re.findall(r"\w+", json.dumps(notes)))


def test_a_key_may_have_any_letters(forth: Path) -> None:
    key = "chave-ключ-ß"
    with server(forth, access={"key": key}) as client:
        bearer = {b"Authorization": f"Bearer {key}".encode()}
        assert client.post("/v1/translate", json={"text": "Ana"}, headers=bearer).status_code == 200
        assert client.post("/v1/translate", json={"text": "Ana", "api_key": key}).status_code == 200
        wrong = {b"Authorization": b"Bearer \xff\xfe"}
        assert client.post("/v1/translate", json={"text": "Ana"}, headers=wrong).status_code == 403


def test_what_a_server_counts_is_for_those_who_know_the_key(forth: Path) -> None:
    with server(forth, access={"key": "open sesame"}) as client:
        assert client.get("/metrics").status_code == 400
        assert client.get("/metrics", headers={"Authorization": "Bearer open barley"}).status_code == 403
        assert client.get("/metrics", headers={"Authorization": "Bearer open sesame"}).status_code == 200
        for path in ("/", "/health", "/languages", "/frontend/settings", "/v1/models", "/openapi.json"):
            assert client.get(path).status_code == 200


def test_a_client_that_asks_too_often_is_slowed_down(forth: Path) -> None:
    with server(forth, limits={"requests": 3}) as client:
        statuses = [client.get("/languages").status_code for _ in range(4)]
        assert statuses == [200, 200, 200, 429]
        answer = client.get("/languages")
        assert answer.json()["error"].startswith("Slowdown:")
        assert 1 <= int(answer.headers["Retry-After"]) <= 60
        assert client.get("/health").status_code == 200
        counts = client.get("/metrics").text
        assert 'regard_requests_total{method="GET",path="/languages",status="429"} 2.0' in counts
        assert 'path="other"' not in counts


def test_a_model_whose_thread_is_gone_is_told_of_at_once(forth: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with server(forth) as client:
        assert client.get("/ready").json() == {"status": "ready"}
        monkeypatch.setattr(Worker, "is_alive", False)
        for answer in (client.get("/health"), client.get("/ready"), client.post("/v1/translate", json={"text": "Ana"})):
            assert answer.status_code == 503
            assert "must be started again" in answer.json()["error"]


def test_while_it_shuts_down_a_server_is_alive_and_not_ready(forth: Path) -> None:
    with server(forth) as client:
        assert isinstance(client.app, Guard)
        client.app.closing = True
        assert client.get("/health").json() == {"status": "ok"}
        for answer in (client.get("/ready"), client.get("/languages")):
            assert (answer.status_code, "shutting down" in answer.json()["error"]) == (503, True)


def test_a_body_that_is_too_large_is_not_read(client: httpx.Client) -> None:
    answer = client.post("/translate", content=b"q=" + b"a" * 200_000)
    assert (answer.status_code, "larger than 100,000 bytes" in answer.json()["error"]) == (413, True)
    chunks = (b"x" * 10_000 for _ in range(1000))  # without an announced length
    assert client.post("/v1/translate", content=chunks).status_code == 413


def test_a_body_of_another_kind_is_not_read(client: httpx.Client) -> None:
    for path in ("/translate", "/v1/translate"):
        answer = client.post(path, content="q=a", headers={"Content-Type": "text/xml"})
        assert answer.status_code == 415


# Notes


def test_the_log_has_counts_and_no_text(forth: Path) -> None:
    notes: list[dict[str, Any]] = []
    with server(forth, notes) as client:
        client.post("/translate", data={"q": SECRET, "source": "en", "target": "pt"})
        client.post("/v1/translate", json={"text": [SECRET, SECRET], "model": "forth"})
        client.post("/v1/translate", json={"text": SECRET, SECRET: 1})
        client.get(f"/page/{SECRET}")
        client.get(f"/{SECRET}", params={"q": SECRET})
        counts = client.get("/metrics").text
    assert [(note["path"], note["status"]) for note in notes[:5]] == [
        ("/translate", 200),
        ("/v1/translate", 200),
        ("/v1/translate", 400),
        ("/page/{name}", 404),
        ("other", 404),
    ]
    assert (notes[1]["texts"], notes[1]["characters"], notes[1]["sentences"]) == (2, 2 * len(SECRET), 2)
    assert SECRET not in json.dumps(notes)
    assert "Ana" not in counts
    assert all(set(note) >= {"time", "client", "method", "path", "status", "seconds", "bytes"} for note in notes)


def test_the_log_has_texts_where_that_was_asked_for(forth: Path) -> None:
    notes: list[dict[str, Any]] = []
    with server(forth, notes, access={"log_texts": True}) as client:
        client.post("/translate", data={"q": SECRET, "source": "en", "target": "pt"})
    assert notes[0]["q"] == [SECRET]


def test_a_log_that_nobody_reads_any_more_is_no_trouble(monkeypatch: pytest.MonkeyPatch) -> None:
    class Gone(io.StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError

    monkeypatch.setattr("sys.stderr", Gone())
    write_line({"status": 200})


def test_the_server_counts_what_it_does(forth: Path) -> None:
    with server(forth) as client:
        client.post("/translate", data={"q": f"{SECRET}. Ana reads.", "source": "en", "target": "pt"})
        answer = client.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain")
    lines = answer.text.splitlines()
    assert 'regard_requests_total{method="POST",path="/translate",status="200"} 1.0' in lines
    assert 'regard_sentences_total{model="forth"} 2.0' in lines
    assert 'regard_waiting{model="forth"} 0.0' in lines
    assert any(line.startswith("regard_resident_bytes ") and float(line.split()[1]) > 1e6 for line in lines)


def test_a_fault_of_our_own_is_told_without_its_text(forth: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    notes: list[dict[str, Any]] = []

    def broken(*_: object) -> None:
        raise ZeroDivisionError(SECRET)

    with server(forth, notes) as client:
        monkeypatch.setattr("regard.serving.libre.interface.languages", broken)
        answer = client.get("/languages")
    assert answer.status_code == 500
    assert answer.json() == {"error": "This is a fault of the server's own; its log says more."}
    assert (notes[0]["fault"], SECRET in json.dumps(notes)) == ("ZeroDivisionError", False)
    assert any("test_guard.py" in place for place in notes[0]["where"])


def test_an_answer_that_cannot_be_sent_is_told_without_its_text(forth: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    notes: list[dict[str, Any]] = []

    class Broken(Response):
        async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
            raise ZeroDivisionError(SECRET)

    with server(forth, notes) as client:
        monkeypatch.setattr("regard.serving.libre.doors.json_response", lambda _: Broken())
        answer = client.get("/languages")
    assert (answer.status_code, list(answer.json())) == (500, ["error"])
    assert answer.headers["content-security-policy"] == HEADERS["Content-Security-Policy"]
    assert (notes[0]["fault"], notes[0]["status"]) == ("ZeroDivisionError", 500)
    assert SECRET not in json.dumps(notes)


# Files


def test_files_of_the_page_have_their_kinds_and_tags(client: httpx.Client) -> None:
    page = client.get("/")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    again = client.get("/", headers={"If-None-Match": page.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize(
    "path",
    ["/page/../app.py", "/page/%2e%2e/app.py", "/page/..%2fapp.py", "/page//etc/passwd", "/page/", "/page/nothing.js",
     "/../../etc/passwd", "/page/%00", "/page/index.html/"],
)  # fmt: skip
def test_no_path_reaches_the_file_system(client: httpx.Client, path: str) -> None:
    assert client.get(path).status_code == 404
