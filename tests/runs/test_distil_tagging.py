"""Distillation of taggers: the tags they give to a text, small students, and the report."""

import json
import shutil
from pathlib import Path

import pytest
from student_commands import FEW_STEPS, distil_teacher, said
from tagged_files import write_tagged

import regard
from regard.cli import main
from regard.runs.distil import taggers
from regard.training.checkpoint import WEIGHTS, read_folder, read_recipe

pytestmark = pytest.mark.usefixtures("no_curves")


@pytest.fixture(autouse=True)
def small_amounts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tag in small shards, and measure speeds once."""
    monkeypatch.setattr("regard.runs.distil.split_report.ROUNDS", 1)
    monkeypatch.setattr(taggers, "SHARD", 20)


@pytest.fixture(scope="session")
def trained_tagger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a small tagger that also reads whether a word is short."""
    folder = tmp_path_factory.mktemp("tagger")
    files = [str(write_tagged(folder / f"{name}.txt", 120, seed)) for seed, name in enumerate(("train", "test"), 1)]
    recipe = {
        "family": "rnn",
        "task": "tagging",
        "data": {"train": files[:1], "test": files[1:], "columns": ["word", "size", "tag"], "scheme": "iob2"},
        "model": {"inputs": {"width": 32}, "width": 96, "layers": 2, "output": "crf"},
        "training": {"steps": 20, "batch_tokens": 128, "validate_every": 10, "save_every": 10, "best_by": "f1"},
    }
    regard.train(recipe, out=folder / "run", quiet=True)
    return folder / "run"


@pytest.fixture
def teacher(trained_tagger: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a copy of a trained tagger next to a text without tags, `new.txt`; the folder is current."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(trained_tagger, "teacher")
    rows = write_tagged(tmp_path / "columns.txt", 60, seed=3).read_text().split("\n\n")
    lines = (" ".join("_".join(word.split()[:2]) for word in row.split("\n") if word) for row in rows)
    Path("new.txt").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return Path("teacher")


def distilled(*words: str) -> int:
    return distil_teacher(*FEW_STEPS, *words)


def taught(split: str = "train") -> list[dict[str, list[str]]]:
    return [json.loads(line) for line in Path(f"student/teaching/{split}.jsonl").read_text().splitlines()]


def test_a_student_learns_the_teachers_tags(teacher: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert distilled("--text", "new.txt", "--json") == 0
    report = json.loads(capsys.readouterr().out)
    assert [row["name"] for row in report["rows"]] == ["teacher", "student"]
    found = {score.metric: score.value for score in regard.evaluate("teacher", split="test", quiet=True)}
    assert report["rows"][0]["scores"]["f1"] == pytest.approx(found["f1"])
    assert report["rows"][1]["parameters"] <= report["rows"][0]["parameters"] / 4
    assert report["items"] == sum(len(sentence["word"]) for sentence in taught("test"))
    lines = [line for line in Path("new.txt").read_text().splitlines() if line]
    answers = {tuple(answer.words): answer.answers for answer in regard.load("teacher").answer(lines)}
    assert len(taught()) > 40
    assert all(answers[tuple(sentence["word"])] == sentence["tag"] for sentence in taught())
    held_out = {tuple(sentence["word"]) for split in ("valid", "test") for sentence in taught(split)}
    assert not {tuple(sentence["word"]) for sentence in taught()} & held_out
    assert read_recipe(Path("student"))["model"]["output"] == "crf"
    assert main(["answer", "student", "--text", lines[0]]) == 0


def test_a_teacher_of_word_pieces_is_measured_by_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    files = [str(write_tagged(tmp_path / f"{name}.txt", 60, seed)) for seed, name in enumerate(("train", "test"), 1)]
    recipe = {
        "family": "bert",
        "task": "tagging",
        "data": {"train": files[:1], "test": files[1:], "columns": ["word", "-", "tag"], "scheme": "iob2"},
        "model": {"layers": 2, "width": 32, "heads": 2, "longest": 64, "letters": {"reader": "none"}},
        "training": {"steps": 4, "batch_tokens": 256, "validate_every": 4, "save_every": 2},
    }
    recipe["data"] |= {"tokeniser": {"kind": "wordpiece", "vocabulary": 60}}
    regard.train(recipe, out="teacher", quiet=True)
    assert distilled() == 0
    (report, _) = json.loads(Path("student/distilled.json").read_text())["rows"]
    found = {score.metric: score.value for score in regard.evaluate("teacher", split="test", quiet=True)}
    assert report["scores"]["f1"] == pytest.approx(found["f1"])


@pytest.mark.long
def test_without_a_text_the_training_sentences_are_taught(teacher: Path) -> None:
    assert distilled("--student", "base") == 0
    by_teacher = taught()
    shutil.rmtree("student")
    assert distilled("--targets", "reference") == 0
    assert [sentence["word"] for sentence in by_teacher] == [sentence["word"] for sentence in taught()]
    tags = {tag for sentence in taught() for tag in sentence["tag"]}
    assert tags == {"B-NP", "I-NP", "B-VP", "O"}


@pytest.mark.long
def test_a_cut_distillation_continues(
    teacher: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert distilled("--text", "new.txt") == 0
    whole = read_folder(Path("student"), [WEIGHTS])[WEIGHTS]
    shutil.rmtree("student")
    tag, shards = taggers._tagged, iter(range(1))
    with monkeypatch.context() as patch:
        patch.setattr(taggers, "_tagged", lambda *given: (next(shards), tag(*given))[1])  # a second shard is too many
        assert distilled("--text", "new.txt") != 0
    assert len(list(Path("student/teaching/train").glob("*.jsonl"))) == 1
    assert distilled("--text", "new.txt") == 2
    assert "give --resume to continue" in said(capsys)
    assert distilled("--text", "new.txt", "--resume") == 0
    assert read_folder(Path("student"), [WEIGHTS])[WEIGHTS] == whole


REFUSED = [
    (["--text", "nothing.txt"], "There is no file nothing.txt."),
    (["--text", "empty.txt"], "empty.txt has no sentence to teach"),
    (["--text", "bare.txt"], "bare.txt, line 1: This model also reads"),
    (["--words", "0.5"], "--words has no effect on students of taggers"),
    (["--targets", "n-best"], "--targets n-best has no effect on students of taggers"),
    (["--targets", "reference", "--text", "new.txt"], "omit --text"),
    (["--student", "ngram"], "choose one of base, tiny, micro"),
    (["--student", "micro"], "no micro student fits into 5% of it"),
    (["--set", "model.width=512"], "a student must be smaller"),
]


@pytest.mark.parametrize(("options", "sentence"), REFUSED)
def test_refusals(options: list[str], sentence: str, teacher: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("empty.txt").write_text("\n \n")
    Path("bare.txt").write_text("the dog\n")
    assert distilled(*options) == 2
    assert sentence in said(capsys)
    assert not Path("student").exists()


def test_taggers_teach_alone(teacher: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copytree("teacher", "second")
    assert main(["distil", "teacher", "second", "-o", "student"]) == 2
    assert "Taggers teach alone" in said(capsys)
