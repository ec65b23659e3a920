"""Taggers through the command line: train, evaluate by spans and their types, answer in every form, and refusals."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
import tomli_w
from small import undrawn
from tagged_files import CHUNKS, write_tagged

import regard
from regard.cli import main


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a tagger that knows the previous tag, trained until it can chunk."""
    folder = tmp_path_factory.mktemp("tagger")
    train, test = (str(write_tagged(folder / f"{name}.txt", 40, seed)) for name, seed in (("train", 1), ("test", 2)))
    letters = {"embedding": 8, "width": 16}
    training = {"steps": 16, "validate_every": 16, "batch_tokens": 200, "best_by": "f1", "device": "cpu"}
    table: dict[str, Any] = {
        "family": "rnn",
        "task": "tagging",
        "data": {"train": train, "test": test, **CHUNKS},
        "model": {"inputs": {"width": 6}, "width": 16, "letters": letters, "previous_label": True, "dropout": 0.0},
        "training": training | {"optimizer": {"learning_rate": 0.04, "warmup": 0}},
    }
    (folder / "recipe.toml").write_text(tomli_w.dumps(table), encoding="utf-8")
    with undrawn():
        assert main(["train", str(folder / "recipe.toml"), "--out", str(folder / "run")]) == 0
    return folder / "run"


def test_it_is_scored_by_spans_and_by_their_types(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", str(run), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    scores = {score["metric"]: score["value"] for score in report["scores"]}
    assert (scores["f1"], scores["accuracy_of_unknown"]) == (1.0, 1.0)
    parts = {
        name: {score["metric"]: score["n"] for score in scores_of_part}
        for name, scores_of_part in report["parts"].items()
    }
    assert parts.keys() == {"NP", "VP"}
    assert sum(part["f1"] for part in parts.values()) == report["scores"][0]["n"]
    assert main(["evaluate", str(run), "--metric", "bleu"]) == 2
    assert "An rnn is measured by f1, precision, recall, accuracy" in capsys.readouterr().err


def test_words_are_answered_in_their_order(
    run: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = b"the bedo fita .\n\nthe mupo\n"
    for options, expected in (
        ([], ["B-NP I-NP B-VP O", "", "B-NP I-NP"]),
        (["--beam", "3"], ["B-NP I-NP B-VP O", "", "B-NP I-NP"]),
        (["--spans"], ["[NP the bedo] [VP fita] .", "", "[NP the mupo]"]),
    ):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(lines)))
        assert main(["answer", str(run), *options]) == 0
        assert capsys.readouterr().out.split("\n") == [*expected, ""]


def test_raw_text_is_cut_and_json_has_it_all(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["answer", str(run), "the bedo fita.", "--raw", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["words"], report["answers"]) == (["the", "bedo", "fita", "."], ["B-NP", "I-NP", "B-VP", "O"])
    assert report["spans"] == [["NP", 0, 2], ["VP", 2, 3]]
    assert all(0.5 < probability <= 1 for probability in [*report["probabilities"], report["probability"]])
    (tags,) = regard.load(run).answer([["the", "bedo", "fita", "."]], beam=2)
    assert tags.answer == "B-NP I-NP B-VP O"


def test_its_gates_are_drawn_word_by_word(run: Path, tmp_path: Path) -> None:
    assert main(["show", "gates", str(run), "--text", "the bedo", "-o", str(tmp_path / "gates.json")]) == 0
    assert json.loads((tmp_path / "gates.json").read_text(encoding="utf-8"))["words"] == ["the", "bedo"]


def test_a_page_is_written_once(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["answer", str(run), "the bedo fita .", "-o", str(tmp_path / "tags.html")]
    assert main(command) == 0
    assert "bedo" in (tmp_path / "tags.html").read_text(encoding="utf-8")
    assert main(command) == 2
    assert "exists" in capsys.readouterr().err
    assert main([*command, "--overwrite"]) == 0


def test_what_it_cannot_do_is_refused(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command, what in (
        (["look", str(run), "the bedo"], "; it can train, evaluate, answer, info"),
        (["generate", str(run)], "; use `regard answer`. It can train, evaluate, answer, info"),
    ):
        assert main(command) == 2
        assert f"An rnn gives a tag for each word{what}" in capsys.readouterr().err
    assert main(["info", str(run)]) == 0
    message = capsys.readouterr().out
    assert "scheme" in message
    assert "letters.reader " in message  # a table within a table, by the names that a recipe has
    assert "{" not in message
