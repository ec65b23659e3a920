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


@pytest.mark.long
def test_embedding_example(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "embedding"]) == 0
    output = capsys.readouterr().out
    assert "W · onehot = (0.1, −0.3, 1.4, 0.2, 0.5)" in output
    assert "embedding E                    10,000 × 512  5,120,000" in output
    assert len(every_form(["embedding", "--vocabulary", "20", "--width", "4"], tmp_path)["tables"]) == 6
    assert "20 × 4" in (tmp_path / "x.svg").read_text(encoding="utf-8")


def test_embedding_of_a_model(translator: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "embedding", translator, "--text", "Ana reads"]) == 0
    assert "equal to the last digit" in capsys.readouterr().out
    assert "no examples of its own; give a sentence with --text" in refusal(["embedding", translator], capsys)
    assert "--text is for a model" in refusal(["embedding", "--text", "Ana"], capsys)
    assert ".png, .svg, .json or .html" in refusal(["embedding", "-o", str(tmp_path / "x.pdf")], capsys)


@pytest.mark.long
def test_feed_forward(translator: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "feed-forward"]) == 0
    assert "France     0.0    0.0    3.5   0.5" in capsys.readouterr().out
    assert len(every_form(["feed-forward"], tmp_path)["tables"]) == 4
    command = ["show", "feed-forward", translator, "--text", "Ana reads"]
    assert main([*command, "--layer", "1", "--units", "2", "--tokens", "1"]) == 0
    output = capsys.readouterr().out
    assert "encoder block 1, 2 of 8 units, 1 text, 3 tokens" in output
    assert main([*command, "--unit", "3", "--json"]) == 0
    assert [row[0] for row in json.loads(capsys.readouterr().out)["tables"][0]["rows"]] == ["3"]
    assert "--text is for a model" in refusal(["feed-forward", "--text", "Ana"], capsys)
    assert "there is no unit 99" in refusal([*command[1:], "--unit", "99"], capsys)


def test_permutation(translator: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "permutation"]) == 0
    output = capsys.readouterr().out
    assert "не                       4              1                         0           1.021" in output
    assert "очень хорошо, совсем не плохо" in output
    tables = every_form(["permutation", "--text", "a b c", "--other", "b a c", "--seed", "3"], tmp_path)["tables"]
    assert [table["rows"] for table in tables[:3]] == [["a", "b", "c"], ["a", "b", "c"], ["b", "a", "c"]]
    assert main(["show", "permutation", "--model", translator, "--text", "Ana reads a book"]) == 0
    assert capsys.readouterr().out.splitlines()[4].split()[:4] == ["book", "4", "1", "0"]
    assert "the same words" in refusal(["permutation", "--text", "a b", "--other", "a c"], capsys)
    assert "--other is another order of --text; give both" in refusal(["permutation", "--other", "a c"], capsys)


@pytest.mark.long
def test_learnt_positions(translator: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["positions", "--model", translator]
    assert main(["show", *command]) == 0
    assert "source_places: the first 20 of 20 places" in capsys.readouterr().out
    tables = every_form([*command, "--length", "5"], tmp_path)["tables"]
    assert [len(table["rows"]) for table in tables] == [5, 5, 2] * 2
    assert "--heads is for computed encodings; omit it with --model" in refusal([*command, "--heads", "2"], capsys)
    sinusoidal = str(untrained_folder(tmp_path / "sinusoidal", "transformer"))
    assert "has learnt no positions" in refusal(["positions", "--model", sinusoidal], capsys)


def test_a_page_of_computed_positions(tmp_path: Path) -> None:
    assert main(["show", "positions", "--length", "5", "--width", "6", "-o", str(tmp_path / "p.html")]) == 0
    assert "dot product of sinusoids" in (tmp_path / "p.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["embedding", "MODEL", "--width", "100"], "--width is for the table of sizes without a model; omit it with a"),
        (["embedding", "MODEL", "--vocabulary", "9"], "--vocabulary is for the table of sizes without a model"),
        (["feed-forward", "--layer", "5"], "--layer is for a model; name its folder first, or omit the option."),
        (["feed-forward", "--unit", "3"], "--unit is for a model"),
        (["feed-forward", "--tokens", "5"], "--tokens is for a model"),
        (["feed-forward", "MODEL", "--units", "3", "--unit", "1"], "--unit shows one unit alone; omit --units."),
        (["permutation", "--model", "MODEL", "--seed", "4"], "--seed is for the vectors of the example; omit it with"),
        (["positions", "--kind", "sinusoidal", "--heads", "3"], "--heads has no effect on sinusoidal positions; omit"),
        (["positions", "--kind", "alibi", "--width", "8"], "--width has no effect on alibi positions; omit it."),
    ],
)
def test_options_without_effect_are_refused(
    translator: str, words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert sentence in refusal([translator if word == "MODEL" else word for word in words], capsys)


def test_help_of_positions_says_that_a_file_is_needed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "positions", "--help"]) == 0
    output = " ".join(capsys.readouterr().out.split())
    assert "needed unless --json or --model is given" in output
    assert "print to the terminal" not in output
    assert "name a file, as in -o positions.png" in refusal(["positions"], capsys)
