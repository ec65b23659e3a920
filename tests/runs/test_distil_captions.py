"""Distillation of captioners: the captions they write for training pictures, small students, and the report."""

import json
import shutil
from pathlib import Path

import pytest
from caption_files import write_captions
from student_commands import FEW_STEPS, distil_teacher, said

import regard
from regard.base.faults import Fault
from regard.cli import main
from regard.data.lines import read_lines
from regard.families import check_recipe
from regard.runs.distil import captioners
from regard.runs.distil.request import DistilRequest, Teacher, open_teachers
from regard.runs.distil.subjects import check_request
from regard.training.checkpoint import WEIGHTS, read_folder, read_recipe

pytestmark = pytest.mark.usefixtures("no_curves")


@pytest.fixture(autouse=True)
def small_amounts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Caption two pictures at once, in small shards, and measure speeds once."""
    monkeypatch.setattr("regard.runs.distil.split_report.ROUNDS", 1)
    monkeypatch.setattr(captioners, "ROWS", 2)
    monkeypatch.setattr(captioners, "SHARD", 1)


@pytest.fixture(scope="session")
def trained_captioner(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a small captioner of ready features."""
    folder = tmp_path_factory.mktemp("captioner")
    recipe = {
        "family": "captioner",
        "data": write_captions(folder),
        "model": {"embedding": 32, "width": 64, "compared": 32},
        "training": {"steps": 20, "batch": 8, "validate_every": 10, "save_every": 10, "optimizer": {"warmup": 2}},
        "decoding": {"beam": 2},
    }
    regard.train(recipe, out=folder / "run", quiet=True)
    return folder / "run"


@pytest.fixture
def teacher(trained_captioner: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a copy of a trained captioner; its folder is current."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(trained_captioner, "teacher")
    return Path("teacher")


def distilled(*words: str) -> int:
    return distil_teacher(*FEW_STEPS, *words)


def captions(path: str) -> list[tuple[str, str]]:
    """Return the pictures and captions of a file."""
    rows = (line.split("\t") for line in read_lines(Path(path)))
    return [(name.partition("#")[0], caption) for name, caption in rows]


def test_a_student_learns_the_teachers_captions(teacher: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert distilled("--json") == 0
    report = json.loads(capsys.readouterr().out)
    assert [row["name"] for row in report["rows"]] == ["teacher", "student"]
    found = {score.metric: score.value for score in regard.evaluate("teacher", split="test", quiet=True)}
    assert report["rows"][0]["scores"]["bleu"] == pytest.approx(found["bleu"])
    assert report["items"] == 2
    assert report["rows"][1]["parameters"] <= report["rows"][0]["parameters"] / 4
    written = captions("student/teaching/written.txt")
    assert [name for name, _ in written] == [f"train-{number}.jpg" for number in range(10)]
    before = captions(read_recipe(teacher)["data"]["captions"])
    assert set(written) != set(before)
    everything = captions("student/teaching/captions.txt")
    assert everything[:10] == written
    assert [name for name, _ in everything[10:]] == [name for name, _ in before if not name.startswith("train")]
    assert read_recipe(Path("student"))["data"]["features"] == read_recipe(teacher)["data"]["features"]


def test_several_captions_of_a_picture_or_those_of_people(teacher: Path) -> None:
    assert distilled("--targets", "n-best", "--n", "3") == 0
    assert len(set(captions("student/teaching/written.txt"))) == 30
    shutil.rmtree("student")
    assert distilled("--targets", "reference") == 0
    assert read_recipe(Path("student"))["data"] == read_recipe(teacher)["data"]


@pytest.mark.long
def test_a_cut_distillation_continues(
    teacher: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert distilled() == 0
    whole = read_folder(Path("student"), [WEIGHTS])[WEIGHTS]
    shutil.rmtree("student")
    search, batches = captioners.search_captions, iter(range(2))
    with monkeypatch.context() as patch:
        # A third batch is one too many.
        patch.setattr(captioners, "search_captions", lambda *given: (next(batches), search(*given))[1])
        assert distilled() != 0
    assert len(list(Path("student/teaching/written").glob("*.txt"))) == 2
    assert distilled() == 2
    assert "give --resume to continue" in said(capsys)
    assert distilled("--resume") == 0
    assert read_folder(Path("student"), [WEIGHTS])[WEIGHTS] == whole


REFUSED = [
    (["--text", "some.txt"], "--text has no effect on students of captioners"),
    (["--words", "0.5"], "--words has no effect on students of captioners"),
    (["--targets", "nearest"], "--targets nearest has no effect on students of captioners"),
    (["--student", "lstm"], "choose one of base, tiny, micro"),
    (["--student", "micro"], "no micro student fits into 5% of it"),
    (["--set", "model.width=256"], "a student must be smaller"),
]


@pytest.mark.parametrize(("options", "sentence"), REFUSED)
def test_refusals(options: list[str], sentence: str, teacher: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("some.txt").write_text("a circle\n")
    assert distilled(*options) == 2
    assert sentence in said(capsys)
    assert not Path("student").exists()


def test_captioners_teach_alone(teacher: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copytree("teacher", "second")
    assert main(["distil", "teacher", "second", "-o", "student"]) == 2
    assert "Captioners teach alone" in said(capsys)


def test_generated_pictures_have_no_captions_to_replace(teacher: Path) -> None:
    (own,) = open_teachers([teacher])
    table = own.recipe.model_dump(exclude_none=True)
    table["data"] = {"features": "own", "shapes": {}}
    shapes = Teacher(own.folder, check_recipe(table), own.files)
    with pytest.raises(Fault, match="learnt from generated shapes, whose captions cannot be replaced"):
        check_request(DistilRequest([teacher], Path("student")), [shapes])
