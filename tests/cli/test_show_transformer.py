"""Lessons of `regard show` about the parts of a Transformer: every form, and what they refuse."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from regard.cli import main

sys.path.insert(0, str(Path(__file__).parents[1] / "seeing" / "lessons"))
from untrained import untrained_folder


@pytest.fixture(scope="module")
def translator(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("models") / "transformer"
    return str(untrained_folder(folder, "transformer", positions="learned"))


def every_form(asked: list[str], folder: Path) -> Any:
    """Ask for a picture, a drawing, a page and numbers, and return the numbers."""
    for suffix in ("png", "svg", "html", "json"):
        assert main(["show", *asked, "-o", str(folder / f"x.{suffix}")]) == 0
    assert (folder / "x.png").read_bytes().startswith(b"\x89PNG")
    assert b"<svg" in (folder / "x.svg").read_bytes()
    assert "lesson-table" in (folder / "x.html").read_text(encoding="utf-8")
    return json.loads((folder / "x.json").read_text(encoding="utf-8"))


def refusal(asked: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    assert main(["show", *asked]) == 2
    return capsys.readouterr().err


def test_embedding_example(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "embedding"]) == 0
    said = capsys.readouterr().out
    assert "W · onehot = (0.1, −0.3, 1.4, 0.2, 0.5)" in said
    assert "embedding E                    10,000 × 512  5,120,000" in said
    assert len(every_form(["embedding", "--vocabulary", "20", "--width", "4"], tmp_path)["tables"]) == 6
    assert "20 × 4" in (tmp_path / "x.svg").read_text(encoding="utf-8")


def test_embedding_of_a_model(translator: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "embedding", translator, "--text", "Ana reads"]) == 0
    assert "equal to the last digit" in capsys.readouterr().out
    assert "no examples of its own; give a sentence with --text" in refusal(["embedding", translator], capsys)
    assert "--text is for a model" in refusal(["embedding", "--text", "Ana"], capsys)
    assert ".png, .svg, .json or .html" in refusal(["embedding", "-o", str(tmp_path / "x.pdf")], capsys)
