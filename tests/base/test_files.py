"""Files are written completely or not at all."""

import errno
import os
from contextlib import suppress
from pathlib import Path

import pytest

from regard.base.faults import Fault
from regard.base.files import finite, whole_file, write_file


def test_writing_is_all_or_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "out.txt"
    write_file(path, "não".encode())
    with suppress(ZeroDivisionError), whole_file(path) as file:
        file.write(b"half")
        raise ZeroDivisionError
    assert path.read_bytes() == "não".encode()

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(Fault, match=r"The disk is full: .*out\.txt could not be written"):
        write_file(path, b"half")
    assert path.read_bytes() == "não".encode()
    assert list(tmp_path.iterdir()) == [path]


def test_writing_goes_through_links_and_into_devices(tmp_path: Path) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    real.write_text("old")
    link.symlink_to(real)
    write_file(link, b"new")
    assert link.is_symlink()
    assert real.read_text() == "new"
    write_file(Path("/dev/null"), b"gone")
    assert Path("/dev/null").is_char_device()


def test_writing_into_nowhere_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Fault, match="is a folder; name a file"):
        write_file(tmp_path, b"x")
    with pytest.raises(Fault, match=r"There is no folder .*nowhere to write x into"):
        write_file(tmp_path / "nowhere" / "x", b"x")


def test_what_json_does_not_know_becomes_null() -> None:
    assert finite({"a": [1.5, float("inf")], "b": (float("nan"), "x")}) == {"a": [1.5, None], "b": [None, "x"]}
