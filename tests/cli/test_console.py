"""Input and output of commands."""

from codecs import BOM_UTF8
from pathlib import Path

import pytest
from own_clock import tell_time

from regard import console
from regard.base.faults import Fault
from regard.data.lines import read_lines


def test_plain_progress_speaks_now_and_then_and_at_each_end(capsys, monkeypatch):
    now = [0.0]
    tell_time(monkeypatch, lambda: now[0])
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


def test_what_is_read_several_times_is_remarked_on_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "marked").write_bytes(BOM_UTF8 + b"one\n")
    for _ in range(2):  # two commands
        with console.remarks_on_text():
            assert [list(read_lines(tmp_path / "marked")) for _ in range(3)] == [["one"]] * 3
        assert capsys.readouterr().err.count("begins with a byte order mark") == 1
