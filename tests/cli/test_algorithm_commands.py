"""A memory machine on the command line: answers, scores by length, attention, and refusals."""

import json
from pathlib import Path

import pytest
from small import undrawn

from regard.base.progress import silent
from regard.cli import main
from regard.commands.train import say_result
from regard.families import check_recipe
from regard.runs.open import open_run
from regard.runs.train import train


@pytest.fixture(scope="module")
def copier(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a neural Turing machine trained for a second or two to copy an item of two bits."""
    folder = tmp_path_factory.mktemp("copier")
    held_out = {"items": [1, 4], "examples": 2}
    data = {"algorithm": "copy", "bits": 2, "most": 1, "valid": {"items": [1], "examples": 20}, "test": held_out}
    model = {"slots": 6, "depth": 4, "width": 16, "controller": "feed-forward"}
    training = {"steps": 60, "validate_every": 60, "batch": 8, "device": "cpu", "optimizer": {"learning_rate": 0.02}}
    recipe = check_recipe({"family": "ntm", "data": data, "model": model, "training": training})
    with undrawn():
        facts = train(open_run(recipe, folder, False, silent, lambda remark: None), [])
    assert facts.losses[0][1] > 0.65
    assert dict(facts.validations)[60]["bit_error"] < 25
    return folder


def test_it_answers_lines_of_bits_and_refuses_others(copier: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["answer", str(copier), "10 01", "11", "--json"]) == 0
    first, second = map(json.loads, capsys.readouterr().out.splitlines())
    assert len(first["answer"].split()) == 2
    assert second["probabilities"] == {second["answer"]: second["probability"]}
    assert main(["answer", str(copier), "10 2"]) == 2
    assert "Text 1: '2' is not an item of 2 bits; it must be items, as in '01 11'." in capsys.readouterr().err


def test_the_example_that_training_ends_with_is_one_it_can_read(
    copier: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    say_result(copier)
    assert capsys.readouterr().err.endswith(f"try: regard answer {copier} '01 11'\n")


def test_its_scores_are_told_by_length_also_beyond_what_it_learnt(
    copier: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["evaluate", str(copier), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert [*report["parts"]] == ["1 item", "4 items"]
    assert [score["metric"] for score in report["scores"]] == ["loss", "bit_error", "exact"]


def test_what_it_looked_at_is_drawn(copier: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["look", str(copier), "10 01 11", "-o", str(tmp_path / "copy.gif")]) == 0
    assert (tmp_path / "copy.gif").read_bytes()[:4] == b"GIF8"
    assert main(["look", str(copier), "10 01 11", "--head", "2"]) == 0
    assert "write, steps 1 to 7, slot by slot" in capsys.readouterr().out
    assert main(["look", str(copier), "10", "01"]) == 2
    assert "reads an example; give one to look at, not 2" in capsys.readouterr().err
