"""Members trained together: each ends as if it had been trained alone."""

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from regard.base.recipe import check
from regard.protocols import Loss, Measure, Tally, mean
from regard.training.checkpoint import WEIGHTS, RunFolder, bytes_to_weights
from regard.training.events import Stepped, Validated
from regard.training.options import TrainingOptions
from regard.training.snapshot import Validation
from regard.training.trainer import Trainer

sys.path.insert(0, str(Path(__file__).parent))
from toy_task import Log, Memory, Rows

SCALES = (0.1, 1.0, 2.0)  # scales of the first weights, so members have less and more to forget


class Lines(nn.Module):
    """Several members that learn y = Wx from noise and overfit at different times."""

    def __init__(self, *members: int) -> None:
        super().__init__()
        self.members = len(members)
        generators = [torch.Generator().manual_seed(member) for member in members]
        first = [SCALES[m] * torch.randn(12, 2, generator=g) for m, g in zip(members, generators, strict=True)]
        self.weight = nn.Parameter(torch.stack(first).double())
        self.bias = nn.Parameter(torch.zeros(self.members, 2).double())

    def batches(self, split: str, seed: int, epoch: int, start: int) -> Iterator[Rows]:
        generator = torch.Generator().manual_seed({"train": 5, "valid": 6}[split])
        points = torch.randn(10, 12, generator=generator).double()
        values = points[:, :2] + torch.randn(10, 2, generator=generator).double()
        yield from [Rows(points, values)][start:]

    def errors(self, batch: Rows) -> Tensor:
        outputs = torch.einsum("nd,mdk->mnk", batch.points, self.weight) + self.bias[:, None]
        return (outputs - batch.values).square().sum((1, 2))

    def loss(self, batch: Rows, carry: dict[str, Tensor] | None = None) -> Loss:
        return Loss(self.errors(batch).sum(), batch.rows)

    def measure(self, batch: Rows) -> dict[str, Measure]:
        errors = self.errors(batch).tolist()
        return {"error": Measure.of_members([Tally((error, batch.rows), mean) for error in errors], "lower")}


def run(task: Lines, keeper: Any, *listeners: Any, **more: Any) -> Trainer:
    optimizer = {"learning_rate": 0.05, "warmup": 0, "schedule": "constant", "clip": 0.5} | more.pop("optimizer", {})
    table = {"steps": 110, "validate_every": 5, "save_every": 10, "patience": 3, "best_by": "error"} | more

    def validate() -> Validation:
        (batch,) = task.batches("valid", 0, 0, 0)
        return Validation(task.measure(batch))

    trainer = Trainer(task, check(TrainingOptions, table | {"optimizer": optimizer}), 1, keeper, validate, listeners)
    trainer.run()
    return trainer


KINDS: list[dict[str, Any]] = [
    {},
    {"final": "last"},
    {"moving_average": 0.9},
    {"optimizer": {"kind": "adamw", "weight_decay": 0.5}},
    {"optimizer": {"kind": "sgd", "momentum": 0.9}},
]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("more", KINDS)
def test_a_member_is_what_it_would_be_alone(more: dict[str, Any]) -> None:
    """Its best weights, patience and clipping match. The run lasts as long as its most patient member."""
    keeper, ends = Memory(), []
    together = run(Lines(0, 1, 2), keeper, **more)
    for member in range(3):
        memory = Memory()
        alone = run(Lines(member), memory, **more)
        ends.append(alone.facts.step)
        assert together.facts.member_bests[member] == pytest.approx(alone.facts.best)
        for name, weights in keeper.published[-1].items():
            torch.testing.assert_close(weights[member], memory.published[-1][name][0])
    assert together.facts.step == max(ends)
    assert len(set(ends)) == 3


class Dated(Lines):
    """Members that store the step of their last validation, as others store how training continues."""

    def __init__(self, *members: int) -> None:
        super().__init__(*members)
        self.register_buffer("date", torch.zeros(self.members))

    def adapt(self, step: int, measures: Mapping[str, Measure]) -> bool:
        self.get_buffer("date").fill_(step)
        return False


def test_a_member_is_published_with_what_it_knew_of_itself_at_its_best() -> None:
    together = Memory()
    run(Dated(0, 1, 2), together)
    alone = [Memory() for _ in range(3)]
    for member, keeper in enumerate(alone):
        run(Dated(member), keeper)
    dates = [float(keeper.published[-1]["date"]) for keeper in alone]
    assert together.published[-1]["date"].tolist() == dates
    assert len(set(dates)) == 3


def test_the_loss_that_is_told_is_the_mean_over_members() -> None:
    log, task = Log(), Lines(0, 1, 2)
    (batch,) = task.batches("train", 1, 0, 0)
    expected = task.errors(batch).mean().item() / batch.rows
    run(task, Memory(), log, steps=1)
    assert log.of(Stepped)[0].loss == pytest.approx(expected)
    (batch,) = task.batches("valid", 1, 0, 0)
    errors = task.errors(batch).detach() / batch.rows
    validated = log.of(Validated)[0]
    assert validated.measures["error"] == pytest.approx(float(errors.mean()))
    assert validated.deviations["error"] == pytest.approx(float(errors.std(correction=0)))


@pytest.mark.one_in(2)
@pytest.mark.parametrize("stop", [3, 5, 12, 27])
def test_resumed_is_never_stopped(stop: int, tmp_path: Path) -> None:
    halt = lambda event: "enough" if isinstance(event, Stepped) and event.step == stop else None  # noqa: E731
    whole = run(Lines(0, 1, 2), RunFolder(tmp_path / "whole", every=10))
    run(Lines(0, 1, 2), RunFolder(tmp_path / "stopped", every=10), halt)
    again = run(Lines(0, 1, 2), RunFolder(tmp_path / "stopped", every=10))
    assert again.facts == whole.facts
    assert torch.equal(again.task.weight, whole.task.weight)
    one, two = (bytes_to_weights((tmp_path / name / WEIGHTS).read_bytes(), name) for name in ("whole", "stopped"))
    assert all(torch.equal(one[name], two[name]) for name in one)


def test_what_is_published_was_validated_together() -> None:
    """The best of each member is published, not the state of all at one validation."""
    task, members = Lines(0, 1, 2), []

    class Scored(Memory):
        def publish(self, weights: dict[str, Tensor], validation: Validation | None) -> None:
            super().publish(weights, validation)
            assert validation is not None
            members.append(validation.measures["error"].members)

    facts = run(task, Scored()).facts
    assert members[-1] == pytest.approx(facts.member_bests)
    assert facts.best == pytest.approx(sum(members[-1]) / 3)


def test_parameters_without_the_axis_are_refused() -> None:
    task = Lines(0, 1)
    task.bias = nn.Parameter(torch.zeros(5))
    with pytest.raises(ValueError, match=r"bias has the shape \(5,\), but there are 2 members"):
        run(task, Memory())


def test_measures_of_too_few_members_are_refused() -> None:
    task = Lines(0, 1)
    task.measure = lambda batch: {"error": Measure.of_value(1.0, "lower")}
    with pytest.raises(ValueError, match="there are 2 members, but the measure has 1 values"):
        run(task, Memory())
