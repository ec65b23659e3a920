"""`regard evaluate --metric aer`: the alignment error rate of a translator's attention, from the command and Python."""

import json
from pathlib import Path

import pytest

import regard
from regard.cli import main


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    texts = {
        "source": "I love books.\nAna sleeps.\n",
        "reference": "Eu amo livros.\nAna dorme.\n",
        "alignments": "0-0 1-1 2?2\n0-0 1p1\n",
    }
    paths = {}
    for name, text in texts.items():
        paths[name] = tmp_path / name
        paths[name].write_text(text, encoding="utf-8")
    return paths


def asked(model: Path, files: dict[str, Path], *more: str) -> list[str]:
    options = [part for name, path in files.items() for part in (f"--{name}", str(path))]
    return ["evaluate", str(model), *options, "--metric", "aer", *more]


def test_the_error_rate_says_which_attention_it_is_of(
    trained: Path, files: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(asked(trained, files, "--json")) == 0
    printed = capsys.readouterr()
    (score,) = json.loads(printed.out)["scores"]
    assert (score["metric"], score["n"], score["split"]) == ("aer", 2, None)
    # With two blocks the last but one is the first; this model's validation data is unknown.
    assert score["signature"] == "attention:cross.1.mean|step:own|chosen:usual"
    assert "Links are read from the mean of the heads of cross-attention block 1, the default: " in printed.err
    # Five words give five links, three of them sure: the rate is 1 − (sure + possible found) / 8.
    assert (score["value"] * 8 / 100) % 1 == pytest.approx(0, abs=1e-9)
    by_python = regard.evaluate(trained, quiet=True, metrics=["aer"], **files)
    assert [score.value for score in by_python] == [score["value"]]


@pytest.mark.parametrize(
    ("file", "text", "words"),
    [
        ("alignments", "0-0\n", "has 1 line for 2 pairs; each pair needs one."),
        ("alignments", "0-0 3-1\n0-0\n", "Line 1 of the alignments has the link 3-1, but the source has 3 words"),
        ("alignments", "0-0\n0-2\n", "Line 2 of the alignments has the link 0-2, but the target has 2 words"),
        ("alignments", "0-0\n0=1\n", "Line 2 of the alignments has '0=1', which is not a link such as 0-0 or 1p2."),
        ("reference", "Eu amo livros.\n", "has 2 lines but"),
    ],
)
def test_bad_files_have_their_sentence(
    trained: Path, files: dict[str, Path], file: str, text: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    files[file].write_text(text, encoding="utf-8")
    assert main(asked(trained, files)) == 2
    assert words in capsys.readouterr().err


def test_links_are_needed_and_are_for_this_metric_alone(
    trained: Path, files: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    links = files.pop("alignments")
    assert main(asked(trained, files)) == 2
    assert "aer needs known links; give them as --alignments FILE" in capsys.readouterr().err
    options = ["--source", str(files["source"]), "--reference", str(files["reference"]), "--alignments", str(links)]
    assert main(["evaluate", str(trained), *options]) == 2
    assert "--alignments is for the alignment error rate; add --metric aer." in capsys.readouterr().err
