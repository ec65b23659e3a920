"""`regard translate` from file to file with overlapping portions: the output is the same as one by one."""

from pathlib import Path

import pytest

from regard.cli import main
from regard.decoding.step_graphs import CapturedSteps
from regard.verbs.translate import line_translator, unfinished

LINES = ["the cat sees the dog", "", "a bird sings", "  the boy reads", "the girl sees a bird", "the dog"]


@pytest.fixture
def translated(trained: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the translation of portions of two lines one after another, the usual way."""
    monkeypatch.setattr(line_translator, "PORTION", 2)
    monkeypatch.setattr(unfinished, "PORTION", 2)
    assert main(["translate", str(trained), str(written(tmp_path / "in", LINES)), "-o", str(tmp_path / "plain")]) == 0
    monkeypatch.setattr("regard.verbs.translate.stages.captures_for", lambda task: CapturedSteps())
    return (tmp_path / "plain").read_text(encoding="utf-8").splitlines()


def written(path: Path, lines: list[str]) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def test_overlapped_portions_give_the_same(trained: Path, tmp_path: Path, translated: list[str]) -> None:
    assert main(["translate", str(trained), str(tmp_path / "in"), "-o", str(tmp_path / "out")]) == 0
    assert (tmp_path / "out").read_text(encoding="utf-8").splitlines() == translated
    assert translated[1] == ""
    assert translated[0]


def test_what_comes_before_a_line_that_is_refused_is_kept_and_gone_on_with(
    trained: Path, tmp_path: Path, translated: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["translate", str(trained), str(tmp_path / "in"), "-o", str(tmp_path / "out")]
    written(tmp_path / "in", [*LINES[:4], "the cat " * 1000, *LINES[5:]])
    assert main(command) == 2
    assert "Line 5: " in capsys.readouterr().err
    written(tmp_path / "in", LINES)
    assert main([*command, "--resume"]) == 0
    assert (tmp_path / "out").read_text(encoding="utf-8").splitlines() == translated
