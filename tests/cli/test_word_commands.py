"""Neighbours, analogies and scores of word vectors in a file, through the command line."""

import io
import json
import sys
from pathlib import Path

import pytest

from regard.cli import main

VECTORS = "5 2\nrei 1 0.1\nrainha 0.9 0.4\nhomem 0.5 -1\nmulher 0.4 -0.7\nmaçã -1 0\n"


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "pt.vec"
    path.write_text(VECTORS, encoding="utf-8")
    return str(path)


def test_neighbours_come_as_a_table_and_as_json(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["neighbours", file, "rei", "Mulher", "--count", "2"]) == 0
    captured = capsys.readouterr()
    assert [line.split() for line in captured.out.splitlines()] == [
        ["word", "neighbour", "cosine"],
        ["rei", "rainha", "0.9497"],
        ["rei", "mulher", "0.4073"],
        ["mulher", "homem", "0.9985"],
        ["mulher", "rei", "0.4073"],
    ]
    assert "'Mulher' is not in the vocabulary; 'mulher' is used instead" in captured.err
    assert main(["neighbours", file, "Mulher", "--count", "1", "--json", "--vocabulary", "4"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report == {"query": "Mulher", "word": "mulher", "neighbours": [["homem", pytest.approx(0.99846, abs=1e-5)]]}


def test_words_are_read_from_standard_input(
    file: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("maçã\n\nrei\n".encode())))
    assert main(["neighbours", file, "--json"]) == 0
    assert [json.loads(line)["word"] for line in capsys.readouterr().out.splitlines()] == ["maçã", "rei"]


def test_an_analogy_is_solved(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["analogy", file, "homem", "rei", "mulher"]) == 0
    assert capsys.readouterr().out.splitlines()[1].split()[0] == "rainha"
    assert main(["analogy", file, "homem", "rei", "mulher", "--json", "--count", "1"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["words"], report["word"], len(report["neighbours"])) == (["homem", "rei", "mulher"], "rainha", 1)


def test_vectors_of_a_file_are_scored(file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    analogies, pairs = tmp_path / "analogies.txt", tmp_path / "pairs.tsv"
    analogies.write_text(": família\nHomem rei mulher rainha\nhomem rei tia rainha\n", encoding="utf-8")
    pairs.write_text("rei\trainha\t9\nrei\tmaçã\t1\nrei\tmulher\t5\nrei\ttia\t3\n", encoding="utf-8")
    command = ["evaluate", file, "--analogies", str(analogies), "--similarities", str(pairs)]
    assert main(command) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[1:] for line in lines[1:]] == [
        ["família", "accuracy", "1.0000", "1", "of", "2", "50.0%"],
        ["total", "accuracy", "1.0000", "1", "of", "2", "50.0%"],
        ["unknown", "words", "omitted", "spearman", "1.0000", "3", "of", "4", "75.0%"],
    ]
    assert main([*command, "--json", "--own-case"]) == 0
    family, total, likeness = json.loads(capsys.readouterr().out)["scores"]
    assert (family["value"], family["n"], family["asked"], total["section"]) == (None, 0, 2, "total")
    signature = f"similarities:{pairs}|vocabulary:300000|case:own|unknown:omitted|covered:3/4|range:-1-1"
    assert likeness["signature"] == signature
    assert likeness["coverage"] == 0.75


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["neighbours", "FILE", "reinha"], "The word 'reinha' is not among the 5 of pt.vec; did you mean 'rainha'?"),
        (["neighbours", "FILE", "rei", "--side", "mean"], "is a file, which has only one set of vectors; omit --side."),
        (["neighbours", "FILE.gone", "rei"], "There is no file"),
        (["analogy", "FILE", "rei", " ", "rei"], "B: it is blank; give some text"),
        (
            ["evaluate", "FILE"],
            "--analogies or --similarities, as --analogies word-vectors-eval:questions-words.txt.gz",
        ),
        (["evaluate", "FILE", "--split", "test"], "--split is for model folders"),
        (["evaluate", "FILE", "--analogies", "FILE.gone"], "There is no file"),
    ],
)
def test_what_cannot_be_done_is_said(
    file: str, arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([argument.replace("FILE", file) for argument in arguments]) == 2
    assert sentence in capsys.readouterr().err
