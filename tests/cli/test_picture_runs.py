"""Glimpses through the command line: train, evaluate, answer and look at picture files, and what is refused."""

import json
from pathlib import Path

import numpy as np
import pytest
import tomli_w
from picture_files import flags, write_set
from PIL import Image
from small import undrawn

from regard.cli import main

WHITE, BLACK = (np.pad(np.full((8, 4), level, np.uint8), ((0, 0), (12, 0))) for level in (255, 0))


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a model that tells flags apart by looking at their right end, with picture files next to it."""
    folder = tmp_path_factory.mktemp("pictures")
    for name, picture in {"white": WHITE, "black": BLACK, "small": WHITE[:, 8:]}.items():
        Image.fromarray(picture).save(folder / f"{name}.png")
    (folder / "text.png").write_text("no picture")
    recipe = {
        "family": "ram",
        "data": {"train": write_set(folder, *flags(60)), "test": write_set(folder, *flags(60), name="test")},
        "model": {"glimpses": 2, "patch": 4, "glimpse_width": 16, "width": 16, "sigma": 0.4, "start": "centre"},
        "training": {
            "steps": 100,
            "validate_every": 50,
            "batch": 24,
            "samples": 4,
            "optimizer": {"learning_rate": 0.03, "schedule": "constant", "warmup": 0, "clip": 0},
        },
    }
    (folder / "recipe.toml").write_text(tomli_w.dumps(recipe), encoding="utf-8")
    with undrawn():
        assert main(["train", str(folder / "recipe.toml"), "--out", str(folder / "run")]) == 0
    return folder / "run"


def test_where_to_look_is_learnt(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", str(run), "--json"]) == 0
    scores = {score["metric"]: score["value"] for score in json.loads(capsys.readouterr().out)["scores"]}
    assert (scores["error"], scores["accuracy"]) == (0, 1)


def test_picture_files_are_answered_in_their_order(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["answer", str(run), *(str(run.parent / f"{name}.png") for name in ("white", "black", "white"))]) == 0
    assert capsys.readouterr().out == "1\n0\n1\n"


def test_the_path_of_glimpses_is_told(run: Path, tmp_path: Path) -> None:
    assert main(["look", str(run), str(run.parent / "white.png"), "-o", str(tmp_path / "path.json")]) == 0
    path = json.loads((tmp_path / "path.json").read_text(encoding="utf-8"))
    first, second = path["centres"]
    assert first == [8, 4]
    assert second[0] > 10  # to the right, where the answer is


def test_the_picture_itself_is_not_replaced(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    picture = tmp_path / "white.png"
    Image.fromarray(WHITE).save(picture)
    before = picture.read_bytes()
    assert main(["look", str(run), str(picture), "-o", str(picture), "--overwrite"]) == 2
    assert f"{picture} is an input too; write the output to another file." in capsys.readouterr().err
    assert picture.read_bytes() == before
    (tmp_path / "looks.png").touch()
    assert main(["look", str(run), "x" * 5000, "-o", str(tmp_path / "looks.png"), "--overwrite"]) == 2
    assert "is an input too" not in capsys.readouterr().err


def test_a_photo_of_another_size_is_made_like_the_training_pictures(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    photo = np.full((80, 160, 3), (40, 45, 50), np.uint8)  # a flag in colours, ten times as large
    photo[:, 120:] = (250, 240, 230)
    files = [tmp_path / f"photo{number}.png" for number in range(5)]
    for file in files:
        Image.fromarray(photo).save(file)
    assert main(["answer", str(run), *map(str, files)]) == 0
    message = capsys.readouterr()
    assert message.out == "1\n" * 5
    changes = "turned grey, scaled from 80 × 160 to 8 × 16 pixels. --as-is refuses it instead."
    assert f"{files[0]} is adapted to the training pictures: {changes}" in message.err
    assert str(files[3]) not in message.err
    assert "So were 2 more pictures." in message.err
    assert main(["look", str(run), str(files[0])]) == 0
    assert changes in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["answer", "RUN", "small.png", "--as-is"], "small.png has 8 × 8 pixels, expected 8 × 16 (height × width)."),
        (["answer", "RUN", "text.png"], "text.png is not in a picture format that can be read: PNG"),
        (["look", "RUN", "small.png", "--as-is"], "small.png has 8 × 8 pixels, expected 8 × 16"),
        (["translate", "RUN"], "A ram gives a class for each picture; use `regard answer`. It can train, evaluate"),
    ],
)
def test_what_cannot_be_asked_is_refused(
    run: Path, arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    named = {"RUN": str(run)} | {path.name: str(path) for path in run.parent.glob("*.png")}
    assert main([named.get(argument, argument) for argument in arguments]) == 2
    message = capsys.readouterr()
    assert words in message.err
    assert message.out == ""
