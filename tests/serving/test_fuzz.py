"""The server answers any input in its own words, and survives."""

import json
from typing import Any

import httpx2 as httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from regard.base.doors import Door
from regard.serving.app import every_door

LOOKING = ("attention", "next", "beam", "forward", "why", "examples")
POSTS = ("/translate", "/detect", "/v1/translate", *(f"/v1/{view}" for view in LOOKING))
QUIET = settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))


def answered(client: httpx.Client, path: str, content: bytes, kind: str = "application/json") -> Any:
    """Return the answer, which is good or an error in one sentence."""
    answer = client.post(path, content=content, headers={"Content-Type": kind})
    assert answer.status_code in (200, 400, 413, 415), answer.text
    report = answer.json()
    if answer.status_code != 200:
        assert list(report) == ["error"]
        assert report["error"]
    assert client.get("/health").status_code == 200
    return report


def test_the_description_is_whole(client: httpx.Client) -> None:
    described = client.get("/openapi.json").json()
    assert set(POSTS) <= set(described["paths"])
    text = json.dumps(described)
    for reference in {part.split('"')[0] for part in text.split("#/components/schemas/")[1:]}:
        assert reference in described["components"]["schemas"]


@pytest.fixture(scope="module")
def described(running: str) -> Any:
    return schemathesis.openapi.from_url(f"{running}/openapi.json")


CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]


TRANSLATORS_CAN = (None, "translate", *LOOKING)
DESCRIBED = [door for door in every_door() if door.summary and door.can in TRANSLATORS_CAN]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("door", DESCRIBED, ids=lambda door: door.path)
@settings(parent=QUIET, max_examples=8)
@given(data=st.data())
def test_answers_are_as_described(described: Any, door: Door, data: st.DataObject) -> None:
    case = data.draw(described[door.path][door.method].as_strategy())
    case.validate_response(case.call(), checks=CHECKS)


MALFORMED = [
    b"",
    b"{",
    b"[]",
    b"null",
    b"3",
    b'"text"',
    b"{'q': 1}",
    b'{"q": NaN}',
    b'{"q": 1e999, "text": Infinity}',
    b"\xff\xfe{}",
    b'{"text": "\xc3"}',
    b'{"q": "a"' + b" " * 1000,
    b"[" * 20_000,
    b'{"text": ' * 5000,
    b'{"a": ' + b"9" * 5000 + b"}",
    b"\x00",
]


@pytest.mark.parametrize("path", POSTS)
def test_malformed_json_is_refused(client: httpx.Client, path: str) -> None:
    for content in MALFORMED:
        assert "error" in answered(client, path, content)


@pytest.mark.parametrize("path", ["/translate", "/detect"])
def test_malformed_forms_are_answered(client: httpx.Client, path: str) -> None:
    for content in (b"", b"&&&", b"q=%", b"q=%ff%fe", b"=&=", b"q" * 5000, b"a=1&" * 500, b"q=a;b&q=c", b"%00=%00"):
        assert "error" in answered(client, path, content, "application/x-www-form-urlencoded") or path == "/detect"


@pytest.mark.parametrize("path", ["/translate", "/detect"])
@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"q=%ff%fe&source=en&target=pt", "application/x-www-form-urlencoded"),
        (b"q=\xff\xfe&source=en&target=pt", "application/x-www-form-urlencoded"),
        (b'--b\r\nContent-Disposition: form-data; name="q"\r\n\r\n\xff\r\n--b--', "multipart/form-data; boundary=b"),
    ],
)
def test_a_form_that_is_not_utf_8_is_refused(client: httpx.Client, path: str, content: bytes, kind: str) -> None:
    assert answered(client, path, content, kind) == {"error": "Invalid request: the text is not valid UTF-8."}


@pytest.mark.parametrize("path", ["/translate", "/detect"])
@pytest.mark.parametrize("boundary", ["", "; boundary=", "; boundary=b"])
def test_malformed_forms_of_parts_are_refused(client: httpx.Client, path: str, boundary: str) -> None:
    named = b'--b\r\nContent-Disposition: form-data; name="q"'
    nested = named + b"\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\n\r\nx\r\n--c--\r\n--b--"
    file = named + b'; filename="q.txt"\r\n\r\nAna\r\n--b--'
    for content in (b"", b"--b", b"--b--", b"\xff\xfe", named, nested, file, (named + b"\r\n\r\n1\r\n") * 500):
        assert "error" in answered(client, path, content, f"multipart/form-data{boundary}")


@pytest.mark.parametrize(
    "text",
    [
        "\ud800",
        "Ana \udfff reads",
        "\x00\x01\x02\x1b[31m",
        "Ana\u202ereads\u2066",
        "\ufeffAna",
        "e\u0301" * 50,
        "🏳️‍🌈" * 20,
        "\u200b" * 100,
        "<script>alert(1)</script>",
        "ا" * 50,
        "a" * 2000,
        "\n" * 2000,
        ". " * 1000,
    ],
    ids=ascii,
)
def test_odd_texts_are_translated(client: httpx.Client, text: str) -> None:
    content = json.dumps({"q": text, "source": "en", "target": "pt"}).encode()
    assert "translatedText" in answered(client, "/translate", content)
    content = json.dumps({"q": text, "source": "auto", "target": "pt", "format": "html"}).encode()
    assert "translatedText" in answered(client, "/translate", content)
    assert "translations" in answered(client, "/v1/translate", json.dumps({"text": text, "model": "forth"}).encode())
    assert isinstance(answered(client, "/detect", json.dumps({"q": text}).encode()), list)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("view", ["attention", "next", "beam", "forward"])
@pytest.mark.parametrize("text", ["Ana \udfff\x00 reads", "\u200b", "<b>🙂", "a" * 2000], ids=ascii)
def test_odd_texts_are_looked_at(client: httpx.Client, view: str, text: str) -> None:
    answered(client, f"/v1/{view}", json.dumps({"text": text, "model": "forth"}).encode())


@pytest.mark.parametrize("text", ["Ana \udfff\x00 reads", "\u200b", "<b>🙂", "a" * 2000], ids=ascii)
def test_odd_texts_are_explained(client: httpx.Client, text: str) -> None:
    answered(client, "/v1/why", json.dumps({"input": text, "method": "occlusion", "model": "forth"}).encode())


def test_ten_thousand_empty_sentences(client: httpx.Client) -> None:
    for nothing in ("", " ", "\n", "."):
        texts = [nothing] * 10_000
        for path, name in (("/translate", "q"), ("/v1/translate", "text")):
            content = json.dumps({name: texts, "source": "en", "target": "pt"}).encode()
            assert "limit" in answered(client, path, content)["error"]
    report = answered(client, "/v1/translate", json.dumps({"text": "\n" * 2000, "model": "forth"}).encode())
    assert report["translations"][0]["text"].strip() == ""


def test_a_huge_body_is_refused(client: httpx.Client) -> None:
    assert "larger" in answered(client, "/translate", b'{"q": "' + b"a" * 10_000_000 + b'"}')["error"]


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
names = st.sampled_from(
    ["q", "source", "target", "format", "alternatives", "text", "model", "beam", "n_best", "search", "sample", "mbr",
     "prefix", "before", "required", "forbidden", "forced", "with", "stream", "sides", "layers", "at", "kept",
     "query", "opened"]
)  # fmt: skip


@QUIET
@given(path=st.sampled_from(POSTS), table=st.dictionaries(names, values, max_size=5))
def test_any_values_are_answered(client: httpx.Client, path: str, table: dict[str, Any]) -> None:
    content = json.dumps({"text": "Ana", "q": "Ana", "source": "en", "target": "pt", **table}).encode()
    answer = client.post(path, content=content, headers={"Content-Type": "application/json"})
    assert answer.status_code in (200, 400), answer.text


@QUIET
@given(path=st.sampled_from(POSTS), content=st.binary(max_size=60))
def test_any_bytes_are_answered(client: httpx.Client, path: str, content: bytes) -> None:
    assert client.post(path, content=content, headers={"Content-Type": "application/json"}).status_code == 400
