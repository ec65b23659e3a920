"""A model that reads stories, served from its folder: an answer, what it forgot, its hops, and what it refuses."""

from pathlib import Path

import httpx2 as httpx
import pytest
from loopback import on_loopback
from small import undrawn
from story_files import write_stories

import regard
from regard.serving.app import make_app

STORY = "Ana went to the garden.\nRui went to the office.\nEva went to the kitchen.\nWhere is Rui?"


def test_a_story_is_told_and_asked_about(tmp_path: Path) -> None:
    table = {
        "family": "memory",
        "data": {"train": str(write_stories(tmp_path / "walks.txt", 12)), "facts": 2},
        "model": {"hops": 2, "width": 4},
        "training": {"steps": 1, "validate_every": 1, "device": "cpu"},
    }
    with undrawn():
        model = regard.train(table, out=tmp_path / "run", quiet=True)
    (expected,) = model.answer([STORY])
    with on_loopback(make_app([tmp_path / "run"])) as address, httpx.Client(base_url=address, timeout=60) as client:
        (answer,) = client.post("/v1/answer", json={"inputs": [STORY]}).json()["answers"]
        looks = client.post("/v1/look", json={"input": STORY}).json()
        wrong = client.post("/v1/answer", json={"inputs": ["Where is Rui?"]})
        (served,) = client.get("/v1/models").json()["models"]
    assert (answer["answer"], answer["forgotten"]) == (expected.answer, 1)
    assert answer["probabilities"] == pytest.approx(expected.probabilities, abs=1e-6)
    assert (looks["view"], looks["looks"]["forgotten"]) == ("facts", ["Ana went to the garden."])
    assert [sum(hop) for hop in looks["looks"]["hops"]] == pytest.approx([10_000] * 2, abs=2)
    assert wrong.status_code == 400
    assert "It has no facts" in wrong.json()["error"]
    assert (served["reads"], served["amount"]["unit"]) == ("story", "questions")
    assert served["examples"][0].endswith("?")
    assert "\n" in served["examples"][0]
