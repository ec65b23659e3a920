"""Batches cut into pieces: what they teach and what they carry over."""

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from regard.base.faults import Fault
from regard.base.recipe import check
from regard.protocols import Loss, Measure
from regard.training.options import TrainingOptions
from regard.training.snapshot import Validation, key_of
from regard.training.trainer import Trainer

sys.path.insert(0, str(Path(__file__).parent))
from toy_task import Line, Memory, Rows


def train(task: Any, steps: int = 12, **more: Any) -> Memory:
    """Run some updates of a task. Return the keeper of its checkpoints."""
    table = {"steps": steps, "validate_every": 1000, "save_every": 5, "optimizer": {"learning_rate": 0.05, "warmup": 2}}
    keeper, unvalidated = Memory(), Validation({"loss": Measure.of_value(1.0, "lower")})
    Trainer(task, check(TrainingOptions, table | more), 1, keeper, lambda: unvalidated).run()
    return keeper


@pytest.mark.parametrize("pieces", [2, 3, 16])
def test_pieces_learn_what_the_whole_batch_learns(pieces: int) -> None:
    """This holds without dropout, even if a batch has fewer rows than pieces; items are counted together."""
    whole, cut = (Line(dropout=0.0).double() for _ in range(2))
    for task in (whole, cut):
        task.batches = in_double(task.batches)
    one, two = train(whole, accumulate=2), train(cut, accumulate=2, pieces=pieces)
    for name, weight in whole.named_parameters():
        torch.testing.assert_close(cut.get_parameter(name), weight)
    assert dict(one.snapshots[-1].facts.losses) == pytest.approx(dict(two.snapshots[-1].facts.losses))


def in_double(batches: Any) -> Any:
    def converted(*place: Any) -> Iterator[Rows]:
        for batch in batches(*place):
            yield Rows(batch.points.double(), batch.values.double())

    return converted


def test_each_piece_draws_by_the_seed_the_step_and_its_number() -> None:
    task, numbers = Line(), []

    def loss(batch: Rows, carry: dict[str, Tensor] | None = None) -> Loss:
        numbers.append(float(torch.rand(())))
        return Line.loss(task, batch)

    task.loss = loss
    train(task, steps=2, pieces=2)
    expected = []
    for step, piece in ((1, 0), (1, 1), (2, 0), (2, 1)):
        torch.manual_seed(key_of(1, step, piece))
        expected.append(float(torch.rand(())))
    assert numbers == expected


def test_a_piece_goes_on_with_what_it_carried_itself() -> None:
    """Each row stores how often it was seen and each piece its own number; a checkpoint holds both."""
    task, carries = Line(), []

    def loss(batch: Rows, carry: dict[str, Tensor] | None = None) -> Loss:
        carries.append(None if carry is None else (carry["age"].tolist(), float(carry["sum"])))
        past = carry or {"age": torch.zeros(batch.rows), "sum": torch.tensor(0.0)}
        onward = {"age": past["age"] + 1, "sum": past["sum"] + batch.rows}
        return replace(Line.loss(task, batch), carry=onward)

    task.loss = loss
    task.batches = lambda split, seed, epoch, start: (Rows(torch.ones(3, 4), torch.ones(3, 2)) for _ in range(start, 7))
    keeper = train(task, steps=2, pieces=2)
    assert carries == [None, None, ([1, 1], 2.0), ([1], 1.0)]
    carried = {name: tensor.tolist() for name, tensor in keeper.snapshots[-1].tensors["carry"].items()}
    assert carried == {"0.age": [2, 2], "0.sum": 4.0, "1.age": [2], "1.sum": 2.0}


class Unused(Line):
    """Line with a weight that only batches of many rows use."""

    def __init__(self) -> None:
        super().__init__(dropout=0.0)
        self.seldom = torch.nn.Parameter(torch.ones(()))

    def loss(self, batch: Rows, carry: dict[str, Tensor] | None = None) -> Loss:
        loss = super().loss(batch)
        return replace(loss, total=loss.total * self.seldom) if batch.rows > 100 else loss


def test_a_weight_that_no_piece_uses_is_left_alone() -> None:
    """Adam's moments would move it, and its decay would shrink it."""
    task = Unused()
    train(task, pieces=2, optimizer={"weight_decay": 0.5, "learning_rate": 0.1})
    assert task.seldom.item() == 1.0


def test_what_cannot_be_cut_is_refused() -> None:
    task = Line()
    task.batches = lambda split, seed, epoch, start: iter([object()])
    with pytest.raises(Fault, match=r"The data of this model cannot be cut into 2 pieces"):
        train(task, pieces=2)
