"""Options added later: new runs record them, and a run without them continues as it began."""

from pathlib import Path
from typing import Any

import pytest
import torch

from regard.base.faults import Fault
from regard.base.progress import silent
from regard.data.algorithms.options import AlgorithmData
from regard.data.labelled.options import LabelledData
from regard.data.tagging.options import HoldOut
from regard.families import check_recipe
from regard.runs.open import Run, open_run
from regard.training.checkpoint import read_recipe


@pytest.fixture
def sorted_texts(tmp_path: Path) -> dict[str, Any]:
    """Return a recipe for a file in which one class follows the other."""
    lines = "".join(f"{label} text {number}\n" for label in ("bad", "good") for number in range(20))
    (tmp_path / "texts.txt").write_text(lines, encoding="utf-8")
    data = {"train": str(tmp_path / "texts.txt"), "tokeniser": {"kind": "words"}}
    return {"family": "bag", "data": data, "training": {"steps": 2, "device": "cpu"}}


def opened(table: dict[str, Any], folder: Path, resume: bool = False) -> Run:
    return open_run(check_recipe(table), folder, resume, silent, lambda text: None)


def validation_classes(run: Run) -> set[int]:
    return set(run.prepared.splits["valid"].labels.tolist())


def test_a_new_run_holds_out_some_of_each_class_and_says_so(sorted_texts: dict[str, Any], tmp_path: Path) -> None:
    run = opened(sorted_texts, tmp_path / "run")
    assert validation_classes(run) == {0, 1}
    assert read_recipe(tmp_path / "run")["data"]["hold_out_by"] == "class"
    again = opened(sorted_texts, tmp_path / "run", resume=True)
    assert again.recipe.data.hold_out_by == "class"
    assert validation_classes(again) == {0, 1}


def test_an_older_run_keeps_its_split(
    sorted_texts: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:  # as before there was a choice
        patch.setattr(LabelledData, "NEW_RUNS", {})
        assert validation_classes(opened(sorted_texts, tmp_path / "run")) == {1}
    assert "hold_out_by" not in read_recipe(tmp_path / "run")["data"]
    assert validation_classes(opened(sorted_texts, tmp_path / "run", resume=True)) == {1}
    (tmp_path / "run" / "training" / "corpus" / "finished.json").unlink()  # it is prepared again as before
    assert validation_classes(opened(sorted_texts, tmp_path / "run", resume=True)) == {1}
    changed = sorted_texts | {"data": sorted_texts["data"] | {"hold_out_by": "class"}}
    with pytest.raises(Fault, match=r"data\.hold_out_by"):
        opened(changed, tmp_path / "run", resume=True)


def test_algorithms_are_measured_on_examples_drawn_apart_and_older_runs_on_theirs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = {"algorithm": "copy", "bits": 2, "most": 3, "valid": {"items": [3], "examples": 4}}
    table = {"family": "lstm", "data": data, "model": {"width": 4}, "training": {"steps": 2, "device": "cpu"}}
    with monkeypatch.context() as patch:
        patch.setattr(AlgorithmData, "NEW_RUNS", {})
        older = next(opened(table, tmp_path / "old").task.batches("valid", 1, 0, 0))
    new = next(opened(table, tmp_path / "new").task.batches("valid", 1, 0, 0))
    assert not torch.equal(new.inputs, older.inputs)
    assert read_recipe(tmp_path / "new")["data"]["held_out_keys"] == "apart"
    for name, first in (("old", older), ("new", new)):
        again = next(opened(table, tmp_path / name, resume=True).task.batches("valid", 1, 0, 0))
        assert torch.equal(again.inputs, first.inputs)


def test_taggers_hold_out_by_tags_and_older_ones_by_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = "".join(f"w{number}_{'N' if number < 30 else 'V'}\n" for number in range(40))
    (tmp_path / "tags.txt").write_text(lines, encoding="utf-8")
    data = {"train": str(tmp_path / "tags.txt"), "layout": "joined"}
    table = {"family": "rnn", "task": "tagging", "data": data, "training": {"steps": 2, "device": "cpu"}}
    assert opened(table, tmp_path / "new").recipe.data.hold_out.by == "tags"
    assert read_recipe(tmp_path / "new")["data"]["hold_out"]["by"] == "tags"
    # Older runs wrote "place" into their recipes even when it was not set.
    with monkeypatch.context() as patch:
        patch.setattr(HoldOut, "NEW_RUNS", {"by": "place"})
        opened(table, tmp_path / "old")
    assert opened(table, tmp_path / "old", resume=True).recipe.data.hold_out.by == "place"
    assert opened(table, tmp_path / "new", resume=True).recipe.data.hold_out.by == "tags"
