"""Drafts over the server: the same outputs, and folders that a client names are never opened."""

from collections.abc import Iterator
from pathlib import Path

import httpx2 as httpx
import pytest
import tomli_w
from loopback import on_loopback
from toy import PORTUGUESE

from regard.cli import main
from regard.serving.app import make_app

TEXT = "Ana sees the red house ."


@pytest.fixture(scope="module")
def folders(forth: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Return a translator, and n-grams and a small GPT over its tokens."""
    from small import undrawn

    place = tmp_path_factory.mktemp("drafts")
    (place / "text.pt").write_text(f"{PORTUGUESE}\nAna lê livros .\nAna vê os livros .\n" * 4, "utf-8")
    data = {"train": str(place / "text.pt"), "valid": str(place / "text.pt"), "tokeniser": {"from": str(forth)}}
    training = {"steps": 1, "batch": 2, "validate_every": 1, "optimizer": {"warmup": 1}}
    models = {
        "ngram": {"model": {"order": 2, "discount_fallback": True}},
        "gpt": {"model": {"layers": 1, "width": 8, "heads": 2, "context": 16}, "training": training},
    }
    for family, table in models.items():
        (place / f"{family}.toml").write_text(tomli_w.dumps({"family": family, "data": data} | table), "utf-8")
        with undrawn():
            assert main(["train", str(place / f"{family}.toml"), "--out", str(place / family)]) == 0
    return [forth, place / "ngram", place / "gpt"]


@pytest.fixture(scope="module")
def client(folders: list[Path]) -> Iterator[httpx.Client]:
    with on_loopback(make_app(folders)) as address, httpx.Client(base_url=address, timeout=60) as client:
        yield client


@pytest.mark.parametrize("draft", ["lookup", "source", "ngram"])
def test_a_draft_changes_no_translation(client: httpx.Client, draft: str) -> None:
    plain = client.post("/v1/translate", json={"text": TEXT, "beam": 1, "engine": "torch"}).json()
    found = client.post("/v1/translate", json={"text": TEXT, "draft": draft}).json()
    assert found["engine"] == "torch"
    assert found["translations"][0]["tokens"] == plain["translations"][0]["tokens"]


@pytest.mark.parametrize("draft", ["lookup", "ngram"])
def test_a_draft_changes_no_text_nor_its_stream(client: httpx.Client, draft: str) -> None:
    question = {"model": "gpt", "prompt": "Ana", "tokens": 8, "past_end": True, "sample": {"seed": 3}}
    plain = client.post("/v1/generate", json=question).json()["texts"][0][0]
    found = client.post("/v1/generate", json=question | {"draft": draft}).json()["texts"][0][0]
    assert found["tokens"] == plain["tokens"]
    stream = client.post("/v1/generate", json=question | {"draft": draft, "stream": True}).text
    assert stream.count("event: token") == len(plain["tokens"])


@pytest.mark.parametrize("draft", ["/etc", "nobody", ""])
def test_a_draft_that_is_not_served_is_refused(client: httpx.Client, draft: str) -> None:
    answer = client.post("/v1/translate", json={"text": TEXT, "draft": draft})
    assert answer.status_code == 400
    assert answer.json()["error"].startswith(f"There is no draft {draft!r} here; there are lookup, source, ")
    answer = client.post("/v1/generate", json={"model": "gpt", "draft": draft or "source"})
    assert answer.status_code == 400
    assert answer.json()["error"].startswith(f"There is no draft {draft or 'source'!r} here; there are lookup, ")
