"""Starting, watching and ending ranks, with small stand-in programs; real ranks take long."""

import errno
import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from torch.distributed import HashStore
from toys import TOYS

from regard.base.faults import Fault
from regard.base.progress import silent
from regard.base.recipe import apply_settings
from regard.families import check_recipe
from regard.runs import rank_process, ranks, start
from regard.runs.open import open_run
from regard.runs.ranks import Job, train_on_processes
from regard.runs.request import TrainingRequest
from regard.runs.start import silent_audience, start_training
from regard.runs.together import check_same, open_together
from regard.training import process_group, pulse
from regard.training.checkpoint import RunFolder
from regard.training.process_group import Address
from regard.training.ranks import Ranks
from regard.training.snapshot import Facts, Snapshot

sys.path.insert(0, str(Path(__file__).parents[1] / "training"))
from forked import on_ranks

WAITS = "import os, signal, sys, time; rank = os.environ['RANK']; {}; time.sleep(60)"


def as_rank_1(monkeypatch: pytest.MonkeyPatch, deed: str) -> None:
    """Let every rank wait for a minute, except rank 1, which first runs this."""
    monkeypatch.setattr(ranks, "_RANK", WAITS.format(f"rank == '1' and {deed}"))


def alive() -> list[str]:
    """Return the children of this process that still run."""
    listed = subprocess.run(["ps", "--ppid", str(os.getpid()), "-o", "args="], capture_output=True, text=True)
    return [line for line in listed.stdout.splitlines() if "environ['RANK']" in line]


@pytest.mark.parametrize(
    ("deed", "words"),
    [
        ("os.kill(os.getpid(), signal.SIGKILL)", r"Rank 1 of 3 has ended with signal 9 (SIGKILL)"),
        ("os._exit(3)", "Rank 1 of 3 has ended with status 3"),
        ("os.kill(os.getpid(), signal.SIGSTOP)", "Rank 1 of 3 was stopped (SIGSTOP)"),
        ("os._exit(71)", "The ranks have lost contact"),
    ],
)
def test_a_rank_that_fails_is_named_and_nothing_is_left_running(
    deed: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ranks, "_STOPPED_SECONDS", 0.2)
    monkeypatch.setattr(ranks, "_CULPRIT_SECONDS", 0.2)
    as_rank_1(monkeypatch, deed)
    with pytest.raises(Fault, match=re.escape(words)):
        train_on_processes(Job({}, [], str(tmp_path / "run")), 3, 0, pytest.fail)
    assert not alive()


def test_a_failed_run_says_from_where_it_can_go_on_and_does_when_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, remarks = RunFolder(tmp_path), list[str]()
    folder.save(Snapshot({}, Facts(step=40)))
    (tmp_path / "recipe.toml").write_text("")
    as_rank_1(monkeypatch, "os._exit(3)")
    with pytest.raises(Fault, match=f"continue from step 40: regard train --resume --out {tmp_path} --processes 2"):
        train_on_processes(Job({}, [], str(tmp_path)), 2, 1, remarks.append)
    message = "Rank 1 of 2 has ended with status 3 after step 40; the run can continue from step 40"
    assert remarks == [f"{message} (restart 1 of 1)."]


def test_ctrl_c_is_passed_on_to_all_ranks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They end with the corresponding status, so it is not a failure of theirs."""
    ends = "signal.signal(signal.SIGINT, lambda *_: os._exit(130))"
    asks = f"rank == '0' and [time.sleep(0.3), os.kill({os.getpid()}, signal.SIGINT)]"
    monkeypatch.setattr(ranks, "_RANK", WAITS.format(f"{ends}; {asks}"))
    outcome = '{"was_finished": false, "interrupted": true}'
    monkeypatch.setattr(ranks._Watch, "_have_met", lambda self: self.store.set("outcome", outcome) or True)
    assert train_on_processes(Job({}, [], str(tmp_path)), 2, 0, pytest.fail).interrupted
    monkeypatch.setattr(ranks._Watch, "_have_met", lambda self: True)
    with pytest.raises(KeyboardInterrupt):  # without an outcome nothing was saved, so nothing can be resumed
        train_on_processes(Job({}, [], str(tmp_path)), 2, 0, pytest.fail)


def test_ctrl_c_before_the_ranks_have_met_ends_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Passed on, it would break their imports, and they would seem to have failed."""
    as_rank_1(monkeypatch, f"[time.sleep(0.3), os.kill({os.getpid()}, signal.SIGINT)]")
    with pytest.raises(KeyboardInterrupt):
        train_on_processes(Job({}, [], str(tmp_path)), 2, 0, pytest.fail)
    assert not alive()


def test_an_error_of_the_system_in_a_rank_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    store = HashStore()
    store.set("job", json.dumps(asdict(Job({}, [], "run"))))

    def fail(*arguments: object, **options: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), "run/training/.lock")

    monkeypatch.setattr(process_group.Address, "in_environment", lambda: Address(0, 1, 0, "", 0, False))
    monkeypatch.setattr(process_group, "open_store", lambda address: store)
    monkeypatch.setattr(process_group, "ProcessGroup", lambda address, store: Ranks())
    monkeypatch.setattr(pulse, "Pulse", lambda group, on_silence: None)
    monkeypatch.setattr(start, "train_table", fail)
    assert rank_process._train() == 2
    assert pulse.farewell_of(store, 0) == (True, ["run/training/.lock is on a read-only file system."])


def test_what_can_be_refused_is_refused_before_any_process_is_started(tmp_path: Path) -> None:
    def refused(recipe: str, *settings: str, **more: int) -> str:
        request = TrainingRequest(recipe, settings, out=tmp_path / "run", **more)
        with pytest.raises(Fault) as fault:
            start_training(request, silent_audience())
        return str(fault.value)

    assert refused("demo", "training.pieces=4", processes=3).startswith(
        "training.pieces is 4, which 3 processes cannot"
    )
    assert "the family ngram learns by counting on one process;" in refused("ngram-shakespeare", processes=2)
    assert "the family glove learns by updates of its own on" in refused("glove-english", processes=2)
    assert refused("demo", restarts=1).startswith("--restarts needs --processes")
    assert refused("demo", processes=0) == "--processes is 0, expected 1 or more."
    assert refused("demo", processes=2, restarts=-1) == "--restarts is -1, expected 0 or more."
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ({"torch": "2.11.0"}, "torch is 2.11.0, on rank 0 2.13.0."),
        ({"model.width": "32"}, "model.width is 32, on rank 0 64."),
        ({"model.heads": "4"}, "model.heads is 4, on rank 0 not there."),
    ],
)
def test_a_rank_with_another_recipe_or_another_torch_is_named(other: dict[str, str], words: str) -> None:
    class Two(Ranks):
        size = 2

        def gather(self, note: dict[str, str]) -> list[dict[str, str]]:
            return [note, note | other]

    with pytest.raises(Fault, match=re.escape(f"Rank 1 of 2 differs from rank 0: {words}")):
        check_same(Two(), {"torch": "2.13.0", "model.width": "64"})


def test_a_fault_of_one_rank_is_heard_by_all_of_them(tmp_path: Path) -> None:
    (tmp_path / "recipe.toml").write_text("")

    def work(ranks: Ranks) -> str:
        def open_as(writes: bool) -> Any:
            if not writes:
                raise Fault("The file t.tsv has changed.")
            return "a run"

        with pytest.raises(Fault) as fault:
            open_together(ranks, tmp_path, open_as)
        return str(fault.value)

    assert on_ranks(2, work) == ["The file t.tsv has changed."] * 2


def test_a_run_with_too_few_rows_for_its_pieces_is_refused_before_it_is_begun(tmp_path: Path) -> None:
    recipe = check_recipe(apply_settings(TOYS["transformer"].table(tmp_path), ["training.pieces=512"]))
    with pytest.raises(Fault, match=r"training.pieces is 512, but the largest of the first batches has \d+ rows"):
        open_run(recipe, tmp_path / "run", False, silent, pytest.fail)
    assert not RunFolder(tmp_path / "run").exists()


def test_a_dry_run_says_what_each_process_would_do_and_hold(tmp_path: Path) -> None:
    remarks = list[str]()
    audience = replace(silent_audience(), remark=remarks.append)
    table = TOYS["transformer"].table(tmp_path)
    request = TrainingRequest(table, out=tmp_path / "run", processes=4, dry_run=True)
    start_training(request, audience)
    assert not (tmp_path / "run").exists()
    share = "7 batches of 1 to 11 rows were inspected; each is cut into 4 pieces, 1 for each of 4 processes"
    assert remarks[-2] == f"{share}; 14% of the batches have fewer rows than pieces, which leaves some idle"
    assert re.search(r"each process holds about \d+ MB .* weights \d+, gradients \d+, optimiser \d+", remarks[-1])
    with pytest.raises(Fault, match=r"training.pieces is 512, but the largest of the first batches has \d+ rows"):
        start_training(replace(request, processes=512), audience)
    start_training(replace(request, processes=1), audience)
    assert remarks[-2] == "7 batches of 1 to 11 rows were inspected"


def test_a_dry_run_of_large_corpora_names_them_and_no_temporary_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("regard.data.corpora.sample.LOOKED_AT", 20)
    table, remarks = TOYS["transformer"].table(tmp_path), list[str]()
    source, target = table["data"]["train"]
    weighted = {"source": source, "target": target, "weight": 1.0}
    more = tmp_path / "more.tsv"
    more.write_text("".join(f"word {n} of many\tpalavra {n} de muitas\n" for n in range(50)), encoding="utf-8")
    table["data"] = table["data"] | {"train": [weighted, {"pairs": str(more), "weight": 3.0}]}
    request = TrainingRequest(table, out=tmp_path / "run", dry_run=True)
    start_training(request, replace(silent_audience(), remark=remarks.append))
    (mixture,) = (remark for remark in remarks if "of the pairs of an epoch" in remark)
    assert mixture == f"of the pairs of an epoch 25.0% from {source}, 75.0% from {more}"


def begun_run(place: Path) -> TrainingRequest:
    """Return a request to resume the run in a folder on two processes."""
    table = TOYS["transformer"].table(place) | {"family": "transformer"}
    recipe = check_recipe(apply_settings(table, ["training.pieces=2"]))
    RunFolder(place / "run").begin()
    open_run(recipe, place / "run", False, silent, pytest.fail)
    return TrainingRequest(table, out=place / "run", processes=2)


def test_a_dry_run_of_a_run_that_goes_on_needs_only_what_it_has_prepared(tmp_path: Path) -> None:
    request, remarks = replace(begun_run(tmp_path), dry_run=True), list[str]()
    for file in filter(Path.is_file, tmp_path.iterdir()):
        file.unlink()
    start_training(replace(request, recipe=None, resume=True), replace(silent_audience(), remark=remarks.append))
    assert remarks[-1].startswith("each process holds about")


@pytest.mark.parametrize("dry_run", [False, True])
def test_a_folder_with_a_run_is_refused_before_any_process_starts(
    dry_run: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = replace(begun_run(tmp_path), dry_run=dry_run)
    monkeypatch.setattr(ranks, "_Watch", lambda *arguments: pytest.fail("ranks were started"))
    with pytest.raises(Fault, match=r"run already holds a run. Give --resume to continue it or --overwrite"):
        start_training(request, silent_audience())
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "file").touch()
    for overwrite in (False, True):
        with pytest.raises(Fault, match=r"other exists and is not a run of regard. Choose another --out"):
            start_training(replace(request, out=tmp_path / "other", overwrite=overwrite), silent_audience())
    with pytest.raises(Fault, match=r"file is a file. Name a folder for the run"):
        start_training(replace(request, out=tmp_path / "other" / "file"), silent_audience())


@pytest.mark.parametrize("dry_run", [False, True])
def test_a_run_that_is_finished_starts_no_process(
    dry_run: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    request, remarks = replace(begun_run(tmp_path), dry_run=dry_run, resume=True), list[str]()
    monkeypatch.setattr(ranks, "_Watch", lambda *arguments: pytest.fail("ranks were started"))
    monkeypatch.setattr(RunFolder, "facts", lambda folder: Facts(step=10**9, finished=True))
    started = start_training(request, replace(silent_audience(), remark=remarks.append))
    assert started.was_finished
    assert remarks == [f"{tmp_path / 'run'} is finished; there is nothing to resume."]


def test_a_dry_run_that_would_overwrite_overwrites_nothing(tmp_path: Path) -> None:
    request, remarks = replace(begun_run(tmp_path), dry_run=True, overwrite=True), list[str]()
    start_training(request, replace(silent_audience(), remark=remarks.append))
    assert remarks[-1].startswith("each process holds about")
    assert RunFolder(tmp_path / "run").exists()


def test_more_processes_than_a_batch_has_rows_are_refused_before_any_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ranks, "_Watch", lambda *arguments: pytest.fail("ranks were started"))
    request = TrainingRequest(
        TOYS["convnet"].table(tmp_path) | {"family": "convnet"}, out=tmp_path / "run", processes=17
    )
    with pytest.raises(Fault, match=r"training.pieces is 17, but training.batch is 16. Use fewer processes"):
        start_training(request, silent_audience())


DEMO = ["demo", "--set", "training.steps=4", "--set", "training.save_every=2", "--set", "training.validate_every=4"]
TINY = ["--set", "model.width=16", "--set", "model.heads=2", "--set", "training.batch_tokens=256"]


@pytest.mark.long
@pytest.mark.parametrize("begun", [1, 2, 4])
@pytest.mark.parametrize("resumed", [1, 2, 4])
def test_begun_and_resumed_on_one_two_or_four_processes_is_never_stopped(
    begun: int, resumed: int, tmp_path: Path
) -> None:
    """Bit for bit, in four pieces and with dropout."""

    def train(folder: Path, number: int, *more: str) -> None:
        pieces = ["--set", "training.pieces=4", "--set", "model.dropout=0.1", "--set", "training.validation_beam=0"]
        line = [*DEMO, *TINY, *pieces, "--out", str(folder), "--processes", str(number), *more]
        subprocess.run([sys.executable, "-m", "regard", "train", *line], check=True, timeout=500)

    train(tmp_path / "whole", 1)
    train(tmp_path / "two", begun, "--set", "training.steps=2")
    train(tmp_path / "two", resumed, "--resume")
    whole, two = ((tmp_path / name / "weights.safetensors").read_bytes() for name in ("whole", "two"))
    assert whole == two
    scores = [json.loads((tmp_path / name / "scores.json").read_text()) for name in ("whole", "two")]
    assert scores[0] == scores[1]


def rank_1_of(process: subprocess.Popen[bytes]) -> int:
    """Return the process that is rank 1 of those another started."""
    listed = subprocess.run(["ps", "--ppid", str(process.pid), "-o", "pid="], capture_output=True, text=True)
    return next(
        number
        for number in map(int, listed.stdout.split())
        if b"RANK=1" in Path(f"/proc/{number}/environ").read_bytes().split(b"\0")
    )


@pytest.mark.long
@pytest.mark.parametrize(
    ("deed", "words"),
    [(signal.SIGKILL, "has ended with signal 9 (SIGKILL)"), (signal.SIGSTOP, "was stopped (SIGSTOP)")],
)
def test_a_run_that_lost_a_rank_goes_on_and_ends_with_the_bits_of_one_that_did_not(
    deed: signal.Signals, words: str, tmp_path: Path
) -> None:
    settings = ["training.steps=60", "training.save_every=5", "training.pieces=2", "model.dropout=0.1"]
    line = [sys.executable, "-m", "regard", "train", *DEMO, *TINY, "--set", "training.validation_beam=0"]
    line += [part for setting in settings for part in ("--set", setting)]
    subprocess.run([*line, "--out", str(tmp_path / "whole"), "--processes", "1"], check=True, timeout=500)

    hurt = [*line, "--out", str(tmp_path / "hurt"), "--processes", "2", "--restarts", "1"]
    process = subprocess.Popen(hurt, stderr=subprocess.PIPE)
    while process.poll() is None and not RunFolder(tmp_path / "hurt").regular_steps():
        time.sleep(0.05)
    os.kill(rank_1_of(process), deed)
    _, message = process.communicate(timeout=500)
    assert process.returncode == 0
    assert re.search(rf"Rank 1 of 2 {re.escape(words)} after step \d+; .* \(restart 1 of 1", message.decode())
    whole, two = ((tmp_path / name / "weights.safetensors").read_bytes() for name in ("whole", "hurt"))
    assert whole == two


@pytest.mark.long
def test_ranks_that_torchrun_has_started_train_one_run(tmp_path: Path) -> None:
    line = [*DEMO, *TINY, "--out", str(tmp_path / "run")]
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    subprocess.run([*torchrun, "-m", "regard", "train", *line], check=True, timeout=500)
    assert RunFolder(tmp_path / "run").steps()[-1] == 4
