"""A task of a few numbers and a keeper in memory: enough to see everything a trainer does."""

from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from regard.protocols import Loss, Measure, Tally, mean
from regard.training.snapshot import Snapshot, Validation


@dataclass(frozen=True)
class Rows:
    """A batch of points and their values."""

    points: Tensor
    values: Tensor

    @property
    def rows(self) -> int:
        return len(self.points)

    def split(self, parts: int) -> list["Rows"]:
        return [Rows(p, v) for p, v in zip(self.points.chunk(parts), self.values.chunk(parts), strict=True)]


class Line(nn.Module):
    """Task that learns y = Wx from noisy points with dropout, so that it has every source of randomness."""

    def __init__(self, dropout: float = 0.1) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.weight = nn.Linear(4, 2)
        self.dropout = nn.Dropout(dropout)
        self.spoil: Callable[[Rows], None] = lambda batch: None

    def batches(self, split: str, seed: int, epoch: int, start: int) -> Iterator[Rows]:
        for number in range(start, 7):
            generator = torch.Generator().manual_seed(1000 * seed + 100 * epoch + number)
            points = torch.randn(4 + number, 4, generator=generator)
            yield Rows(points, points @ torch.arange(8.0).view(4, 2))

    def loss(self, batch: Rows, carry: dict[str, Tensor] | None = None) -> Loss:
        self.spoil(batch)
        error = self.weight(self.dropout(batch.points)) - batch.values
        return Loss(error.square().sum(), batch.rows)

    def measure(self, batch: Rows) -> dict[str, Measure]:
        error = (self.weight(batch.points) - batch.values).square().sum()
        return {"loss": Measure(Tally((float(error), batch.rows), mean), "lower")}


@dataclass
class Memory:
    """Keeper that stores a run in memory."""

    snapshots: list[Snapshot] = field(default_factory=list)
    published: list[dict[str, Tensor]] = field(default_factory=list)

    def save(self, snapshot: Snapshot) -> None:
        self.snapshots.append(deepcopy(snapshot))

    def latest(self) -> Snapshot | None:
        return deepcopy(self.snapshots[-1]) if self.snapshots else None

    def publish(self, weights: dict[str, Tensor], validation: Validation | None) -> None:
        self.published.append({name: tensor.clone() for name, tensor in weights.items()})

    def average(self, last: int) -> dict[str, Tensor]:
        weights_by_step = {
            s.facts.step: s.tensors["weights"] for s in self.snapshots if s.facts.step and s.facts.step % 10 == 0
        }
        chosen = [weights_by_step[step] for step in sorted(weights_by_step)[-last:]]
        return {name: torch.stack([weights[name] for weights in chosen]).mean(0) for name in chosen[0]}


class Log(list[Any]):
    """Listener that stores what it hears."""

    def __call__(self, event: Any) -> None:
        self.append(event)

    def of(self, kind: type) -> list[Any]:
        return [event for event in self if isinstance(event, kind)]
