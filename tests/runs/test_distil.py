"""Distillation: what a student is taught, its sizes, its run and its report."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from small import write_corpus
from student_commands import distil_teacher, said, set_options

import regard
from regard.base.faults import Fault
from regard.base.progress import ignore_remark, silent
from regard.cli import main
from regard.data.demo.corpus import pairs
from regard.data.lines import read_lines
from regard.families import check_recipe
from regard.runs.distil.plan import FOLDER, begin_teaching
from regard.runs.distil.request import DistilRequest, count_parameters, open_teachers
from regard.runs.distil.sizes import SHARES
from regard.runs.distil.subjects import subject_of
from regard.runs.distil.teaching import Teaching, nearest, teach
from regard.runs.distil.translator_students import STUDENTS, student_data, student_recipe
from regard.training.checkpoint import WEIGHTS, bytes_to_weights, read_folder, read_recipe, update_folder

pytestmark = pytest.mark.usefixtures("no_curves")

SMALL = {
    "model.encoder_layers": 1,
    "model.decoder_layers": 1,
    "model.width": 8,
    "model.feed_forward": 16,
    "training.steps": 6,
    "training.validate_every": 6,
    "training.save_every": 2,
}
CHANGES = set_options(SMALL)


@pytest.fixture(autouse=True)
def quick_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Measure speeds with a few sentences."""
    for name in ("ALONE", "TOGETHER", "ROUNDS"):
        monkeypatch.setattr(f"regard.runs.distil.speed.{name}", 2)


@pytest.fixture
def teacher(trained: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a copy of a trained translator next to a text to teach, `new.en` with `new.pt`; the folder is current."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(trained, "teacher")
    for side, suffix in enumerate(("en", "pt")):
        lines = (f"{pair[side]}\n" for pair in pairs("train", count=360)[300:])
        Path(f"new.{suffix}").write_text("".join(lines), encoding="utf-8")
    return Path("teacher")


def distilled(*words: str) -> int:
    return distil_teacher("--workers", "1", *CHANGES, *words)


def taught(request: DistilRequest) -> list[tuple[str, str]]:
    """Return the pairs that a request teaches."""
    teachers = open_teachers(request.teachers)
    begin_teaching(request, teachers)
    teaching = Teaching(request.out / FOLDER)
    teach(request, teachers, teaching, silent, ignore_remark)
    return list(zip(*(list(read_lines(file)) for file in teaching.train), strict=True))


def test_a_student_is_an_ordinary_run_with_a_report(teacher: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert distilled("--text", "new.en", "--json") == 0
    report = json.loads(capsys.readouterr().out)
    assert report == json.loads(Path("student/distilled.json").read_text())
    assert [row["name"] for row in report["rows"]] == ["teacher", "student", "student, greedy"]
    parameters = {row["name"]: row["parameters"] for row in report["rows"]}
    assert parameters["student"] == regard.load("student").parameters < parameters["teacher"]
    assert 0 <= report["agreement"]["share"] <= 1
    assert all(set(row["scores"]) == {"bleu", "chrf"} for row in report["rows"])
    assert all(row["milliseconds"] > 0 for row in report["rows"])
    outputs = regard.load("teacher").translate(list(read_lines(Path("new.en"))))
    assert list(read_lines(Path("student/teaching/train.target"))) == [output.text for output in outputs if output.text]
    assert Path("student/tokeniser.model").read_bytes() == Path("teacher/tokeniser.model").read_bytes()
    assert main(["translate", "student", "--text", "the dog sleeps"]) == 0
    assert main(["evaluate", "student", "--split", "valid"]) == 0
    assert main(["distil", "student", "--report"]) == 0


def test_without_a_text_the_teachers_own_is_taught_but_nothing_held_out(teacher: Path) -> None:
    request = DistilRequest([teacher], Path("student"), targets="reference")
    (english, portuguese) = (list(read_lines(file)) for file in write_corpus(Path()))
    learnt = taught(request)
    valid = [list(read_lines(Path("student/teaching") / f"valid.{side}")) for side in ("source", "target")]
    assert set(learnt) <= set(zip(english, portuguese, strict=True))
    assert len(learnt) > 200
    assert valid[0]
    assert not {source for source, _ in learnt} & set(valid[0])
    assert not {target for _, target in learnt} & set(valid[1])
    assert set(zip(*valid, strict=True)) == set(json_pairs(teacher / "training/corpus/valid.json"))


def json_pairs(path: Path) -> list[tuple[str, str]]:
    return [(source, target) for source, target in json.loads(path.read_text())]


def test_the_n_best_are_all_taught(teacher: Path) -> None:
    best = dict(taught(DistilRequest([teacher], Path("one"), Path("new.en"), workers=1)))
    learnt = taught(DistilRequest([teacher], Path("three"), Path("new.en"), targets="n-best", n=3, workers=1))
    assert len(learnt) > 2 * len(best)
    assert {pair for pair in learnt if pair in best.items()} == set(best.items())


def test_the_nearest_to_the_reference_is_taught() -> None:
    rows = [
        ("a", "the red dog", ["the dog", "the red dog", "red"]),
        ("b", "x y", ["p q", "q p"]),
        ("c", "z", ["", " "]),
    ]
    assert nearest(rows, "chrf") == [("a", "the red dog"), ("b", "p q")]  # of equals the first, and nothing empty


def test_references_come_from_a_second_file_or_a_table(teacher: Path) -> None:
    lines = zip(*(read_lines(Path(f"new.{suffix}")) for suffix in ("en", "pt")), strict=True)
    expected = list(dict.fromkeys(lines))
    Path("new.tsv").write_text("".join(f"{source}\t{target}\n" for source, target in expected), encoding="utf-8")
    from_table = taught(DistilRequest([teacher], Path("a"), Path("new.tsv"), targets="reference"))
    from_files = taught(DistilRequest([teacher], Path("b"), Path("new.en"), Path("new.pt"), targets="reference"))
    assert from_table == expected == list(dict.fromkeys(from_files))
    near = taught(DistilRequest([teacher], Path("c"), Path("new.tsv"), targets="nearest", n=2, workers=1))
    outputs = taught(DistilRequest([teacher], Path("d"), Path("new.tsv"), targets="n-best", n=2, workers=1))
    assert set(near) <= set(outputs)


@pytest.mark.usefixtures("unreported")
def test_a_cut_distillation_continues(
    teacher: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert distilled("--text", "new.en") == 0
    whole = read_folder(Path("student"), [WEIGHTS])[WEIGHTS]
    shutil.rmtree("student")
    with monkeypatch.context() as patch:
        patch.setattr("regard.runs.distil.teaching.join", lambda *arguments: 1 / 0)
        assert distilled("--text", "new.en") != 0
    assert not Path("student/teaching/translations.txt").exists()
    assert distilled("--text", "new.en") == 2
    assert "give --resume to continue" in said(capsys)
    with monkeypatch.context() as patch:
        patch.setattr("regard.verbs.translate.bulk.finishing.ShardTranslator._translate", lambda *arguments: 1 / 0)
        assert distilled("--text", "new.en", "--resume") == 0  # every shard was done
    assert read_folder(Path("student"), [WEIGHTS])[WEIGHTS] == whole
    assert distilled("--text", "new.en", "--resume") == 0
    assert distilled("--text", "new.pt", "--resume") == 2


def test_a_teacher_that_writes_nothing_teaches_nothing(
    teacher: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def write_nothing(job: Any, shards: list[Any], out: Path, progress: Any) -> None:
        out.write_text("\n" * sum(shard.lines.count for shard in shards))

    monkeypatch.setattr("regard.runs.distil.teaching.join", write_nothing)
    assert distilled("--text", "new.en") == 2
    assert "All outputs of teacher are empty, so there is nothing to teach." in said(capsys)
    assert not Path("student/teaching/train.source").exists()


@pytest.mark.parametrize("student", STUDENTS)
def test_a_student_fills_its_share_of_the_teacher(student: str, trained: Path) -> None:
    (small,) = open_teachers([trained])
    table = small.recipe.model_dump(exclude_none=True)
    table["model"] |= {"width": 256, "feed_forward": 1024, "heads": 4, "encoder_layers": 6, "decoder_layers": 6}
    large = type(small)(small.folder, check_recipe(table), small.files)
    request = DistilRequest([trained], Path("student"), student=student)
    data = student_data(large, (Path("a"), Path("b")), None)
    model = student_recipe(request, [large], data)["model"]
    whole = count_parameters(large.recipe, large)
    share = SHARES[student]

    def size(**changes: int) -> int:
        recipe = check_recipe({"task": "translation", "data": data, "model": model | changes})
        return count_parameters(recipe, large)

    assert size() <= share * whole
    wider = model["width"] + 32
    assert size(width=wider, feed_forward=2 * wider, heads=wider // 32) > share * whole
    assert model["width"] == 32 * model["heads"]
    assert 2 <= model["feed_forward"] / model["width"] <= 4


@pytest.mark.usefixtures("unreported")
def test_word_level_distillation_learns_from_the_teachers_distribution(teacher: Path) -> None:
    assert distilled("--text", "new.en") == 0
    shutil.move("student", "plain")
    assert distilled("--text", "new.en", "--words", "0.5", "--temperature", "2") == 0
    recipe = read_recipe(Path("student"))["training"]
    assert recipe["teachers"] == [str(teacher.resolve())]
    assert (recipe["teacher_weight"], recipe["teacher_temperature"]) == (0.5, 2.0)
    assert len(recipe["teacher_checksums"]) == 1
    weights = [bytes_to_weights(read_folder(Path(name), [WEIGHTS])[WEIGHTS], name) for name in ("plain", "student")]
    assert weights[0].keys() == weights[1].keys()  # no teacher is saved
    assert any(not torch.equal(weights[0][name], weights[1][name]) for name in weights[0])
    zero = ["--set", f"training.teachers=['{teacher.resolve()}']", "--set", "training.teacher_weight=0.0"]
    shutil.rmtree("student")
    assert distilled("--text", "new.en", *zero) == 0
    same = bytes_to_weights(read_folder(Path("student"), [WEIGHTS])[WEIGHTS], "student")
    assert all(torch.equal(weights[0][name], same[name]) for name in same)


@pytest.mark.long
@pytest.mark.usefixtures("unreported")
def test_a_resumed_run_needs_the_same_teacher_and_ends_with_the_same_bits(
    teacher: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--text", "new.en", "--words", "0.5", "--set", "training.final=last"]
    assert distilled(*words) == 0
    whole = read_folder(Path("student"), [WEIGHTS])[WEIGHTS]
    shutil.rmtree("student")
    assert distilled(*words, "--set", "training.steps=4") == 0
    assert distilled(*words, "--resume") == 0
    assert read_folder(Path("student"), [WEIGHTS])[WEIGHTS] == whole
    weights = bytes_to_weights(read_folder(teacher, [WEIGHTS])[WEIGHTS], "teacher")
    changed = {name: tensor + 1 for name, tensor in weights.items()}
    from regard.training.checkpoint import weights_to_bytes

    update_folder(teacher, {WEIGHTS: weights_to_bytes(changed)})
    capsys.readouterr()
    assert main(["train", "--out", "student", "--resume", "--set", "training.steps=8"]) == 2
    assert "has changed since the run began" in said(capsys)


@pytest.mark.one_in(3)
@pytest.mark.usefixtures("unreported")
@pytest.mark.parametrize(
    ("options", "section", "name", "value"),
    [
        (["--decoder", "ssru"], "model", "decoder_cell", "ssru"),
        (["--int8"], "training", "quantise", "int8"),
        (["--seed", "7", "--set", "training.steps=2"], "training", "steps", 2),
    ],
)
def test_options_reach_the_recipe(options: list[str], section: str, name: str, value: object, teacher: Path) -> None:
    assert distilled("--text", "new.en", *options) == 0
    assert read_recipe(Path("student"))[section][name] == value
    assert regard.load("student").translate(["the dog sleeps"])


@pytest.mark.long
def test_two_teachers_teach_together(teacher: Path) -> None:
    shutil.copytree("teacher", "second")
    weights = bytes_to_weights(read_folder(teacher, [WEIGHTS])[WEIGHTS], "teacher")
    from regard.training.checkpoint import weights_to_bytes

    torch.manual_seed(1)
    changed = {name: tensor + 0.05 * torch.randn_like(tensor) for name, tensor in weights.items()}
    update_folder(Path("second"), {WEIGHTS: weights_to_bytes(changed)})
    request = DistilRequest([teacher, Path("second")], Path("student"), Path("new.en"), workers=1)
    both = regard.load("teacher").together([regard.load("second")])
    outputs = [" ".join(output.text.split()) for output in both.translate(list(read_lines(Path("new.en"))))]
    assert [" ".join(target.split()) for _, target in taught(request)] == [output for output in outputs if output]


REFUSED = [
    ([], "--text", "nothing.en", "There is no file nothing.en."),
    ([], "--text", "empty.en", "has no sentences"),
    ([], "--text", "new.pt", "seems to be in the language 'pt'"),
    (["--reference", "short.pt"], "--text", "new.en", "each line of one must be the translation"),
    (["--targets", "nearest"], "--text", "new.en", "--targets nearest needs references"),
    (["--n", "3"], "--text", "new.en", "--n is for --targets n-best and nearest"),
    (["--temperature", "2"], "--text", "new.en", "give its share of the loss with --words"),
    (["--set", "model.width=64"], "--text", "new.en", "a student must be smaller"),
    (["--set", "model.widht=64"], "--text", "new.en", "did you mean 'width'?"),
    (["--resume", "--overwrite"], "--text", "new.en", "give one of them"),
    (["--minutes", "0"], "--text", "new.en", "--minutes is 0, which leaves no time to train a student"),
    (["--minutes", "inf"], "--text", "new.en", "--minutes is inf, expected a number of minutes."),
    (["teacher"], "--text", "new.en", "The same teacher is named twice"),
]


@pytest.mark.parametrize(("options", "name", "text", "sentence"), REFUSED)
def test_refusals(
    options: list[str], name: str, text: str, sentence: str, teacher: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("empty.en").write_text("\n \n")
    Path("short.pt").write_text("uma linha\n")
    assert distilled(name, text, *options) == 2
    assert sentence in said(capsys)
    assert not Path("student").exists()


@pytest.mark.usefixtures("unreported")
def test_a_run_that_exists_is_not_replaced(teacher: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert distilled("--text", "new.en") == 0
    capsys.readouterr()
    assert distilled("--text", "new.en") == 2
    assert "already holds a run" in said(capsys)
    assert distilled("--text", "new.en", "--overwrite", "--seed", "2") == 0
    assert read_recipe(Path("student"))["seed"] == 2
    capsys.readouterr()
    assert main(["distil", "teacher", "-o", "teacher", "--overwrite"]) == 2
    assert "where its teacher is" in said(capsys)


def test_only_students_are_measured_again(teacher: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["distil", "teacher", "--report"]) == 2
    assert "is not a student of `regard distil`" in said(capsys)


def test_no_student_fits_into_a_teacher_of_embeddings(teacher: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["distil", "teacher", "-o", "student", "--student", "micro"]) == 2
    assert "no micro student fits into 5% of it" in said(capsys)


def test_teachers_must_translate_between_the_same_languages_with_the_same_tokens(teacher: Path, tmp_path: Path) -> None:
    shutil.copytree("teacher", "other")
    recipe = Path("other/recipe.toml").read_text().replace('target_language = "', 'target_language = "x')
    update_folder(Path("other"), {"recipe.toml": recipe.encode()})
    with pytest.raises(Fault, match="teachers need equal languages"):
        open_teachers([teacher, Path("other")])


@pytest.mark.long
def test_python_distils_too(teacher: Path) -> None:
    student = regard.distil("teacher", "new.en", out="student", settings=dict(SMALL), workers=1, quiet=True)
    assert student.translate(["the dog sleeps"])
    with pytest.raises(Fault, match="already holds a run"):
        regard.distil("teacher", "new.en", out="student", quiet=True)


def test_a_teacher_must_be_a_network_that_can_teach(tmp_path: Path) -> None:
    recipe = b'family = "ngram"\n[data]\ntrain = "a.txt"\n'
    update_folder(tmp_path / "ngram", {"recipe.toml": recipe, WEIGHTS: b""})
    with pytest.raises(Fault, match="which cannot teach; teachers are networks for translation, language"):
        subject_of(open_teachers([tmp_path / "ngram"])[0])
    with pytest.raises(Fault, match="no"):
        open_teachers([tmp_path / "nowhere"])


@pytest.mark.usefixtures("unreported")
def test_a_teacher_without_its_text_needs_another(teacher: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = read_recipe(teacher)
    names = [name for corpus in table["data"]["train"] for name in (corpus["source"], corpus["target"])]
    recipe = Path("teacher/recipe.toml").read_text()
    for name in names:
        recipe = recipe.replace(name, f"/nowhere/{Path(name).name}")
    update_folder(teacher, {"recipe.toml": recipe.encode()})
    shutil.rmtree("teacher/training/corpus")
    assert distilled() == 2
    assert "is gone: there is no /nowhere/small.en; name sentences with --text" in said(capsys)
    assert distilled("--text", "new.en") == 0  # some of these sentences are held out for validation instead
