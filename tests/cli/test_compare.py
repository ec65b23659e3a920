"""`regard compare` on the real command line: training, resuming, interrupting, parallel runs, and the table."""

import json
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from small import undrawn, write_corpus

import regard

sys.path.insert(0, str(Path(__file__).parents[1] / "tasks" / "language"))
from counted_language import write_recipe

from regard.cli import main
from regard.runs import open as runs
from regard.runs.compare import side_by_side
from regard.training.checkpoint import WEIGHTS, RunFolder

RECIPE = """
[data]
source_language = "en"
target_language = "pt"
train = ["{folder}/small.en", "{folder}/small.pt"]
valid = ["{folder}/few.en", "{folder}/few.pt"]
test = ["{folder}/few.en", "{folder}/few.pt"]
cleaning.leakage = false
tokeniser.vocabulary = 400

[model]
encoder_layers = 1
decoder_layers = 1
width = 16
feed_forward = 16
heads = 2

[training]
steps = 6
batch_tokens = 256
validate_every = 3
save_every = 3
validation_beam = 0
optimizer.warmup = 2
optimizer.learning_rate = 0.02

[decoding]
beam = 1
longest_ratio = 0.5
longest_extra = 2
"""
NORMS = ["--vary", "model.norm=before,after"]
NAMES = ["before/seed-1", "after/seed-1", "before/seed-2", "after/seed-2"]

pytestmark = pytest.mark.usefixtures("no_curves")


@pytest.fixture(scope="module")
def recipe(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("compare")
    for path in write_corpus(folder, 200):
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        (folder / f"few{path.suffix}").write_text("".join(lines[:60]), encoding="utf-8")
    path = folder / "norms.toml"
    path.write_text(RECIPE.format(folder=folder), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def compared(recipe: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a whole comparison. Tests that change it must copy it first."""
    out = tmp_path_factory.mktemp("compared") / "out"
    with undrawn():
        assert main(["compare", str(recipe), *NORMS, "--seeds", "2", "--by-length", "--out", str(out)]) == 0
    return out


@pytest.fixture
def copied(compared: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(compared, tmp_path / "out"))


@pytest.fixture
def no_pictures(compared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw nothing in comparisons of this test; drawing takes half the time once the runs are finished."""
    for draw in ("draw_by_length", "draw_comparison", "draw_curves"):
        monkeypatch.setattr(f"regard.runs.compare.running.{draw}", lambda *arguments: set())


def numbers(folder: Path) -> dict[str, Any]:
    """Return the results of a comparison without its location and speed."""
    report: dict[str, Any] = json.loads((folder / "comparison.json").read_text(encoding="utf-8"))
    for variant in report["variants"]:
        del variant["folders"], variant["tokens_per_second"]
    del report["jobs"]
    return report


def weights(folder: Path, names: Sequence[str] = NAMES) -> list[bytes]:
    return [(folder / name / WEIGHTS).read_bytes() for name in names]


@pytest.mark.long
def test_every_run_is_what_train_would_have_made(compared: Path, recipe: Path, tmp_path: Path) -> None:
    alone = ["--set", "model.norm=after", "--seed", "2", "--out", str(tmp_path / "alone")]
    assert main(["train", str(recipe), *alone]) == 0
    assert (tmp_path / "alone" / WEIGHTS).read_bytes() == (compared / "after/seed-2" / WEIGHTS).read_bytes()
    assert len(set(weights(compared))) == 4


def test_the_scores_are_those_of_evaluate(compared: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert main(["evaluate", str(compared / "before/seed-2"), "--json"]) == 0
    scores = {score["metric"]: score for score in json.loads(capsys.readouterr().out)["scores"]}
    for measure in numbers(compared)["variants"][0]["measures"]:
        assert measure["values"][1] == scores[measure["metric"]]["value"]
        assert measure["signature"] == scores[measure["metric"]]["signature"]


def test_the_outputs_of_every_run_are_kept(compared: Path) -> None:
    for name in NAMES:
        outputs = json.loads((compared / name / "outputs.json").read_text(encoding="utf-8"))
        model = regard.load(compared / name)  # the folder is still a valid model
        sources = (Path(model.recipe.data.test[0].source or "")).read_text(encoding="utf-8").splitlines()
        assert outputs["outputs"] == [translation.text for translation in model.translate(sources)]
        assert outputs["split"] == "test"


def test_one_table_and_all_files(compared: Path, recipe: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = weights(compared)
    assert main(["compare", str(recipe), *NORMS, "--seeds", "2", "--out", str(compared), "--resume"]) == 0
    message = capsys.readouterr()
    lines = message.out.splitlines()
    assert lines[0].split() == ["model.norm", "bleu", *(["against", "the", "first"]), "chrf",
                                *(["against", "the", "first"]), "parameters", "tokens/s"]  # fmt: skip
    assert [line.split()[0] for line in lines[1:]] == ["before", "after"]
    assert " p = " in lines[2] or " p < " in lines[2]
    assert "2 variants with 2 seeds each: 4 runs." in message.err
    assert "4 of 4 runs are finished already." in message.err
    assert "the mean of 2 seeds ± their spread, the largest minus the smallest" in message.err
    assert weights(compared) == before
    assert (compared / "comparison.md").read_text(encoding="utf-8").startswith("# norms\n\n| model.norm | bleu |")
    pictures = ("comparison.png", "by-length.png", "losses.png")
    tables = ("comparison.json", "comparison.tex", "comparison.csv")
    assert all((compared / name).is_file() for name in (*tables, *pictures))


@pytest.mark.usefixtures("no_pictures")
def test_the_table_is_written_where_it_is_wanted(
    compared: Path, recipe: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    again = ["compare", str(recipe), *NORMS, "--seeds", "2", "--out", str(compared), "--resume"]
    for refused, sentence in (
        ("table.pdf", "table.pdf is neither .md, .tex, .csv nor .json; the suffix chooses the format of the table."),
        ("nowhere/table.tex", "nowhere to write table.tex into."),
    ):
        assert main([*again, "-o", str(tmp_path / refused)]) == 2
        message = capsys.readouterr().err
        assert sentence in message
        assert "runs" not in message  # nothing was started
    options = [f"-o{tmp_path / 'table.tex'}", f"-o{tmp_path / 'table.csv'}"]
    assert main([*again, *options]) == 0
    assert f"Wrote {tmp_path / 'table.csv'}." in capsys.readouterr().err
    for suffix in ("tex", "csv"):
        assert (tmp_path / f"table.{suffix}").read_bytes() == (compared / f"comparison.{suffix}").read_bytes()
    assert main([*again, *options]) == 2
    assert "table.tex exists already" in capsys.readouterr().err


@pytest.mark.usefixtures("no_pictures")
def test_json_alone_is_printed_and_holds_what_is_kept(
    copied: Path, recipe: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    metrics = ["--metric", "perplexity", "--metric", "exact", "--metric", "perplexity"]
    options = ["--seeds", "2", *metrics, "--no-by-length", "--split", "valid"]
    assert main(["compare", str(recipe), *NORMS, *options, "--out", str(copied), "--resume", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed == json.loads((copied / "comparison.json").read_text(encoding="utf-8"))
    assert (printed["split"], printed["sentences"], printed["buckets"]) == ("valid", 60, [])
    assert [measure["metric"] for measure in printed["variants"][0]["measures"]] == ["perplexity", "exact"]
    before, after = printed["variants"]
    assert before["parameters"] == after["parameters"] + 64  # the norms after the last blocks
    assert before["tokens_per_second"] > 0


@pytest.mark.usefixtures("no_pictures")
def test_perplexity_is_that_of_evaluate(copied: Path, recipe: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--seeds", "2", "--metric", "perplexity", "--out", str(copied), "--resume", "--json"]
    assert main(["compare", str(recipe), *NORMS, *options]) == 0
    value = json.loads(capsys.readouterr().out)["variants"][1]["measures"][0]["values"][0]
    outputs = json.loads((copied / "after/seed-1/outputs.json").read_text(encoding="utf-8"))
    assert value == pytest.approx(2.718281828459045 ** (sum(outputs["nats"]) / sum(outputs["tokens"])))


@pytest.mark.usefixtures("no_pictures")
def test_by_length_the_counts_add_up(compared: Path, recipe: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["compare", str(recipe), *NORMS, "--seeds", "2", "--by-length", "--out", str(compared), "--resume"]
    assert main(arguments) == 0
    assert "bleu by source length\nsource words  sentences" in capsys.readouterr().out
    report = numbers(compared)
    assert sum(bucket["sentences"] for bucket in report["buckets"]) == 60
    assert len(report["variants"][0]["measures"][0]["by_length"]) == len(report["buckets"]) > 1


@pytest.mark.usefixtures("no_pictures")
def test_what_is_missing_is_trained_and_nothing_else(
    copied: Path, compared: Path, recipe: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.rmtree(copied / NAMES[2])
    marks = [(copied / name / WEIGHTS).stat().st_mtime_ns for name in NAMES if name != NAMES[2]]
    arguments = ["compare", str(recipe), *NORMS, "--seeds", "2", "--by-length", "--out", str(copied), "--resume"]
    assert main(arguments) == 0
    assert "Run 1 of 1: before, seed 2" in capsys.readouterr().err
    assert [(copied / name / WEIGHTS).stat().st_mtime_ns for name in NAMES if name != NAMES[2]] == marks
    assert weights(copied) == weights(compared)
    assert numbers(copied) == numbers(compared)


@pytest.mark.long
@pytest.mark.usefixtures("no_pictures")
def test_outputs_are_made_again_when_the_weights_are_others(copied: Path, recipe: Path) -> None:
    arguments = ["compare", str(recipe), *NORMS, "--seeds", "1", "--out", str(copied), "--resume"]
    old = (copied / NAMES[0] / "outputs.json").read_bytes()
    assert main([*arguments, "--set", "training.steps=9"]) == 0
    assert (copied / NAMES[0] / "outputs.json").read_bytes() != old


def test_minutes_stop_before_the_next_run(
    recipe: Path, compared: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["compare", str(recipe), *NORMS, "--seeds", "2", "--out", str(tmp_path / "out")]
    for jobs in ("1", "2"):
        assert main([*arguments, "--minutes", "0", "--jobs", jobs, "--resume"]) == 0
        assert "0 of 4 runs are finished; --resume continues with the others." in capsys.readouterr().err
    assert not (tmp_path / "out" / "comparison.json").exists()


@pytest.mark.long
def test_ctrl_c_leaves_a_comparison_that_goes_on_exactly(recipe: Path, compared: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    arguments = ["compare", str(recipe), *NORMS, "--seeds", "1", "--out", str(out)]
    with subprocess.Popen([sys.executable, "-m", "regard", *arguments], stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if line.startswith("Run 2 of 2"):
                process.send_signal(signal.SIGINT)
                break
        rest = process.stderr.read()
        assert process.wait() == 130
    assert "Traceback" not in rest
    assert not (out / "comparison.json").exists()
    assert main([*arguments, "--resume"]) == 0
    assert weights(out, NAMES[:2]) == weights(compared, NAMES[:2])


@pytest.mark.long
def test_side_by_side_is_one_after_the_other_and_a_failure_stops_no_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Models that count are used, whose processes take a third of the time of others."""
    out, command = tmp_path / "out", side_by_side._command
    arguments = ["compare", str(write_recipe(tmp_path)), "--vary", "model.order=1,2", "--seeds", "1"]
    assert main([*arguments, "--out", str(tmp_path / "one")]) == 0
    full = [sys.executable, "-c", "raise SystemExit('regard: The disk is full.')"]
    monkeypatch.setattr(
        side_by_side, "_command", lambda run, left: full if run.title.startswith("1") else command(run, left)
    )
    capsys.readouterr()
    assert main([*arguments, "--out", str(out), "--jobs", "2"]) == 2
    message = capsys.readouterr()
    assert "regard: 1 of 2 runs failed; --resume tries them again." in message.err
    assert "regard: 1, seed 1: The disk is full." in message.err
    assert [line.split()[0] for line in message.out.splitlines()[1:]] == ["2"]
    written = (out / "comparison.md").read_text(encoding="utf-8")
    assert "- 1, seed 1: The disk is full." in written
    assert "- 1 is not in the table, because none of its runs was trained." in written
    assert weights(out, ["2/seed-1"]) == weights(tmp_path / "one", ["2/seed-1"])
    assert "counting" in (out / "2/seed-1" / "training" / "log.txt").read_text(encoding="utf-8")


@pytest.mark.long
def test_ctrl_c_stops_those_that_run_side_by_side(recipe: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    arguments = ["compare", str(recipe), *NORMS, "--seeds", "1", "--out", str(out), "--jobs", "2"]
    command = [sys.executable, "-m", "regard", *arguments, "--set", "training.steps=100000"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        logs = [out / name / "training" / "log.txt" for name in NAMES[:2]]
        while process.poll() is None and not all(log.exists() and b"step 1/" in log.read_bytes() for log in logs):
            pass
        process.send_signal(signal.SIGINT)
        assert process.stderr is not None
        rest = process.stderr.read()
        assert process.wait() == 130
    assert "2 runs not finished; --resume continues from there." in rest
    for log in logs:
        assert "interrupted; --resume continues from here" in log.read_text(encoding="utf-8")
        with runs.locked_run(RunFolder(log.parents[1])):  # no process trains there any more
            assert RunFolder(log.parents[1]).steps()[-1] > 0


def test_overwriting_begins_anew(copied: Path, recipe: Path) -> None:
    (copied / "before" / "note.txt").write_text("mine", encoding="utf-8")
    arguments = ["compare", str(recipe), "--vary", "model.heads=1,2", "--seeds", "1", "--out", str(copied)]
    assert main([*arguments, "--overwrite", "--minutes", "0"]) == 0
    assert not (copied / "before").exists()
    assert not (copied / "comparison.json").exists()


@pytest.mark.usefixtures("no_pictures")
def test_without_test_data_the_validation_data_is_scored(
    recipe: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = ["--set", "data.test=[]", "--set", "data.valid=[]", "--set", "training.steps=1", "--seeds", "1"]
    out = str(tmp_path / "out")
    assert main(["compare", str(recipe), *NORMS, *settings, "--set", "training.save_every=1", "--out", out]) == 0
    message = capsys.readouterr()
    assert "sentences of the split valid" in message.err
    assert "±" not in message.out
    assert main(["compare", str(recipe), *NORMS, *settings, "--split", "test", "--out", out, "--resume"]) == 2
    assert "The recipe names no test data; give --split valid." in capsys.readouterr().err


def test_word_vectors_are_refused_before_they_are_trained(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.txt").write_text("um gato dorme\n" * 20, encoding="utf-8")
    own = {"train": f"['{tmp_path / 'a.txt'}']", "valid": "[]", "analogies": "[]", "similarities": "[]"}
    settings = [word for name, value in own.items() for word in ("--set", f"data.{name}={value}")]
    out = str(tmp_path / "out")
    assert main(["compare", "word2vec-english", "--vary", "model.width=8,16", *settings, "--out", out]) == 2
    message = " ".join(capsys.readouterr().err.split())
    assert "A word2vec has no valid data for a comparison to score; name some in data.valid, or train" in message
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--resume", "--overwrite"], "--resume continues a comparison and --overwrite replaces it"),
        (["--metric", "blue"], "There is no metric 'blue'"),
        (["--set", "training.device=tpu"], "There is no device 'tpu'"),
        (["--set", "data.train=['none.en', 'none.pt']"], "There is no file none.en"),
        (["--set", "training.best_by=beauty"], "training.best_by is 'beauty'"),
        (["--set", "model.widht=3"], "model has no 'widht'; did you mean 'width'?"),
        (["--jobs", "0"], "Invalid value for '--jobs'"),
        (["--vary", "model.dropout='0,0.1"], "The ' in '0,0.1 is never closed; close it"),
    ],
)
def test_faults_are_found_before_anything_is_written(
    recipe: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], sentence: str
) -> None:
    assert main(["compare", str(recipe), *NORMS, "--out", str(tmp_path / "out"), *options]) == 2
    assert sentence in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_run_of_another_recipe_is_refused_before_anything_is_trained(
    copied: Path, recipe: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["compare", str(recipe), *NORMS, "--seeds", "3", "--out", str(copied), "--resume"]
    assert main([*arguments, "--set", "model.dropout=0.4"]) == 2
    message = capsys.readouterr().err
    assert "cannot be resumed with another recipe" in message
    assert "model.dropout was 0.1 and is now 0.4" in message
    assert not (copied / "before" / "seed-3").exists()


def test_train_sends_a_comparison_to_compare(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", "compare-scores"]) == 2
    assert "compare-scores is a comparison of several recipes; run it with `regard compare compare-scores`." in (
        capsys.readouterr().err
    )


def test_batches_of_different_sizes_are_remarked(
    recipe: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = recipe.read_text(encoding="utf-8").replace("batch_tokens = 256\n", "")
    (tmp_path / "free.toml").write_text(text, encoding="utf-8")
    arguments = ["compare", str(tmp_path / "free.toml"), *NORMS, "--minutes", "0", "--out", str(tmp_path / "out")]
    assert main(arguments) == 0
    assert "training.batch_tokens is not set" in capsys.readouterr().err
