"""The demo, which shows right translations, and says so where one is wrong."""

import shutil
import sys
from pathlib import Path

import pytest

from regard.cli import main
from regard.commands import demo


@pytest.mark.long
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_all_that_is_shown_is_right(seed: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--seed", str(seed), "--out", str(tmp_path / "demo")]) == 0
    shown = capsys.readouterr().out.splitlines()
    for source, right in demo.PORTUGUESE.sentences.items():
        assert f"  {source}  →  {right}" in shown


@pytest.mark.parametrize(
    ("called", "shown"),
    [("/place/regard/__main__.py", f"{sys.executable} -m regard"), (".venv/bin/regard", ".venv/bin/regard")],
)
def test_what_to_try_next_can_be_typed(called: str, shown: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", [called, "demo"])
    assert demo._how_called() == shown


def test_a_wrong_translation_is_told_with_the_right_one(
    trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """After twelve steps hardly anything is right."""
    shutil.copytree(trained, tmp_path / "run", ignore=shutil.ignore_patterns("training"))
    demo._show(tmp_path / "run", demo.PORTUGUESE)
    shown = capsys.readouterr().out
    assert "  I love books.  →  " in shown
    assert "  (the grammar says: As meninas comprarão três livros?)\n" in shown
