"""Drawing strokes, from a trained toy to files: the command, what it refuses, looking, and the server."""

import json
from pathlib import Path

import httpx2 as httpx
import pytest
import torch
from loopback import on_loopback
from PIL import Image
from stroke_files import rings, write_ring
from toys import open_toy, open_trained_toy

import regard
from regard.base.faults import Fault
from regard.cli import main
from regard.commands.train import say_result
from regard.serving.app import make_app
from regard.training.passes import Passes


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return open_trained_toy("sketchformer", tmp_path_factory.mktemp("sketch")).folder.folder


@pytest.fixture
def drawing(tmp_path: Path) -> Path:
    return write_ring(tmp_path / "ring.json")


def test_training_ends_with_how_to_draw(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    say_result(folder)
    assert f"try: regard draw {folder} -o drawings.png" in capsys.readouterr().err


def test_a_captured_pass_gives_the_loss_of_a_batch(folder: Path) -> None:
    task = open_toy("sketchformer", folder.parent).task.eval()
    batch = next(iter(task.batches("train", 3, 0, 0)))
    passes = Passes(task, task, "float32")
    passes.replay(batch)
    loss, expected = passes.replay(batch), task.loss(batch)
    assert loss.total.item() == pytest.approx(expected.total.item(), rel=1e-5)
    assert loss.count == expected.count == int(batch.points.sum())


def test_the_command_writes_every_form_and_reads_its_own(folder: Path, drawing: Path, tmp_path: Path) -> None:
    for name in ("a.png", "a.gif", "a.svg", "a.json"):
        assert not main(["draw", str(folder), "-o", str(tmp_path / name), "--count", "3", "--temperature", "0.5"])
    with Image.open(tmp_path / "a.png") as sheet:
        assert sheet.size[0] > 400  # two drawings next to each other
    drawings = json.loads((tmp_path / "a.json").read_text())["drawings"]
    assert [sketch["begun"] for sketch in drawings] == [0, 0, 0]
    for path in (drawing, tmp_path / "a.json"):
        assert not main(
            ["draw", str(folder), "-o", str(tmp_path / "b.json"), "--reconstruct", str(path), "--overwrite"]
        )
    assert not main(["draw", str(folder), "-o", str(tmp_path / "c.json"), "--complete", str(drawing)])
    (on,) = json.loads((tmp_path / "c.json").read_text())["drawings"]
    assert on["begun"] == len(rings(1)[0][0])
    two = ["--between", str(drawing), str(drawing)]
    assert not main(["draw", str(folder), "-o", str(tmp_path / "d.json"), "--count", "2", *two])
    assert len(json.loads((tmp_path / "d.json").read_text())["drawings"]) == 2


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("no drawing", "line 1 is damaged: it is not JSON"),
        ("[]", "the drawing is empty"),
        (json.dumps([[[0, 0]] + [[k % 3, k] for k in range(300)]]), "moves; the most is 7"),
        (json.dumps([[[0, 0], [5000, 0]]]), "units from its beginning"),
    ],
)
def test_what_cannot_be_gone_on_with_is_refused(
    folder: Path, tmp_path: Path, content: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "bad.json").write_text(content, encoding="utf-8")
    assert main(["draw", str(folder), "-o", str(tmp_path / "a.png"), "--complete", str(tmp_path / "bad.json")]) == 2
    assert words in capsys.readouterr().err
    assert not (tmp_path / "a.png").exists()


def test_python_draws_as_the_command_does(folder: Path) -> None:
    model, ring = regard.load(folder), rings(1)[0][:1]
    one, same = (model.draw(seed=2, temperature=0.5, complete=ring)[0] for _ in range(2))
    assert one.as_dict() == same.as_dict()
    assert "svg" in one._repr_html_()
    with pytest.raises(Fault, match="'complete' and 'reconstruct' ask for different drawings"):
        model.draw(complete=ring, reconstruct=ring)
    with pytest.raises(Fault, match="This model reads no prompt"):
        model.draw(prompt="a sheep")


def test_looking_draws_the_strokes(folder: Path, drawing: Path, tmp_path: Path) -> None:
    assert not main(["look", str(folder), str(drawing), "-o", str(tmp_path / "looks.json"), "--head", "2"])
    report = json.loads((tmp_path / "looks.json").read_text())
    weights = torch.tensor(report["blocks"][0]["weights"])
    assert weights.shape[1:] == (5, 5)  # from where the pen is put down, and behind all moves but the last
    torch.testing.assert_close(weights.sum(dim=-1), torch.ones(2, 5))


def test_the_server_goes_on_with_strokes_and_shows_what_was_looked_at(folder: Path) -> None:
    ring = rings(1)[0][:1]
    with on_loopback(make_app([folder])) as address, httpx.Client(base_url=address) as client:
        (about,) = client.get("/v1/models").json()["models"]
        assert (about["reads"], about["can"]) == ("drawing", ["draw", "look"])
        assert about["extent"] > 10
        answer = client.post("/v1/draw", json={"complete": ring, "seed": 3})
        assert answer.json()["drawings"][0]["drawing"]["begun"] == 6
        looked = client.post("/v1/look", json={"input": {"drawing": ring}}).json()
        assert (looked["view"], len(looked["looks"]["points"])) == ("strokes", 6)  # the last point too
        refused = client.post("/v1/look", json={"input": "/etc/passwd"})
        assert refused.status_code == 400
        assert 'reads drawings, each as {"drawing": its strokes}' in refused.json()["error"]
        assert "the drawing is empty" in client.post("/v1/draw", json={"complete": []}).text
