"""System errors give one sentence and status 2 wherever they occur, and an affected run can resume."""

import errno
import os
import resource
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from safetensors import SafetensorError
from small import train_arguments

from regard import cli
from regard.base.files import naming
from regard.cli import main
from regard.console.refused import refusal_sentence
from regard.data.corpora.prepared import open_prepared
from regard.training.checkpoint import WEIGHTS, RunFolder


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (
            OSError(errno.EMFILE, "Too many open files", "a.bin"),
            "a.bin could not be opened: this process has too many open files (`ulimit -n` shows the limit).",
        ),
        (
            OSError(errno.EMFILE, "Too many open files"),
            "A file could not be opened: this process has too many open files (`ulimit -n` shows the limit).",
        ),
        (
            OSError(errno.ESTALE, "Stale file handle", "a.bin"),
            "The server that holds a.bin no longer knows it (stale file handle); mount it again.",
        ),
        (OSError(errno.EROFS, "Read-only file system"), "A file is on a read-only file system."),
        (
            SafetensorError("Error while serializing: I/O error: No space left on device (os error 28)"),
            "No space is left on the device of the output; make room and try again.",
        ),
        (
            ImportError("libgomp.so.1: cannot open shared object file: Too many open files"),
            "A file could not be opened: this process has too many open files (`ulimit -n` shows the limit).",
        ),
        (
            RuntimeError("unable to mmap 64 bytes: Input/output error (5)"),
            "The device of a file reports an input/output error; check the disk.",
        ),
    ],
)
def test_whoever_tells_of_it(
    error: Exception, sentence: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise error

    monkeypatch.setattr("regard.commands.families.command", fail)
    assert main(["families"]) == 2
    assert capsys.readouterr().err == f"regard: {sentence}\n"


@pytest.mark.parametrize(
    "error",
    [
        ConnectionResetError(errno.ECONNRESET, "reset"),
        ValueError("a value"),
        OSError("no number"),
        KeyError("(os error x)"),
    ],
)
def test_other_errors_are_not_the_disks(error: Exception) -> None:
    assert refusal_sentence(error) is None


def test_errors_of_an_open_file_get_its_name() -> None:
    with pytest.raises(OSError, match=r"a\.bin"), naming(Path("a.bin")):
        raise OSError(errno.EIO, os.strerror(errno.EIO))
    with pytest.raises(OSError, match=r"b\.bin"), naming(Path("a.bin")):
        raise OSError(errno.EIO, os.strerror(errno.EIO), "b.bin")


@contextmanager
def few_files() -> Iterator[None]:
    """Let no further file be opened in this block: the limit is the number of open ones."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    free = os.open(os.devnull, os.O_RDONLY)
    os.close(free)
    resource.setrlimit(resource.RLIMIT_NOFILE, (free, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_too_many_open_files(trained: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", str(trained)]) == 0  # imported modules stay imported
    capsys.readouterr()
    with few_files():
        status = main(["info", str(trained)])
    assert status == 2
    message = capsys.readouterr().err
    assert f"regard: {trained}/" in message
    assert "could not be opened: this process has too many open files" in message


def test_too_many_open_files_are_no_damage(trained: Path) -> None:
    """A lack of file handles must not advise deleting a corpus or returning to an older checkpoint."""
    with few_files(), pytest.raises(OSError, match="Too many open files"):
        open_prepared(trained / "training" / "corpus")
    with few_files(), pytest.raises(OSError, match="Too many open files"):
        RunFolder(trained).latest()


@pytest.mark.usefixtures("no_curves")
@pytest.mark.parametrize("number", [errno.EIO, pytest.param(errno.EROFS, marks=pytest.mark.long)])
def test_an_error_in_the_middle_of_training_loses_nothing(
    trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """The device fails under a checkpoint at step 8; the run ends with a sentence and resumes to the same weights."""
    force, out = os.fsync, tmp_path / "run"

    def fail(descriptor: int) -> None:
        if "00000008" in str(Path(f"/proc/self/fd/{descriptor}").readlink()):
            raise OSError(number, os.strerror(number))
        force(descriptor)

    arguments = train_arguments(trained.parent / "small.en", trained.parent / "small.pt", out)
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fail)
        assert main(arguments) == 2
    message = capsys.readouterr().err
    assert "checkpoints/00000008.partial/" in message
    assert f"cannot be written: {os.strerror(number)}." in message
    assert "bug in regard" not in message
    assert main([*arguments, "--resume"]) == 0
    assert (out / WEIGHTS).read_bytes() == (trained / WEIGHTS).read_bytes()


@pytest.mark.usefixtures("no_curves")
def test_an_error_under_tensorboard_is_told_once(
    trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from tensorboard.summary.writer.record_writer import RecordWriter

    def fail(self: Any, data: bytes) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    arguments = train_arguments(trained.parent / "small.en", trained.parent / "small.pt", tmp_path / "run")
    with monkeypatch.context() as patch:
        patch.setattr(RecordWriter, "write", fail)
        patch.setattr(threading, "excepthook", cli._hear_thread)  # as the program sets it
        assert main(arguments) == 2
    message = capsys.readouterr().err
    assert f"regard: The device of {tmp_path}/run/training/tensorboard reports an input/output error" in message
    assert "Traceback" not in message


def test_threads_of_our_own_are_heard(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[Any] = []
    monkeypatch.setattr(threading, "__excepthook__", heard.append)
    monkeypatch.setattr(threading, "excepthook", cli._hear_thread)

    def fail() -> None:
        raise ValueError

    thread = threading.Thread(target=fail)
    thread.start()
    thread.join()
    assert [ended.exc_type for ended in heard] == [ValueError]
