"""Several processes that translate into one file: one writes it, the others are refused, and nothing is destroyed."""

import fcntl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import product
from pathlib import Path
from typing import IO

import pytest
from pausing_translator import MOMENTS, write_model

from regard.base.faults import Fault
from regard.cli import main
from regard.verbs.translate.unfinished import hold_output

SCRIPT = Path(__file__).with_name("pausing_translator.py")
INPUT, OUTPUT = "one\ntwo\nthree\nfour\nfive\n", "ONE\nTWO\nTHREE\nFOUR\nFIVE\n"
FLAGS = [[*filter(None, pair)] for pair in product(["", "--resume"], ["", "--overwrite"])]
BUSY = "Another process is writing "


@pytest.fixture
def asked(tmp_path: Path) -> list[str]:
    (tmp_path / "in").write_text(INPUT)
    return [str(write_model(tmp_path / "model")), str(tmp_path / "in"), "-o", str(tmp_path / "out")]


@contextmanager
def halted(moment: str, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """Return a process that has reached a moment, or ended before it."""
    command = [sys.executable, str(SCRIPT), moment, *arguments]
    with subprocess.Popen(command, stdin=-1, stdout=-1, stderr=-1, text=True) as process:
        assert _of(process.stdout).readline() in (f"{moment}\n", "")
        yield process


def _of(pipe: IO[str] | None) -> IO[str]:
    assert pipe is not None
    return pipe


def ended(process: subprocess.Popen[str]) -> tuple[int, str]:
    """Let a process run to its end. Return its exit status and output."""
    _, message = process.communicate("\n", timeout=60)
    return process.returncode, message


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_who_comes_while_another_writes_cannot_destroy_what_that_one_finishes(asked: list[str], tmp_path: Path) -> None:
    """The second sees the first one's unfinished file, and would write after the first has finished."""
    with halted("writing", *asked) as first, halted("loading", *asked, "--resume") as second:
        assert ended(first)[0] == 0
        status, message = ended(second)
    assert (tmp_path / "out").read_text() == OUTPUT
    assert (status, BUSY in message) == (2, True)
    assert files(tmp_path) == ["in", "model", "out"]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("moment", MOMENTS)
def test_at_no_moment_can_a_second_one_begin(
    asked: list[str], tmp_path: Path, moment: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with halted(moment, *asked) as first:
        before = {path: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
        for flags in FLAGS:
            assert main(["translate", *asked, *flags]) == 2
            assert BUSY in capsys.readouterr().err
        assert {path: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()} == before
        assert ended(first)[0] == 0
    assert (tmp_path / "out").read_text() == OUTPUT
    assert files(tmp_path) == ["in", "model", "out"]


@pytest.mark.one_in(2)
@pytest.mark.usefixtures("capitals")
@pytest.mark.parametrize("moment", MOMENTS)
def test_a_kill_at_any_moment_leaves_what_the_next_one_can_mend(
    asked: list[str], tmp_path: Path, moment: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with halted(moment, *asked) as first:
        first.kill()
    if moment != "loading":
        assert main(["translate", *asked]) == 2
        words = "out exists already" if moment == "placed" else "out was begun and has"
        assert words in capsys.readouterr().err
    assert main(["translate", *asked, "--resume"]) == 0
    assert (tmp_path / "out").read_text() == OUTPUT
    assert files(tmp_path) == ["in", "model", "out"]


@pytest.mark.usefixtures("capitals")
def test_a_file_that_appears_meanwhile_is_not_replaced(asked: list[str], tmp_path: Path) -> None:
    with halted("writing", *asked) as process:
        (tmp_path / "out").write_text("of someone else\n")
        status, message = ended(process)
    assert (status, "out exists already; give --overwrite" in message) == (2, True), message
    assert "Kept 4 translated lines" in message
    assert (tmp_path / "out").read_text() == "of someone else\n"
    assert main(["translate", *asked, "--resume", "--overwrite"]) == 0
    assert (tmp_path / "out").read_text() == OUTPUT


def test_a_lock_on_a_record_that_is_gone_is_no_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The other process may end between opening and locking the record; a third must still be refused."""
    other, flock = ExitStack(), fcntl.flock
    other.enter_context(hold_output(tmp_path / "out"))

    def late(file: IO[bytes], how: int) -> None:
        other.close()
        flock(file, how)

    monkeypatch.setattr(fcntl, "flock", late)
    with hold_output(tmp_path / "out"):
        monkeypatch.undo()
        assert files(tmp_path) == [".out.unfinished.jsonl"]
        with pytest.raises(Fault, match=BUSY), hold_output(tmp_path / "out"):
            pass
        assert files(tmp_path) == [".out.unfinished.jsonl"]
    assert files(tmp_path) == []
