"""What commands speak and write with."""

import errno
import stat
from pathlib import Path

import pytest

from regard.cli import console
from regard.faults import Fault


def test_plain_progress_speaks_now_and_then_and_at_each_end(capsys, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(console.time, "monotonic", lambda: now[0])
    with console.console_progress() as progress:
        for second in range(26):
            now[0] = float(second)
            progress("reading", second * 1000, None)
        progress("tokenising", 7, 7)
    assert capsys.readouterr().err.splitlines() == [
        "reading 10,000",
        "reading 20,000",
        "reading 25,000",
        "tokenising 7 of 7",
    ]


def test_tables_line_up_whatever_is_written_in_them():
    rows = [("livro", "41.5"), ("книга", "7"), ("本", "-0.25"), ("não", "100")]
    assert console.table_lines(["word", "score"], rows) == [
        "word   score",
        "livro   41.5",
        "книга      7",
        "本     -0.25",
        "não      100",
    ]


def test_json_keeps_letters_and_has_no_nan(capsys):
    console.print_json({"text": "não", "scores": [float("nan"), 1.5]}, indent=None)
    assert capsys.readouterr().out == '{"text": "não", "scores": [null, 1.5]}\n'


def test_an_existing_output_is_refused(tmp_path):
    path = tmp_path / "out.txt"
    console.refuse_existing(path, overwrite=False)
    path.write_text("old")
    console.refuse_existing(path, overwrite=True)
    console.refuse_existing(Path("/dev/null"), overwrite=False)
    with pytest.raises(Fault, match=r"out\.txt exists already; give --overwrite to replace it\."):
        console.refuse_existing(path, overwrite=False)


def test_writing_is_all_or_nothing(tmp_path, monkeypatch):
    path = tmp_path / "out.txt"
    console.write_atomically(path, "não")
    assert path.read_bytes() == "não".encode()
    assert stat.S_IMODE(path.stat().st_mode) & 0o600 == 0o600

    def full(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(console.os, "fsync", full)
    with pytest.raises(OSError, match=r"out\.txt"):
        console.write_atomically(path, b"half")
    assert path.read_bytes() == "não".encode()
    assert list(tmp_path.iterdir()) == [path]


def test_writing_goes_through_links_and_into_devices(tmp_path):
    real, link = tmp_path / "real", tmp_path / "link"
    real.write_text("old")
    link.symlink_to(real)
    console.write_atomically(link, "new")
    assert link.is_symlink()
    assert real.read_text() == "new"
    console.write_atomically(Path("/dev/null"), "gone")
    assert Path("/dev/null").is_char_device()


def test_writing_into_nowhere_is_refused(tmp_path):
    with pytest.raises(Fault, match="is a folder; name a file"):
        console.write_atomically(tmp_path, "x")
    with pytest.raises(Fault, match=r"There is no folder .*nowhere to write x into"):
        console.write_atomically(tmp_path / "nowhere" / "x", "x")
