"""Drawing pictures, from a trained toy to files: what is learnt from, the commands, Python and the server."""

import io
import json
from base64 import b64decode
from pathlib import Path

import httpx2 as httpx
import numpy as np
import pytest
import torch
from loopback import on_loopback
from PIL import Image
from toys import TOYS, open_toy, open_trained_toy

import regard
from regard.base.faults import Fault
from regard.cli import main
from regard.data.pictures.binary import binarise
from regard.data.pictures.options import Scene
from regard.data.pictures.scenes import make_scenes
from regard.families import check_recipe
from regard.model import Model
from regard.serving.app import make_app
from regard.training.passes import Passes


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return open_trained_toy("draw", tmp_path_factory.mktemp("draw")).folder.folder


@pytest.fixture(scope="module")
def model(folder: Path) -> Model:
    return regard.load(folder)


@pytest.fixture
def picture(tmp_path: Path) -> Path:
    path = tmp_path / "grey.png"
    Image.fromarray(np.full((17, 17), 200, np.uint8)).save(path)
    return path


def test_pixels_become_white_as_often_as_they_are_bright_and_once_for_all() -> None:
    grey = np.tile(np.array([0, 64, 255], np.uint8), (4000, 1, 1))
    result = binarise(grey, [1, 0])
    assert set(np.unique(result)) == {0, 255}
    shares = (result == 255).mean(axis=(0, 1))
    np.testing.assert_allclose(shares, [0, 64 / 255, 1], atol=0.02)
    np.testing.assert_array_equal(result, binarise(grey, [1, 0]))
    assert (result != binarise(grey, [2, 0])).any()


def test_two_pictures_on_a_scene_add_up_and_come_from_the_same_part_of_the_data() -> None:
    shades = np.array([10, 200, 77], np.uint8)[:, None, None] * np.ones((1, 2, 2), np.uint8)
    scene = Scene(side=3, pictures=2)
    result = make_scenes(shades, np.array([0, 1]), scene, (1,), among=np.array([0, 1]))
    for row, shade in enumerate((10, 200)):
        there = {int(value) for value in np.unique(result[row])}
        assert shade in there or shade + 10 in there or 255 in there
        assert there <= {0, 10, 20, 200, 210, 255}  # never the third, and 200 + 200 is white


def test_a_captured_pass_gives_the_loss_and_the_tallies_of_a_batch(folder: Path) -> None:
    task = open_toy("draw", folder.parent).task.eval()
    batch = next(iter(task.batches("train", 3, 0, 0)))
    passes = Passes(task, task, "float32")
    passes.replay(batch)
    torch.manual_seed(7)
    loss = passes.replay(batch)
    torch.manual_seed(7)
    expected = task.loss(batch)
    assert loss.total.item() == pytest.approx(expected.total.item(), rel=1e-5)
    parts = [loss.tallies[name].value for name in ("reconstruction", "divergence")]
    assert sum(parts) == pytest.approx(loss.total.item() / batch.rows, rel=1e-5)


def test_importance_samples_tighten_what_is_measured(folder: Path) -> None:
    task = open_toy("draw", folder.parent).task.eval()
    batch = next(iter(task.batches("valid", 3, 0, 0)))
    once = task.measure(batch)
    task.training_options = task.training_options.model_copy(update={"importance": 20})
    measures = task.measure(batch)
    often = measures["bound"]
    assert often.tally.value < once["bound"].tally.value
    # Each sample has its own noise: the mean over twenty draws differs from the first.
    assert measures["reconstruction"].tally.value != once["reconstruction"].tally.value
    assert often.signature == "nats a picture, of 20 importance samples"


def test_the_command_writes_pictures_an_animation_and_numbers(folder: Path, model: Model, tmp_path: Path) -> None:
    for name, more in {"d.png": ["--count", "4"], "frames.png": ["--frames", "2"], "d.gif": [], "d.json": []}.items():
        assert main(["draw", str(folder), "-o", str(tmp_path / name), "--seed", "5", *more]) == 0
    sizes = {}
    for name in ("d.png", "frames.png", "d.gif"):
        with Image.open(tmp_path / name) as sheet:
            sizes[name] = sheet.size, getattr(sheet, "n_frames", 1)
    side = 170  # 17 pixels, each ten times as large
    assert sizes == {
        "d.png": ((2 * side + 18, 2 * side + 18), 1),
        "frames.png": ((2 * side + 18, side + 12), 1),
        "d.gif": ((side + 12, side + 12), 2),
    }
    (drawing,) = json.loads((tmp_path / "d.json").read_text())["drawings"]
    (expected,) = model.draw(seed=5)
    np.testing.assert_allclose(drawing["picture"], expected.as_dict()["picture"])
    assert [set(window) for window in drawing["windows"]] == [{"across", "down", "side", "blur"}] * 2
    assert main(["draw", str(folder), "-o", str(tmp_path / "d.svg")]) == 2


def test_one_looks_at_the_reading_windows_on_a_picture_of_ones_own(
    folder: Path, model: Model, picture: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record = model.look(str(picture)).drawing.numbers()
    assert record["steps"] == ["step 1", "step 2"]
    for suffix in (".png", ".gif"):
        assert main(["look", str(folder), str(picture), "-o", str(picture.with_name(f"look{suffix}"))]) == 0
    assert "grey.png → " in capsys.readouterr().err
    with Image.open(picture.with_name("look.gif")) as film:
        assert film.format == "GIF"
    refusals = {"text.png": "is not in a picture format", "small.png": "has 1 × 1 pixels, expected 17 × 17"}
    picture.with_name("text.png").write_text("not a picture")
    Image.new("CMYK", (1, 1)).save(picture.with_name("small.png"), "JPEG")
    for name, sentence in refusals.items():
        assert main(["look", str(folder), str(picture.with_name(name)), "--as-is"]) == 2
        assert sentence in capsys.readouterr().err


def test_the_server_draws(folder: Path, model: Model) -> None:
    with on_loopback(make_app([folder])) as address, httpx.Client(base_url=address, timeout=60) as client:
        report = client.post("/v1/draw", json={"count": 2, "seed": 5}).json()
        refused = client.post("/v1/draw", json={"count": 65})
    first, second = report["drawings"]
    assert report["seed"] == 5
    assert first["drawing"] == model.draw(1, 5)[0].as_dict() != second["drawing"]
    with Image.open(io.BytesIO(b64decode(second["animation"]))) as film:
        assert film.n_frames == 2
    assert refused.status_code == 400
    assert "'count' is 65, but the limit here is 64." in refused.json()["error"]


def test_what_makes_no_sense_is_refused(tmp_path: Path) -> None:
    table = TOYS["draw"].table(tmp_path) | {"family": "draw"}
    for setting, sentence in {
        ("model", "read", 1): "model.read is 1, expected 2 or more",
        ("training", "precision", "bf16"): "training.precision",
        ("data", "binary_seed", -1): "data.binary_seed is -1",
    }.items():
        where, name, value = setting
        with pytest.raises(Fault, match=sentence):
            check_recipe(table | {where: table[where] | {name: value}})
    glimpses = TOYS["ram"].table(tmp_path) | {"family": "ram"}
    glimpses["data"]["scene"]["pictures"] = 2
    with pytest.raises(Fault, match=r"data\.scene\.pictures is for drawing; a classifier needs one picture per scene"):
        check_recipe(glimpses)
