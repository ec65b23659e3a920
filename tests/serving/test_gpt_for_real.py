"""A served decoder-only Transformer: texts that end with the context, streaming, and attention."""

from pathlib import Path

import httpx2 as httpx
import pytest
from loopback import on_loopback
from small import undrawn

from regard.families import check_recipe
from regard.runs.open import open_run
from regard.runs.train import train
from regard.serving.app import make_app


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("gpt")
    (place / "text.txt").write_text("the cat sat on the mat\nthe dog saw the cat\n" * 3, encoding="utf-8")
    table = {
        "family": "gpt",
        "data": {"train": str(place / "text.txt"), "valid": str(place / "text.txt")},
        "model": {"layers": 1, "width": 8, "heads": 2, "context": 8},
        "training": {"steps": 2, "batch": 2, "validate_every": 2, "save_every": 2, "device": "cpu"},
    }
    with undrawn():
        train(open_run(check_recipe(table), place / "run", False, lambda *done: None, lambda text: None), [])
    return place / "run"


def test_it_goes_on_streams_and_looks(folder: Path) -> None:
    request = {"prompt": "the cat", "tokens": 20, "past_end": True}
    with on_loopback(make_app([folder])) as address, httpx.Client(base_url=address, timeout=60) as client:
        whole = client.post("/v1/generate", json=request).json()
        streamed = client.post("/v1/generate", json=request | {"stream": True}).text
        forgetting = client.post("/v1/generate", json=request | {"when_full": "forget"}).json()
        looks = client.post("/v1/look", json={"input": "the cat sat"}).json()
        refused = client.post("/v1/generate", json={"prompt": "the " * 9})
        among_others = client.post("/v1/generate", json={"prompt": ["the"] * 40 + ["the " * 9], "tokens": 500})
    ((text,),) = whole["texts"]
    assert (text["ended"], text["forgotten"], len(text["tokens"])) == ("context", 0, 5)
    assert streamed.count("event: token") == 5
    assert '"ended":"context"' in streamed
    assert (forgetting["texts"][0][0]["ended"], forgetting["texts"][0][0]["forgotten"] > 0) == ("tokens", True)
    assert looks["view"] == "tinted"
    assert looks["looks"]["columns"] == ["</s>", "the", "cat", "sat"]
    assert refused.status_code == 400
    assert "The prompt has 9 tokens, but a context of 8 leaves room for 6" in refused.json()["error"]
    assert "Text 41: the prompt has 9 tokens" in among_others.json()["error"]
