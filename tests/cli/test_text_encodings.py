"""Texts that are not valid UTF-8, or whose lines end otherwise: refused or remarked on, with a repair that works."""

import io
import sys
from pathlib import Path

import pytest

from regard.cli import main

Captured = pytest.CaptureFixture[str]
OLD, WIDE = b"Eu vejo.\rEu leio.\r", "Eu vejo.\n".encode("utf-16")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["translate", "{run}", "--text", "caf\udce9"], "--text: not valid UTF-8 (byte 0xe9)"),
        (["look", "{run}", "--text", "caf\udce9"], "--text: not valid UTF-8 (byte 0xe9)"),
        (["look", "{run}", "caf\udce9"], "INPUT: not valid UTF-8 (byte 0xe9)"),
        (["look", "{run}", "--text", "a", "--target", "\udcff"], "--target: not valid UTF-8 (byte 0xff)"),
        (["look", "{run}", "--text", "a", "--next", "--prefix", "\udcff"], "--prefix: not valid UTF-8"),
        (["look", "{run}", "--text", "a", "--why", "gradient", "--output", "\udcff"], "--output: not valid UTF-8"),
        (["translate", "{run}", "--text", "a", "--set", "stop=caf\udce9"], "--set: not valid UTF-8"),
        (["show", "loss", "{run}", "--text", "a", "--target", "\ud800"], "--target: not valid UTF-8 ('\\ud800')"),
    ],
)
def test_an_argument_in_another_encoding_is_refused(
    trained: Path, capsys: Captured, arguments: list[str], sentence: str
) -> None:
    assert main([word.format(run=trained) for word in arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith(f"regard: {sentence}")
    assert captured.err.endswith("; give texts and names in UTF-8.\n")


def test_names_of_files_may_hold_any_bytes(trained: Path, tmp_path: Path) -> None:
    named, out = tmp_path / "t\udce9n.en", tmp_path / "o\udce9t.pt"
    named.write_text("I see.\nI read.\n")
    assert main(["translate", str(trained), str(named), "-o", str(out)]) == 0
    assert out.read_bytes().count(b"\n") == 2


def test_the_repair_of_a_file_can_be_typed(tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, content in {"old": OLD, "a b.txt": OLD, "wide b.txt": WIDE, "one": b"Eu vejo.\r\n"}.items():
        Path(name).write_bytes(content)
    told = "is one line with carriage returns in it; if these end its lines,"
    assert rf"old {told} convert it: tr '\r' '\n' < old > FILE" in _scored("old", 0, capsys)
    assert rf"a b.txt {told} convert it: tr '\r' '\n' < 'a b.txt' > FILE" in _scored("a b.txt", 0, capsys)
    assert "one line" not in _scored("one", 0, capsys)
    assert "convert it: iconv -f UTF-16 -t UTF-8 < 'wide b.txt' > FILE\n" in _scored("wide b.txt", 2, capsys)
    for content, status, advice in (
        (OLD, 0, rf"standard input {told} pipe it through: tr '\r' '\n'"),
        (WIDE, 2, "it begins as UTF-16, so pipe it through: iconv -f UTF-16 -t UTF-8"),
    ):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        assert f"{advice}\n" in _scored("-", status, capsys)


def test_standard_input_has_one_name(tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("one").write_text("Eu vejo.\n")
    for content, status, sentence in (
        (b"Eu vejo.\n", 0, "standard input holds the same lines as its reference one"),
        (b"", 2, "standard input is empty"),
        (b"a\nb\n", 2, "standard input has 2 lines but one has 1 line"),
    ):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        assert sentence in _scored("-", status, capsys)


def _scored(hypothesis: str, status: int, capsys: Captured) -> str:
    """Score outputs against the file `one`, and return what the command says besides the results."""
    assert main(["score", "--hypothesis", hypothesis, "--reference", "one"]) == status
    return capsys.readouterr().err
