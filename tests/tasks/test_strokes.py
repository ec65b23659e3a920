"""Networks that draw: what they may look at, a drawing's probability by hand, and requests."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from stroke_files import rings, write_drawings

from regard.base.faults import Fault
from regard.base.progress import silent
from regard.families import check_recipe
from regard.protocols import SketchRequest
from regard.runs.open import open_run
from regard.tasks.strokes.task import Strokes

SIZES = {
    "sketchformer": {"width": 8, "layers": 1, "heads": 2, "feed_forward": 8, "dropout": 0.0},
    "sketch-rnn": {"width": 8, "hidden": 6, "dropout": 0.0},
}
CODINGS: dict[str, dict[str, Any]] = {
    "triples": {},
    "grid": {"coding": "grid", "cells": 9},
    "dictionary": {"coding": "dictionary", "movements": 8},
}


def task_of(folder: Path, family: str = "sketchformer", coding: str = "triples", **model: Any) -> Strokes:
    """Return an untrained network for rings, in float64."""
    data = {"train": str(write_drawings(folder / "rings.jsonl", 24)), **CODINGS[coding]}
    training = {"steps": 1, "batch": 4, "device": "cpu"}
    table = {"family": family, "data": data, "model": SIZES[family] | model, "training": training}
    run = open_run(check_recipe(table), folder / "run", True, silent, lambda remark: None)
    return run.task.double().eval()


@pytest.mark.parametrize("coding", CODINGS)
@pytest.mark.parametrize("family", SIZES)
def test_a_later_step_changes_no_earlier_output_and_reading_on_is_reading_whole(
    tmp_path: Path, family: str, coding: str
) -> None:
    task = task_of(tmp_path, family, coding)
    read = task.kind.read(next(iter(task.batches("valid", 0, 0, 0))), torch.float64)
    whole, _ = task.model(read.inputs)
    first, memory = task.model(read.inputs[:, :3])
    then, _ = task.model(read.inputs[:, 3:], None, memory)
    torch.testing.assert_close(torch.cat([first, then], dim=1), whole)


def test_nats_by_hand(tmp_path: Path) -> None:
    """One standard Gaussian at the scale of the drawings, with equally probable pens."""
    task = task_of(tmp_path, gaussians=1)
    with torch.no_grad():
        task.model.out.weight.zero_(), task.model.out.bias.zero_()
    batch = task.read([np.array([[3, 4, 0], [0, 0, 1]])])
    scale = task.scale.scale
    cost = math.log(2 * math.pi * scale**2) + math.log(3)
    expected = 2 * cost + (3**2 + 4**2) / scale**2 / 2
    assert task.measure(batch)["nats"].value == pytest.approx(expected)
    assert task.measure(batch)["nats_per_point"].value == pytest.approx(expected / 2)


def test_nats_of_tokens_by_hand(tmp_path: Path) -> None:
    """Equally probable tokens, with equally many points in each cell."""
    task = task_of(tmp_path, coding="grid")
    with torch.no_grad():
        task.model.enter.weight.zero_()
    batch = task.read([np.array([[3, 4, 1], [1, 0, 1]])])
    assert batch.lengths.tolist() == [4]  # a cell, a separator, a cell, the end
    expected = 4 * math.log(3 + 81) + 2 * math.log(task.kind.coding.side**2)
    assert task.measure(batch)["nats"].value == pytest.approx(expected)


def test_the_divergence_by_hand(tmp_path: Path) -> None:
    task = task_of(tmp_path, latent=2)
    with torch.no_grad():
        task.model.summarise.weight.zero_()
        task.model.summarise.bias.copy_(torch.tensor([1.0, -2.0, 0.0, math.log(4.0)]))
    summary = task.model.sum_up(torch.zeros(1, 3, 7, dtype=torch.float64), torch.tensor([3]))
    assert summary.divergence().item() == pytest.approx(0.5 * (1 + 4 + 1 + 4 - 2 - math.log(4)))


@pytest.mark.parametrize("coding", CODINGS)
def test_what_is_begun_is_kept_and_the_first_of_many_is_that_of_one(tmp_path: Path, coding: str) -> None:
    task = task_of(tmp_path, "sketch-rnn", coding)
    strokes = [np.array(stroke, float) for stroke in rings(1)[0]]
    request = SketchRequest("complete", [strokes[:1]])
    three, one = (task.sketch(count, torch.Generator().manual_seed(1), request) for count in (3, 1))
    assert three[0].as_dict() == one[0].as_dict()
    start = strokes[0] - strokes[0][0]
    beginning = np.concatenate(three[0].strokes)[: len(start)]
    assert three[0].begun == len(start)
    limit = {"triples": 0, "grid": task.scale.bound / 4, "dictionary": 8}[coding]
    assert np.abs(beginning - start).max() <= limit


def test_the_way_between_begins_and_ends_with_what_is_drawn_again(tmp_path: Path) -> None:
    task = task_of(tmp_path, latent=3)
    first, second = ([np.array(stroke, float) for stroke in strokes] for strokes in rings(2))
    sketches = task.sketch(3, torch.Generator().manual_seed(1), SketchRequest("between", [first, second], 0.01))
    again = task.sketch(1, torch.Generator().manual_seed(1), SketchRequest("reconstruct", [first], 0.01))
    assert sketches[0].as_dict() == again[0].as_dict()
    with pytest.raises(Fault, match=r"only autoencoders can \(model\.latent above 0\)"):
        task_of(tmp_path / "..").sketch(1, torch.Generator(), SketchRequest("reconstruct", [first]))
    wide = [np.array([[0.0, 0.0], [9000.0, 0.0]])]
    with pytest.raises(Fault, match=r"The second drawing reaches 9,000 units from its beginning"):
        task.sketch(3, torch.Generator(), SketchRequest("between", [first, wide]))


@pytest.mark.parametrize(
    ("moves", "words"),
    [
        (np.array([[1, 0, 0]] * 99), "The drawing has 99 moves; the most is 7"),
        (np.array([[9000, 0, 1]]), "The drawing reaches 9,000 units from its beginning; the most is"),
    ],
)
def test_a_drawing_that_is_too_long_or_too_wide_is_refused(tmp_path: Path, moves: np.ndarray, words: str) -> None:
    with pytest.raises(Fault, match=words):
        task_of(tmp_path).read([moves])


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"data": {"cells": 5}}, "cells is for coding = 'grid', but coding is 'triples'"),
        ({"training": {"divergence": 0.5}}, "training.divergence is for autoencoders"),
        ({"data": {"coding": "grid"}, "model": {"gaussians": 3}}, "model.gaussians is for data.coding = 'triples'"),
    ],
)
def test_an_option_without_effect_is_refused(changes: dict[str, Any], words: str) -> None:
    table = {"family": "sketchformer", **changes, "data": {"train": "a.jsonl"} | changes.get("data", {})}
    with pytest.raises(Fault, match=words):
        check_recipe(table)


def test_drawings_of_which_none_is_short_enough_are_refused(tmp_path: Path) -> None:
    data = {"train": str(write_drawings(tmp_path / "rings.jsonl", 20)), "longest": 3}
    table = {"family": "sketchformer", "data": data, "training": {"device": "cpu"}}
    with pytest.raises(Fault, match=r"No drawing of data\.train has at most 3 moves"):
        open_run(check_recipe(table), tmp_path / "run", True, silent, lambda remark: None)
