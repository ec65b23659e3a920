"""Training through the real command line: resuming, killing, refusing."""

import fcntl
import io
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from small import train_arguments, undrawn, write_corpus

from regard.cli import main
from regard.training.checkpoint import WEIGHTS, RunFolder, update_folder

pytestmark = pytest.mark.usefixtures("no_curves")


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return write_corpus(tmp_path_factory.mktemp("corpus"))


def last_weights(folder: Path) -> bytes:
    run = RunFolder(folder)
    return (run.checkpoints / f"{run.steps()[-1]:08d}" / WEIGHTS).read_bytes()


def say(capsys: pytest.CaptureFixture[str]) -> str:
    return capsys.readouterr().err


# Variations of the interrupted runs: everything that has its own state.
EVERYTHING = {
    "training.accumulate": 2,
    "training.batch_tokens": 128,
    "training.moving_average": 0.9,
    "training.final": "average",
    "training.validation_beam": 0,
    "training.best_by": "loss",
    "data.tokeniser.sampling": 0.3,
    "training.steps": 20,
}


def everything(corpus: tuple[Path, Path], out: Path) -> list[str]:
    return train_arguments(*corpus, out, **{name.replace(".", "__"): value for name, value in EVERYTHING.items()})


@pytest.fixture(scope="session")
def uninterrupted(corpus: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the run that was never stopped."""
    out = tmp_path_factory.mktemp("whole") / "run"
    with undrawn():
        assert main(everything(corpus, out)) == 0
    return out


def _command(corpus: tuple[Path, Path], out: Path, *more: str) -> list[str]:
    return [sys.executable, "-m", "regard", *everything(corpus, out), *more]


def _kill(corpus: tuple[Path, Path], out: Path, seconds: float, heard: str = "") -> bool:
    """Start or resume, and kill this many seconds after a line with this beginning. Return True if it was still
    running.
    """
    with subprocess.Popen(_command(corpus, out, "--resume"), stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert not heard or any(line.startswith(heard) for line in process.stderr)
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            return True
    return False


def _kill_and_resume(corpus: tuple[Path, Path], out: Path, moments: list[float]) -> int:
    """Start, kill after each of these times, resume, and finish here. Return how many were really killed."""
    killed = sum(_kill(corpus, out, seconds) for seconds in moments)
    assert main([*everything(corpus, out), "--resume"]) == 0
    return killed


def _same(one: Path, other: Path) -> None:
    assert last_weights(one) == last_weights(other)
    assert (one / WEIGHTS).read_bytes() == (other / WEIGHTS).read_bytes()
    facts = [RunFolder(folder).facts() for folder in (one, other)]
    assert facts[0] == facts[1]


@pytest.mark.long
def test_killed_and_resumed_is_never_stopped(
    corpus: tuple[Path, Path], uninterrupted: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Kill before there is any file and somewhere in the middle, and run once more after the end."""
    chance = random.Random(os.getpid())
    assert _kill(corpus, tmp_path / "run", 0.5)
    _kill(corpus, tmp_path / "run", chance.uniform(0.0, 0.5), heard="step ")
    assert _kill_and_resume(corpus, tmp_path / "run", []) == 0
    _same(uninterrupted, tmp_path / "run")
    assert main([*everything(corpus, tmp_path / "run"), "--resume"]) == 0
    assert "is finished; there is nothing to resume" in say(capsys)
    _same(uninterrupted, tmp_path / "run")


@pytest.mark.long
def test_killed_twenty_times_at_random_moments(corpus: tuple[Path, Path], uninterrupted: Path, tmp_path: Path) -> None:
    chance = random.Random()
    began = time.monotonic()
    assert subprocess.run(_command(corpus, tmp_path / "clock"), capture_output=True).returncode == 0
    usual, killed = time.monotonic() - began, 0
    for trial in range(20):
        killed += _kill_and_resume(corpus, tmp_path / f"run{trial}", [chance.uniform(0.0, usual)])
        _same(uninterrupted, tmp_path / f"run{trial}")
    assert killed >= 10


@pytest.mark.long
@pytest.mark.parametrize("file", ["weights.safetensors", "optimizer.safetensors", "facts.json", "manifest.json"])
def test_killed_during_a_checkpoint(corpus: tuple[Path, Path], uninterrupted: Path, tmp_path: Path, file: str) -> None:
    """The process is killed as soon as it writes this file of the checkpoint at step 8."""
    out = tmp_path / "run"
    process = subprocess.Popen(_command(corpus, out), stderr=subprocess.DEVNULL)
    partial = out / "training" / "checkpoints" / "00000008.partial"
    while process.poll() is None and not any(partial.glob(f"*{file}*")):
        pass
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert _kill_and_resume(corpus, out, []) == 0
    _same(uninterrupted, out)


class Interrupting(io.StringIO):
    """Listener that presses Ctrl-C at the first step."""

    pressed = False

    def write(self, text: str) -> int:
        if not self.pressed and "step 1/20" in text:
            self.pressed = True
            signal.raise_signal(signal.SIGINT)
        return super().write(text)


def test_ctrl_c_stops_cleanly_and_resumably(
    corpus: tuple[Path, Path], uninterrupted: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "run"
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stderr", stream := Interrupting())
        assert main(everything(corpus, out)) == 130
    _stopped_and_resumed(corpus, out, stream.getvalue(), uninterrupted)


def _stopped_and_resumed(corpus: tuple[Path, Path], out: Path, said: str, uninterrupted: Path) -> None:
    assert "interrupted; --resume continues from here" in said
    assert "Traceback" not in said
    assert 0 < RunFolder(out).steps()[-1] < 20
    assert _kill_and_resume(corpus, out, []) == 0
    _same(uninterrupted, out)


@pytest.mark.long
def test_ctrl_c_stops_a_process_and_resumably(corpus: tuple[Path, Path], uninterrupted: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    with subprocess.Popen(_command(corpus, out), stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if line.startswith("step "):
                process.send_signal(signal.SIGINT)
                break
        rest = process.stderr.read()
        assert process.wait() == 130
    _stopped_and_resumed(corpus, out, rest, uninterrupted)


def test_minutes_stop_a_run_that_can_go_on(
    corpus: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = train_arguments(*corpus, tmp_path / "run", training__steps=100_000)
    assert main([*arguments, "--minutes", "0.01"]) == 0
    assert "the 0.01 minutes are over" in say(capsys)
    assert (tmp_path / "run" / WEIGHTS).exists()
    assert not RunFolder(tmp_path / "run").facts().finished


def test_a_longer_run_goes_on_from_a_finished_one(trained: Path, tmp_path: Path) -> None:
    """`training.steps` says where a run stops, so it may change."""
    out = tmp_path / "run"
    shutil.copytree(trained, out)
    source, target = trained.parent / "small.en", trained.parent / "small.pt"
    assert main([*train_arguments(source, target, out, training__steps=16), "--resume"]) == 0
    assert RunFolder(out).facts().step == 16


def test_a_run_goes_on_by_its_own_recipe(
    corpus: tuple[Path, Path], uninterrupted: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Recipe and files are not given again, and the bits are those of the uninterrupted run."""
    out = tmp_path / "run"
    assert main([*everything(corpus, out), "--resume", "--set", "training.steps=12"]) == 0
    assert f"There is no run in {out} to resume, so it begins." in " ".join(say(capsys).split())
    assert main(["train", "--out", str(out), "--resume", "--set", "training.steps=20"]) == 0
    assert "so it begins" not in say(capsys)
    _same(uninterrupted, out)
    assert main(["train", "--out", str(out), "--resume"]) == 0
    assert "is finished; there is nothing to resume" in say(capsys)
    assert main(["train", "--out", str(out), "--resume", "--set", "training.steps=24"]) == 0
    assert RunFolder(out).facts().step == 24


@pytest.mark.long
def test_a_run_goes_on_where_its_text_is_gone_but_not_with_a_damaged_corpus(
    corpus: tuple[Path, Path], uninterrupted: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As after copying the run to another machine; one flipped bit in a shard would change the weights."""
    out, (source, target) = tmp_path / "run", (Path(shutil.copy(path, tmp_path)) for path in corpus)
    assert main([*everything((source, target), out), "--minutes", "0"]) == 0
    source.unlink()
    os.utime(target, (1, 1))
    shard = out / "training" / "corpus" / "shards" / "000-00000.bin"
    good = shard.read_bytes()
    shard.write_bytes(bytes([good[0] ^ 1]) + good[1:])
    assert main(["train", "--out", str(out), "--resume"]) == 2
    assert f"{shard} is missing, damaged" in say(capsys)
    shard.write_bytes(good)
    assert main(["train", "--out", str(out), "--resume"]) == 0
    assert f"{source} no longer exists; continuing with what was prepared from it." in say(capsys)
    _same(uninterrupted, out)


def test_without_a_run_there_is_no_recipe_to_go_on_by(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "manifest.json").write_text("{}")
    assert main(["train", "demo", "--out", str(tmp_path / "model"), "--resume"]) == 2
    assert "holds a model without its training, so it can be neither resumed nor replaced" in say(capsys)
    assert main(["train", "--resume"]) == 2
    assert "Name the run to resume with --out" in say(capsys)
    assert main(["train", "--out", str(tmp_path / "none"), "--resume"]) == 2
    assert "none has no recipe to resume; give the recipe or text files" in " ".join(say(capsys).split())
    assert not (tmp_path / "none").exists()
    assert main(["train", "--out", str(tmp_path / "none"), "--resume", "--languages", "en-pt"]) == 2
    assert "belong to text files" in say(capsys)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (["--set", "model.width=32"], "model.width was 16 and is now 32"),
        (["--seed", "5"], "seed was 1 and is now 5"),
        (["--set", "training.optimizer.clip=2.0"], "training.optimizer.clip was 1.0 and is now 2.0"),
    ],
)
def test_another_recipe_is_not_resumed(
    trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], change: list[str], words: str
) -> None:
    out = tmp_path / "run"
    shutil.copytree(trained, out)
    before = {path: path.stat().st_mtime_ns for path in out.rglob("*") if path.is_file()}
    source, target = trained.parent / "small.en", trained.parent / "small.pt"
    assert main([*train_arguments(source, target, out), "--resume", *change]) == 2
    message = say(capsys)
    assert "cannot be resumed with another recipe" in message
    assert words in message
    assert {path: path.stat().st_mtime_ns for path in out.rglob("*") if path.is_file()} == before


def test_a_run_without_its_checkpoints_keeps_its_model(
    trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "run"
    shutil.copytree(trained, out)
    shutil.rmtree(out / "training" / "checkpoints")
    assert main(["train", "--out", str(out), "--resume", "--set", "training.steps=900"]) == 2
    message = say(capsys)
    assert f"{out / 'training' / 'checkpoints'} has no checkpoint left, so {out} cannot be resumed." in message
    assert f"To start a new run from its weights: regard train … --from {out} --out {out}-2" in message
    assert (out / "weights.safetensors").read_bytes() == (trained / "weights.safetensors").read_bytes()


def test_other_files_are_not_resumed(trained: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, target = trained.parent / "small.en", trained.parent / "small.pt"
    assert main([*train_arguments(target, source, trained), "--resume"]) == 2
    message = say(capsys)
    assert "cannot be resumed with other data:" in message
    assert f'data.train was [{{ source = "{source}", target = "{target}" }}] and is now' in message
    more = ["--valid-source", str(source), "--valid-target", str(target)]
    assert main([*train_arguments(source, target, trained), *more, "--resume"]) == 2
    assert "data.valid was empty and is now [{ source = " in say(capsys)


def test_a_run_is_not_trained_over_by_mistake(trained: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = {path: path.stat().st_mtime_ns for path in trained.rglob("*") if path.is_file()}
    arguments = train_arguments(trained.parent / "small.en", trained.parent / "small.pt", trained)
    assert main(arguments) == 2
    message = say(capsys)
    assert (
        message
        == f"regard: {trained} already holds a run. Give --resume to continue it or --overwrite to replace it.\n"
    )
    assert main([*arguments, "--resume", "--overwrite"]) == 2
    assert {path: path.stat().st_mtime_ns for path in trained.rglob("*") if path.is_file()} == before


@pytest.mark.long
def test_overwriting_makes_the_same_run_again(
    trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "run"
    shutil.copytree(trained, out)
    arguments = train_arguments(trained.parent / "small.en", trained.parent / "small.pt", out)
    assert main([*arguments, "--overwrite"]) == 0
    assert (out / WEIGHTS).read_bytes() == (trained / WEIGHTS).read_bytes()
    assert main([*arguments, "--overwrite", "--set", "training.device=gpu"]) == 2
    assert main([*arguments, "--overwrite", "--set", "data.valid=none.tsv"]) == 2
    assert (out / WEIGHTS).exists()  # what cannot be trained replaces nothing


@pytest.mark.parametrize("place", ["thesis.txt", "training/thesis.txt"])
def test_a_folder_that_is_no_run_is_left_alone(
    corpus: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str], place: str
) -> None:
    thesis = tmp_path / "foreign" / place
    thesis.parent.mkdir(parents=True)
    thesis.write_text("years of work")
    for more in ([], ["--overwrite"], ["--resume"]):
        assert main([*train_arguments(*corpus, tmp_path / "foreign"), *more]) == 2
        assert "is not a run of regard" in say(capsys)
    assert [path for path in (tmp_path / "foreign").rglob("*") if path.is_file()] == [thesis]


def test_two_processes_do_not_train_in_one_folder(
    trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "run"
    shutil.copytree(trained, out)
    arguments = train_arguments(trained.parent / "small.en", trained.parent / "small.pt", out, training__steps=16)
    with (out / "training" / ".lock").open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert main([*arguments, "--resume"]) == 2
        assert main([*arguments, "--overwrite"]) == 2
    assert "Another process is training in" in say(capsys)
    assert main([*arguments, "--resume"]) == 0


def test_a_run_keeps_its_tokeniser(trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Text that changed under a run would give it another vocabulary."""
    out = tmp_path / "run"
    shutil.copytree(trained, out)
    source, target = (tmp_path / name for name in ("small.en", "small.pt"))
    for mine, other in ((source, "small.en"), (target, "small.pt")):
        shutil.copy(trained.parent / other, mine)
    recipe = (out / "recipe.toml").read_text(encoding="utf-8")
    changed = recipe.replace(str(trained.parent), str(tmp_path)).encode()
    update_folder(out, {"recipe.toml": changed})
    shutil.rmtree(out / "training" / "corpus")
    source.write_text("".join(f"{number} other words\n" for number in range(300)))
    assert main([*train_arguments(source, target, out, training__steps=16), "--resume"]) == 2
    assert "does not match the data, which was prepared again" in say(capsys)


def test_the_recipe_in_the_run_makes_the_same_run(trained: Path, tmp_path: Path) -> None:
    assert main(["train", str(trained / "recipe.toml"), "--out", str(tmp_path / "run")]) == 0
    assert (tmp_path / "run" / WEIGHTS).read_bytes() == (trained / WEIGHTS).read_bytes()


@pytest.mark.long
def test_another_seed_is_another_run(trained: Path, tmp_path: Path) -> None:
    assert main(["train", str(trained / "recipe.toml"), "--out", str(tmp_path / "run"), "--seed", "2"]) == 0
    assert (tmp_path / "run" / WEIGHTS).read_bytes() != (trained / WEIGHTS).read_bytes()


def test_the_mixture_of_several_corpora_is_told(
    corpus: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, target = corpus
    (tmp_path / "few.tsv").write_text("A cat.\tUm gato.\nTwo cats.\tDois gatos.\n", encoding="utf-8")
    mixed = f'[{{source="{source}", target="{target}", weight=3}}, {{pairs="{tmp_path}/few.tsv", weight=1}}]'
    arguments = train_arguments(source, target, tmp_path / "run", data__train=mixed, training__steps=1)
    assert main(arguments) == 0
    assert f"75.0% from {source}, 25.0% from {tmp_path}/few.tsv" in say(capsys)


def test_a_run_folder_holds_what_is_promised(trained: Path) -> None:
    names = {path.name for path in trained.iterdir()}
    assert {"recipe.toml", WEIGHTS, "tokeniser.model", "scores.json", "manifest.json", "training", "curve.png"} <= names
    assert any((trained / "training" / "tensorboard").glob("events*"))
    text = (trained / "recipe.toml").read_text(encoding="utf-8")
    assert "label_smoothing = 0.1" in text  # every default is written out
    assert "batch_tokens = 256" in text


BAD = {
    "no recipe": (["train"], "Give a recipe"),
    "unknown recipe": (["train", "demmo"], "There is no recipe 'demmo'; did you mean 'demo'?"),
    "missing recipe": (["train", "none.toml"], "There is no recipe at none.toml"),
    "both": (["train", "demo", "--source", "a", "--target", "b"], "not both"),
    "one file": (["train", "--source", "a"], "--source and --target belong together"),
    "missing text": (["train", "--source", "a.en", "--target", "a.pt"], "There is no file"),
    "unknown key": (["train", "demo", "--set", "model.widht=3"], "model has no 'widht'; did you mean 'width'?"),
    "wrong type": (
        ["train", "demo", "--set", "training.steps=many"],
        "training.steps is 'many', expected a whole number",
    ),
    "out of range": (["train", "demo", "--set", "model.dropout=1.5"], "model.dropout is 1.5, expected less than 1"),
    "contradiction": (["train", "demo", "--set", "model.heads=3"], "width 128 cannot be shared out among 3 heads"),
    "unknown family": (["train", "demo", "--set", "family=transfomer"], "family is 'transfomer', expected one of"),
    "not a setting": (["train", "demo", "--set", "steps"], "must have the form name=value"),
    "unknown measure": (["train", "demo", "--set", "training.best_by=belu"], "training.best_by is 'belu'"),
    "unknown device": (["train", "demo", "--set", "training.device=gpu"], "There is no device 'gpu'"),
    "half a pair": (
        ["train", "--source", "a", "--target", "b", "--valid-source", "c"],
        "--valid-source and --valid-target belong together",
    ),
    "languages": (["train", "--source", "a", "--target", "b", "--languages", "enpt"], "--languages is 'enpt'"),
    "average of nothing": (
        ["train", "demo", "--set", "training.final=average", "--set", "training.save_every=9000"],
        "final = 'average' needs checkpoints",
    ),
    "too long for the model": (
        ["train", "demo", "--set", "model.longest=100", "--set", "data.cleaning.longest=100"],
        "do not fit model.longest 100",
    ),
    "n-best": (["train", "demo", "--set", "decoding.n_best=9"], "a beam of 4 cannot give the 9 best"),
    "seed": (["train", "demo", "--seed", "18446744073709551616"], "seed is 18446744073709551616, expected less than"),
    "odd family": (["train", "demo", "--set", "family=[1]"], "family is [1], expected one of"),
    "odd device": (["train", "demo", "--set", "training.device=meta"], "There is no device 'meta'"),
    "files of a recipe": (["train", "demo", "--languages", "en-pt"], "a recipe has its own"),
    "unknown option": (["train", "demo", "--minuts", "3"], "Did you mean '--minutes'"),
    "rate": (
        ["train", "demo", "--lr", "1e-3"],
        "No such option: --lr. Give --set training.optimizer.learning_rate=VALUE (Highest learning rate",
    ),
    "epochs": (
        ["train", "demo", "--epochs", "3"],
        "--set training.steps=VALUE (Updates of the weights in the whole run)",
    ),
    "batch size": (["train", "demo", "--batch_size", "3"], "--set training.batch_tokens=VALUE (Tokens"),
    "an option of recipes": (["train", "demo", "--dropout", "0"], "--set model.dropout=VALUE"),
    "rate two levels down": (
        ["train", "demo", "--set", "training.learning_rate=1"],
        "training has no 'learning_rate'; did you mean 'training.optimizer.learning_rate'?",
    ),
    "layers": (
        ["train", "demo", "--set", "model.num_layers=3"],
        "model has no 'num_layers'; did you mean 'encoder_layers' or 'decoder_layers'?",
    ),
    "unknown set": (["train", "demo", "--set", "data.train=multi30q:x.tsv"], "multi30q"),
}


@pytest.mark.parametrize(("arguments", "words"), BAD.values(), ids=BAD.keys())
def test_bad_input_has_its_sentence(
    arguments: list[str],
    words: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main([*arguments, "--out", str(tmp_path / "run")]) == 2
    message = say(capsys)
    assert words in message
    assert "Traceback" not in message


def test_lines_that_do_not_match_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, target = write_corpus(tmp_path, 40)
    target.write_text("uma linha\n" * 39, encoding="utf-8")
    assert main(train_arguments(source, target, tmp_path / "run")) == 2
    message = say(capsys)
    assert "40 lines" in message
    assert "has 39" in message
    source.write_bytes(b"fine\nb\xffd\n")
    target.write_text("bom\nmau\n", encoding="utf-8")
    assert main(train_arguments(source, target, tmp_path / "run")) == 2
    assert "line 2: not valid UTF-8" in say(capsys)
    source.write_text("")
    target.write_text("")
    assert main(train_arguments(source, target, tmp_path / "run")) == 2
    assert "is empty" in say(capsys)
    assert main(train_arguments(source, source, tmp_path / "run")) == 2
    assert "are the same file" in say(capsys)


def test_names_that_no_recipe_can_hold_are_refused_at_once(tmp_path, capsys):
    source, target = tmp_path / "t\udce9n.en", tmp_path / "ten.pt"
    source.write_text("a\n")
    target.write_text("b\n")
    arguments = ["train", "--source", str(source), "--target", str(target), "--out", str(tmp_path / "run")]
    assert main(arguments) == 2
    assert "is not UTF-8, so a recipe cannot hold it" in " ".join(capsys.readouterr().err.split())
    assert main(["train", "demo", "--out", str(tmp_path / "r\udce9n")]) == 2
    assert "is not UTF-8, so a recipe cannot hold it" in " ".join(capsys.readouterr().err.split())
    assert {path.name for path in tmp_path.iterdir()} == {source.name, target.name}
