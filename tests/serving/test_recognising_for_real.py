"""Naming drawings, from a trained toy: the command, a captured pass, looking, and the server."""

import json
from pathlib import Path

import httpx2 as httpx
import pytest
import torch
from loopback import on_loopback
from stroke_files import rings, write_ring
from toys import open_toy, open_trained_toy

from regard.cli import main
from regard.commands.train import say_result
from regard.serving.app import make_app
from regard.training.passes import Passes


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return open_trained_toy("recognition", tmp_path_factory.mktemp("named")).folder.folder


@pytest.fixture
def drawing(tmp_path: Path) -> Path:
    return write_ring(tmp_path / "ring.json")


def test_a_captured_pass_gives_the_loss_of_a_batch(folder: Path) -> None:
    task = open_toy("recognition", folder.parent).task.eval()
    batch = next(iter(task.batches("train", 3, 0, 0)))
    passes = Passes(task, task, "float32")
    passes.replay(batch)
    assert passes.replay(batch).total.item() == pytest.approx(task.loss(batch).total.item(), rel=1e-5)


def test_the_command_answers_and_draws_what_was_looked_at(
    folder: Path, drawing: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    say_result(folder)
    assert f"try: regard answer {folder} drawing.json" in capsys.readouterr().err
    assert not main(["answer", str(folder), str(drawing), "--json"])
    assert set(json.loads(capsys.readouterr().out)["probabilities"]) == {"cross", "ring"}
    assert not main(["look", str(folder), str(drawing), "-o", str(tmp_path / "looks.json"), "--head", "2"])
    weights = torch.tensor(json.loads((tmp_path / "looks.json").read_text())["blocks"][0]["weights"])
    expected = torch.tensor([0.0, 1, 1, 1, 1, 1])  # after each of five moves; nothing is read where the pen is put down
    torch.testing.assert_close(weights.sum(dim=-1), expected.expand(2, 6))


def test_each_drawing_of_a_file_gets_an_answer(
    folder: Path, drawing: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert not main(["answer", str(folder), str(drawing), "--json"])
    alone = capsys.readouterr().out
    several = tmp_path / "several.jsonl"
    several.write_text(f"[[[0, 0], [4, 4]]]\n{drawing.read_text()}\n", encoding="utf-8")
    assert not main(["answer", str(folder), str(several), str(drawing), "--json"])
    _, second, third = capsys.readouterr().out.splitlines(keepends=True)
    assert json.loads(second)["probability"] == pytest.approx(json.loads(alone)["probability"])
    assert second == third
    several.write_text("[[[0, 0], [4, 4]]]\n[[[0, 0], [5000, 0]]]\n", encoding="utf-8")
    assert main(["answer", str(folder), str(several)]) == 2
    assert f"Drawing 2 of {several} reaches 5,000 units from its beginning" in capsys.readouterr().err


def test_the_server_answers_strokes(folder: Path) -> None:
    with on_loopback(make_app([folder])) as address, httpx.Client(base_url=address) as client:
        (about,) = client.get("/v1/models").json()["models"]
        assert (about["reads"], about["can"]) == ("drawing", ["answer", "look", "why"])
        reply = client.post("/v1/answer", json={"inputs": [{"drawing": rings(1)[0][:1]}]}).json()
        assert reply["answers"][0]["answer"] in ("cross", "ring")
        refused = client.post("/v1/answer", json={"inputs": [{"drawing": []}]})
        assert (refused.status_code, refused.json()["error"]) == (400, "The drawing, line 1: the drawing is empty.")
        refused = client.post("/v1/answer", json={"inputs": [{"drawing": [[[0, 0], [5000, 0]]]}]})
        assert refused.json()["error"].startswith("The drawing reaches 5,000 units from its beginning")
        seen = client.post("/v1/look", json={"input": {"drawing": rings(1)[0][:1]}}).json()
        assert seen["looks"]["title"].startswith("The drawing: ")
