"""Networks that name drawings: what they learn, what changes no answer, and refusals."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from small import undrawn
from stroke_files import rings, write_archive, write_drawings, write_labelled_drawings

from regard.base.faults import Fault
from regard.base.progress import silent
from regard.data.strokes.drawings import moves_of
from regard.families import check_recipe
from regard.runs.open import Run, open_run
from regard.runs.train import train

SIZES = {
    "sketchformer": {"width": 8, "layers": 1, "heads": 2, "feed_forward": 8, "dropout": 0.0},
    "sketch-rnn": {"width": 8, "hidden": 8, "dropout": 0.0},
}
RING = [np.array([[8, 0, 0], [0, 8, 0], [-8, 0, 0], [0, -8, 1]])]


def table_of(folder: Path, family: str = "sketchformer", data: dict[str, Any] | None = None) -> dict[str, Any]:
    named = {"train": str(write_labelled_drawings(folder / "drawings.jsonl", 40)), **(data or {})}
    training = {"steps": 40, "validate_every": 40, "batch": 16, "device": "cpu", "optimizer": {"learning_rate": 0.02}}
    training["optimizer"]["warmup"] = 5
    return {"family": family, "task": "recognition", "data": named, "model": SIZES[family], "training": training}


def opened(folder: Path, **about: Any) -> Run:
    return open_run(check_recipe(table_of(folder, **about)), folder / "run", True, silent, lambda remark: None)


@pytest.mark.parametrize(
    ("family", "data"),
    [("sketchformer", {}), ("sketch-rnn", {"coding": "grid", "cells": 9})],
)
def test_rings_are_told_from_crosses(tmp_path: Path, family: str, data: dict[str, Any]) -> None:
    run = opened(tmp_path, family=family, data=data)
    with undrawn():
        train(run, [])
    ring = np.array(rings(1)[0][0])
    (answer,) = run.task.eval().answers(run.task.read([moves_of([ring])]))
    assert answer.answer == "ring"
    assert sum(answer.probabilities.values()) == pytest.approx(1)


def test_a_longer_neighbour_changes_no_answer(tmp_path: Path) -> None:
    task = opened(tmp_path).task.double().eval()
    long = np.array([[1, 0, 0], [0, 1, 0], [1, 1, 0], [-1, 2, 0], [0, -1, 1]])
    (alone,), (beside, _) = task.answers(task.read(RING)), task.answers(task.read([*RING, long]))
    assert beside.probabilities == pytest.approx(alone.probabilities, rel=1e-12)


def test_what_is_learnt_from_is_distorted_and_what_is_measured_is_not(tmp_path: Path) -> None:
    table = table_of(tmp_path)
    table["training"]["distort"] = 0.5
    task = open_run(check_recipe(table), tmp_path / "run", True, silent, lambda remark: None).task
    learnt, measured = (next(iter(task.batches(split, 1, 0, 0))) for split in ("train", "valid"))
    still = torch.eye(2).expand(measured.rows, 2, 2)
    assert torch.equal(measured.maps, still)
    assert 0.3 < (learnt.maps - torch.eye(2)).std() < 0.7


def test_the_classes_of_whole_files(tmp_path: Path) -> None:
    moves = [np.array([[n, 3, 0], [2, n, 1]]) for n in range(1, 9)]
    archive = str(write_archive(tmp_path / "a.npz", train=moves, valid=moves[:2]))
    data = {"train": [archive, archive], "valid": [archive, archive], "labels": ["one", "other"]}
    run = opened(tmp_path, data=data)
    assert run.task.scale.classes == ["one", "other"]
    assert next(iter(run.task.batches("valid", 0, 0, 0))).labels.tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"model": {"latent": 3}}, "model.latent is for networks that draw; a classifier has none"),
        ({"model": {"gaussians": 3}}, "model.gaussians is for networks that draw; a classifier has none"),
        ({"training": {"distort": 0.1}, "data": {"coding": "grid"}}, "training.distort is for data.coding = 'triples'"),
        ({"data": {"labels": ["a", "b"]}}, "train has 1 files, but there are 2 labels"),
        ({"data": {"labels": [" "]}}, "labels must not be empty"),
        ({"training": {"divergence": 0.1}}, "training.divergence belongs to the task strokes"),
    ],
)
def test_an_option_without_effect_is_refused(changes: dict[str, Any], words: str) -> None:
    data = {"train": "a.jsonl"} | changes.get("data", {})
    with pytest.raises(Fault, match=words):
        check_recipe({"family": "sketchformer", "task": "recognition", **changes, "data": data})


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (
            [{"label": "a", "strokes": [[[0, 0], [1, 1]]]}] * 20,
            "The drawings of data.train have one class; a classifier needs 2 to 10,000",
        ),
        ([[[[0, 0], [1, 1]]]] * 20, "No drawing of data.train has a label; write each as"),
        (
            [{"label": 3, "strokes": [[[0, 0], [1, 1]]]}],
            "line 1: the label of a drawing must be a text that is not empty",
        ),
    ],
)
def test_drawings_that_have_no_classes_are_refused(tmp_path: Path, lines: list[Any], words: str) -> None:
    (tmp_path / "bad.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    with pytest.raises(Fault, match=words):
        opened(tmp_path, data={"train": str(tmp_path / "bad.jsonl")})


def test_drawings_with_other_classes_than_those_to_learn_from_are_refused(tmp_path: Path) -> None:
    other = {"label": "star", "strokes": [[[0, 0], [1, 1]]]}
    (tmp_path / "other.jsonl").write_text(json.dumps(other), encoding="utf-8")
    with pytest.raises(Fault, match=r"data\.valid has the label 'star', which no training drawing has"):
        opened(tmp_path, data={"valid": str(tmp_path / "other.jsonl")})
    with pytest.raises(Fault, match=r"A drawing of data\.valid has no label; write it as"):
        opened(tmp_path, data={"valid": str(write_drawings(tmp_path / "plain.jsonl", 2))})
