"""A served text classifier: its answers, its attention for each aspect, and refusals."""

from pathlib import Path

import httpx2 as httpx
import pytest
from loopback import on_loopback
from small import undrawn

import regard
from regard.families import check_recipe
from regard.runs.open import open_run
from regard.runs.train import train
from regard.serving.app import make_app
from regard.serving.options import ServingOptions

EXAMPLES = "".join(
    f"the $T$ was {word}\nfish\n1\nthe fish was {word} but the $T$ was slow\nservice\n-1\n"
    for word in ("good", "nice", "fresh", "tasty")
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a briefly trained aspect classifier."""
    place = tmp_path_factory.mktemp("aspects")
    (place / "texts.txt").write_text(EXAMPLES, encoding="utf-8")
    table = {
        "family": "rnn",
        "data": {"train": str(place / "texts.txt"), "format": "aspects", "hold_out": 0.25},
        "model": {"inputs": {"width": 4}, "width": 6, "aspect": "both"},
        "training": {"steps": 2, "validate_every": 2, "save_every": 2, "device": "cpu"},
    }
    with undrawn():
        train(open_run(check_recipe(table), place / "run", False, lambda *done: None, lambda text: None), [])
    return place / "run"


def test_a_fault_names_its_text_among_several_only(folder: Path) -> None:
    one_at_a_time = ServingOptions.model_validate({"batching": {"rows": 1}})
    with on_loopback(make_app([folder], one_at_a_time)) as address, httpx.Client(base_url=address) as client:
        among = client.post("/v1/answer", json={"inputs": ["the [fish] was good", "the fish"]}).json()["error"]
        alone = client.post("/v1/answer", json={"inputs": ["the fish"]}).json()["error"]
    assert among.startswith("Text 2: it has no aspect in brackets, expected one")
    assert alone.startswith("It has no aspect in brackets, expected one")


def test_texts_are_answered_and_aspects_looked_at_together(folder: Path) -> None:
    (expected,) = regard.load(folder).answer(["the [fish] was slow"])
    with on_loopback(make_app([folder])) as address, httpx.Client(base_url=address, timeout=60) as client:
        (answer,) = client.post("/v1/answer", json={"inputs": ["the [fish] was slow"]}).json()["answers"]
        looks = client.post("/v1/look", json={"input": "the [fish] or the [service]"}).json()
        wrong = client.post("/v1/answer", json={"inputs": ["the [fish] was good", "the fish"]})
        both = client.post("/v1/answer", json={"inputs": ["the [fish] or the [service]"], "unfold": True}).json()
        apart = client.post("/v1/answer", json={"inputs": both["inputs"]}).json()
        page = client.get("/page/views/tinted.js")
    assert answer["probabilities"] == pytest.approx(expected.probabilities, abs=1e-6)
    assert looks["view"] == "tinted"
    assert looks["looks"]["columns"] == ["the", "fish", "or", "the", "service"]
    assert [name.partition(":")[0] for name in looks["looks"]["rows"]] == ["fish", "service"]
    assert len(looks["looks"]["blocks"][0]["heads"][0]) == 10
    assert both["inputs"] == ["the [fish] or the service", "the fish or the [service]"]
    assert both["answers"] == apart["answers"]
    assert apart["inputs"] is None
    assert wrong.status_code == 400
    assert "Text 2: it has no aspect in brackets, expected one" in wrong.json()["error"]
    assert page.status_code == 200
