"""Distillation of language models: the text they write, students that read or count it, and the report."""

import json
import shutil
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from student_commands import FEW_STEPS, distil_teacher, said

import regard
from regard.base.faults import Fault
from regard.cli import main
from regard.data.demo.corpus import pairs
from regard.data.lines import read_lines
from regard.models.recurrent.language import RecurrentLanguage, RecurrentLanguageOptions
from regard.runs.distil import samples as writing
from regard.runs.distil.request import DistilRequest, open_teachers
from regard.runs.distil.subjects import check_request
from regard.tasks.language.streams import StreamBatch
from regard.tasks.language.teachers import LanguageTeachers
from regard.training.checkpoint import WEIGHTS, read_folder, read_recipe

pytestmark = pytest.mark.usefixtures("no_curves")


@pytest.fixture(autouse=True)
def small_amounts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Write short samples in small shards, and measure speeds once."""
    for name, value in {"samples.LENGTH": 24, "samples.SHARD": 4, "split_report.ROUNDS": 1}.items():
        monkeypatch.setattr(f"regard.runs.distil.{name}", value)
    monkeypatch.setattr("regard.runs.distil.language.WRITTEN", 4)


@pytest.fixture(scope="session")
def trained_gpt(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a small GPT next to its text."""
    folder = tmp_path_factory.mktemp("gpt")
    text = folder / "text.txt"
    text.write_text("".join(f"{english}\n" for english, _ in pairs("train", count=200)), encoding="utf-8")
    recipe = {
        "family": "gpt",
        "data": {"train": [str(text)], "hold_out": 0.1, "tokeniser": {"kind": "bytes"}},
        "model": {"preset": "tiny", "layers": 2, "width": 32, "heads": 2, "context": 16, "when_full": "forget"},
        "training": {"steps": 12, "batch": 4, "validate_every": 6, "save_every": 6, "optimizer": {"warmup": 2}},
    }
    regard.train(recipe, out=folder / "run", quiet=True)
    return folder / "run"


@pytest.fixture
def teacher(trained_gpt: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a copy of a trained GPT; its folder is current."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(trained_gpt, "teacher")
    return Path("teacher")


def test_ngrams_count_the_text_and_what_the_teacher_writes(teacher: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert distil_teacher("--student", "ngram", "--tokens", "240", "--json") == 0
    report = json.loads(capsys.readouterr().out)
    assert report == json.loads(Path("student/distilled.json").read_text())
    assert [row["name"] for row in report["rows"]] == ["teacher", "student"]
    assert all(set(row["scores"]) == {"loss", "perplexity"} for row in report["rows"])
    assert all(speed > 0 for row in report["rows"] for speed in row["speeds"].values())
    model = regard.load("teacher")
    found = {score.metric: score.value for score in regard.evaluate("teacher", split="test", quiet=True)}
    assert report["rows"][0]["scores"]["loss"] == pytest.approx(found["loss"])
    samples = list(read_lines(Path("student/teaching/samples.txt")))
    text = [line for line in read_lines(Path("student/teaching/train.txt")) if line]
    (first,) = model.generate([f"{text[0]}\n"], 24, past_end=True, sample={"temperature": 1.0})[0]
    *whole, cut = first.text.removeprefix(f"{text[0]}\n").split("\n")
    assert samples[: max(1, len(whole))] == (whole or [cut])
    recipe = read_recipe(Path("student"))
    assert recipe["family"] == "ngram"
    assert [Path(file["file"]).name for file in recipe["data"]["train"]] == ["train.txt", "samples.txt"]
    assert main(["generate", "student", "--prompt", "the", "--tokens", "3"]) == 0
    assert main(["distil", "student", "--report"]) == 0


def test_held_out_text_stays_held_out(teacher: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole = Path(read_recipe(teacher)["data"]["train"][0])
    assert distil_teacher("--student", "ngram", "--tokens", "0", "--text", str(whole)) == 0
    assert "left out, as they are validation or test text" in said(capsys)
    taught, *held_out = (set(read_lines(Path(f"student/teaching/{name}.txt"))) for name in ("train", "valid", "test"))
    assert not {line for lines in held_out for line in lines if len(line) >= 20} & taught
    assert sum(len(lines) for lines in held_out) > 20
    assert not Path("student/teaching/samples.txt").exists()


@pytest.mark.one_in(3)
@pytest.mark.usefixtures("unreported")
@pytest.mark.parametrize(
    ("student", "family", "cell"), [("base", "gpt", None), ("lstm", "rnnlm", "lstm"), ("gru", "rnnlm", "gru")]
)
def test_networks_learn_from_text_samples_and_distributions(
    student: str, family: str, cell: str | None, teacher: Path
) -> None:
    words = ["--student", student, "--tokens", "100", *FEW_STEPS]
    assert distil_teacher(*words, "--words", "0.5", "--temperature", "2") == 0
    recipe = read_recipe(Path("student"))
    assert (recipe["family"], recipe["model"].get("cell")) == (family, cell)
    assert recipe["training"]["teachers"] == [str(teacher.resolve())]
    assert len(recipe["training"]["teacher_checksums"]) == 1
    assert regard.load("student").parameters <= regard.load("teacher").parameters / 4
    taught = read_folder(Path("student"), [WEIGHTS])[WEIGHTS]
    shutil.rmtree("student")
    assert distil_teacher(*words) == 0
    assert read_folder(Path("student"), [WEIGHTS])[WEIGHTS] != taught


@pytest.mark.long
@pytest.mark.usefixtures("unreported")
def test_a_cut_distillation_continues_with_the_same_bits(
    teacher: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--student", "lstm", "--tokens", "300", "--words", "0.5", "--set", "training.final=last"]
    assert distil_teacher(*words, *FEW_STEPS) == 0
    whole = read_folder(Path("student"), [WEIGHTS])[WEIGHTS]
    samples = Path("student/teaching/samples.txt").read_bytes()
    shutil.rmtree("student")
    write, shards = writing._sampled_lines, iter(range(2))
    with monkeypatch.context() as patch:
        # A third shard is one too many.
        patch.setattr(writing, "_sampled_lines", lambda *given: (next(shards), write(*given))[1])
        assert distil_teacher(*words, *FEW_STEPS) != 0
    assert len(list(Path("student/teaching/samples").glob("*.txt"))) == 2
    assert distil_teacher(*words, *FEW_STEPS) == 2
    assert "give --resume to continue" in said(capsys)
    assert distil_teacher(*words, *FEW_STEPS, "--set", "training.steps=2", "--resume") == 0
    assert Path("student/teaching/samples.txt").read_bytes() == samples
    assert distil_teacher(*words, *FEW_STEPS, "--resume") == 0  # the teacher's memory was carried too
    assert read_folder(Path("student"), [WEIGHTS])[WEIGHTS] == whole


@pytest.mark.long
def test_several_teachers_write_in_turn(teacher: Path) -> None:
    shutil.copytree("teacher", "second")
    words = ["--student", "ngram", "--tokens", "200"]
    assert main(["distil", "teacher", "second", "-o", "both", *words]) == 0
    assert [row["name"] for row in json.loads(Path("both/distilled.json").read_text())["rows"]] == [
        "teacher 1", "teacher 2", "student",
    ]  # fmt: skip


def test_a_teacher_remembers_the_text_before_a_batch() -> None:
    torch.manual_seed(3)
    student, teacher = (
        RecurrentLanguage(RecurrentLanguageOptions(embedding=width, width=width), 7, never=(0,)).double().eval()
        for width in (4, 6)
    )
    tokens = torch.randint(1, 7, (2, 9))
    together = LanguageTeachers([teacher.requires_grad_(False)], 1.0, 2.0)
    memory, carry, losses = student.begin(2), None, []
    for first, last in ((0, 3), (3, 8)):
        batch = StreamBatch(tokens[:, first:last], tokens[:, first + 1 : last + 1])
        reading = student.read(batch.tokens, memory)
        loss, carry = together.loss(student, reading, batch, carry)
        memory = reading.memory
        losses.append(loss)
    states = [network.read(tokens[:, :8], network.begin(2)).states for network in (student, teacher)]
    p, q = (
        (network.logits(state)[..., 1:] / 2).log_softmax(-1)
        for network, state in zip((student, teacher), states, strict=True)
    )
    torch.testing.assert_close(sum(losses), 4 * F.kl_div(p, q, log_target=True, reduction="sum"))


REFUSED = [
    (["--text", "nothing.txt"], "There is no file nothing.txt."),
    (["--text", "empty.txt"], "has no text to teach"),
    (["--student", "ngram", "--words", "0.5"], "--words is for students that learn by gradient"),
    (["--temperature", "2"], "give its share of the loss with --words"),
    (["--beam", "2"], "--beam has no effect on students of language models"),
    (["--decoder", "gru"], "--decoder has no effect on students of language models"),
    (["--set", "model.width=64"], "a student must be smaller"),
    (["--student", "micro"], "no micro student fits into 5% of it"),
    (["--student", "lstm", "--set", "model.widht=8"], "did you mean 'width'?"),
]


@pytest.mark.parametrize(("options", "sentence"), REFUSED)
def test_refusals(options: list[str], sentence: str, teacher: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("empty.txt").write_text("\n \n")
    assert distil_teacher(*options) == 2
    assert sentence in said(capsys)
    assert not Path("student").exists()


def test_students_and_options_belong_to_tasks(teacher: Path, trained: Path) -> None:
    translators = open_teachers([trained])
    with pytest.raises(Fault, match="--student ngram is not for students of translators; choose one of base, tiny"):
        check_request(DistilRequest([trained], Path("student"), student="ngram"), translators)
    with pytest.raises(Fault, match="--tokens has no effect on students of translators"):
        check_request(DistilRequest([trained], Path("student"), tokens=10), translators)
    with pytest.raises(Fault, match="teachers need one task"):
        open_teachers([teacher, trained])


def test_a_recipe_may_not_name_a_teacher_of_another_task(
    teacher: Path, trained: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recipe = read_recipe(teacher)
    recipe["training"] |= {"teachers": [str(trained)], "teacher_weight": 0.5}
    with pytest.raises(Fault, match="a teacher here is a network for the task language"):
        regard.train(recipe, out="run", quiet=True)


def test_a_teacher_without_its_text_is_refused(teacher: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from regard.training.checkpoint import update_folder

    name = str(read_recipe(teacher)["data"]["train"][0])
    recipe = Path("teacher/recipe.toml").read_text().replace(name, "/nowhere/text.txt")
    update_folder(teacher, {"recipe.toml": recipe.encode()})
    assert distil_teacher("--student", "ngram") == 2
    assert "is gone: there is no /nowhere/text.txt" in said(capsys)


def test_python_distils_too(teacher: Path) -> None:
    student = regard.distil("teacher", out="student", student="ngram", tokens=50, quiet=True)
    assert student.generate(["the"], 3)
