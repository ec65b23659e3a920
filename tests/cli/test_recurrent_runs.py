"""Recurrent translators through the same commands as the Transformer: train, resume, translate, score, look."""

import json
from pathlib import Path
from typing import Any

import pytest
from small import undrawn, write_recurrent_recipe

from regard.cli import main

pytestmark = pytest.mark.usefixtures("no_curves")

KINDS: dict[str, dict[str, Any]] = {
    "bottleneck": {"decoder": "bottleneck"},
    "bahdanau": {"decoder": "bahdanau", "cell": "gru"},
    "exploring": {"hard": "reinforce", "score": "mixed", "own_tokens": 0.5, "own_tokens_after": 4},
}


@pytest.fixture(
    params=["exploring", *(pytest.param(kind, marks=pytest.mark.long) for kind in ("bottleneck", "bahdanau"))],
    scope="module",
)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def run(kind: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp(kind)
    with undrawn():
        assert main(["train", str(write_recurrent_recipe(folder, **KINDS[kind])), "--out", str(folder / "run")]) == 0
    return folder / "run"


@pytest.mark.long
def test_resumed_is_never_stopped(run: Path, tmp_path: Path) -> None:
    """This includes batches that carry state over: a count of batches, a moving baseline."""
    recipe, again = run.parent / "recurrent.toml", tmp_path / "again"
    assert main(["train", str(recipe), "--out", str(again), "--set", "training.steps=5"]) == 0
    assert main(["train", str(recipe), "--out", str(again), "--resume"]) == 0
    assert (again / "weights.safetensors").read_bytes() == (run / "weights.safetensors").read_bytes()


def test_translates_scores_and_tells_about_itself(
    kind: str, run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = tmp_path / "text"
    text.write_text("I love books.\n\nAna sees the red house.\n", encoding="utf-8")
    capsys.readouterr()
    assert main(["translate", str(run), str(text), "--json"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [bool(line["text"]) for line in lines][1] is False
    if kind == "bottleneck":
        assert all(line["alignment"] == [] for line in lines)  # it has no attention, so it aligns nothing
    else:
        assert len(lines[2]["alignment"]) == len(lines[2]["text"].split())
    assert main(["evaluate", str(run), "--split", "valid", "--metric", "wer", "--metric", "exact", "--json"]) == 0
    assert [score["metric"] for score in json.loads(capsys.readouterr().out)["scores"]] == ["wer", "exact"]
    assert main(["info", str(run)]) == 0
    assert "seq2seq" in capsys.readouterr().out


def test_looks_or_says_that_it_cannot(kind: str, run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    status = main(["look", str(run), "--text", "I love books."])
    message = capsys.readouterr()
    if kind == "bottleneck":
        assert (status, "This model has no attention" in message.err) == (2, True)
        assert main(["heads", str(run)]) == 2
        assert "This model has no attention, so it has no heads to report on." in capsys.readouterr().err
    else:
        assert status == 0
        assert "books" in message.out


def test_attention_cannot_be_logged_where_there_is_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recipe = write_recurrent_recipe(tmp_path, decoder="bottleneck")
    assert main(["train", str(recipe), "--out", str(tmp_path / "run"), "--set", "training.log_attention=true"]) == 2
    assert "training.log_attention is true, but a bottleneck has no attention to log." in capsys.readouterr().err
