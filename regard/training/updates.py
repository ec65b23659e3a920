"""One update of the weights: what it was learnt from, and what is known of it once its numbers are read."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import torch
from torch import Tensor

from regard.protocols import Loss, Tally
from regard.training.events import Stepped
from regard.training.snapshot import Facts


class Place(NamedTuple):
    """An epoch, and the number of a batch in it, which is counted from 1."""

    epoch: int
    number: int


class Placed(NamedTuple):
    """A batch and its place."""

    place: Place
    batch: Any


@dataclass(frozen=True)
class Update:
    """The sums over all that an update was learnt from, and the norm of its gradient, in plain numbers."""

    places: Sequence[Place]
    total: float
    count: int
    norm: float
    tallies: dict[str, Tally]


@dataclass(frozen=True)
class UnreadUpdate:
    """The same in tensors, which are read when there is time to wait for them."""

    places: Sequence[Place]
    total: Tensor
    count: Tensor | int
    norm: Tensor
    tallies: dict[str, Tally]

    @classmethod
    def of(cls, group: Sequence[Placed], losses: Sequence[Loss], norm: Tensor, members: int) -> "UnreadUpdate":
        """The update that was made by these losses, of which each is a sum over the members too."""
        total = torch.stack([loss.total.detach() for loss in losses]).sum() / members
        tallies: dict[str, Tally] = {}
        for loss in losses:
            add_tallies(tallies, loss.tallies)
        places = [placed.place for placed in group]  # and not the batches, which would stay in memory
        return cls(places, total, sum(loss.count for loss in losses), norm, tallies)

    def read(self) -> Update:
        """The same in plain numbers; on a GPU that waits for all work before it."""
        tallies = {name: replace(tally, sums=tuple(map(float, tally.sums))) for name, tally in self.tallies.items()}
        return Update(self.places, float(self.total), int(self.count), float(self.norm), tallies)


def step_event(updates: Sequence[Update], facts: Facts, learning_rate: float) -> Stepped:
    """What listeners hear of the last updates."""
    items = sum(update.count for update in updates)
    loss = sum(update.total for update in updates) / max(items, 1)
    tallies: dict[str, Tally] = {}
    for update in updates:
        add_tallies(tallies, update.tallies)
    values = {name: tally.value for name, tally in tallies.items()}
    return Stepped(facts.step, facts.epoch, loss, items, learning_rate, updates[-1].norm, values)


def add_tallies(sums: dict[str, Tally], more: dict[str, Tally]) -> None:
    """Add to each sum the tally of its name."""
    for name, tally in more.items():
        sums[name] = sums[name] + tally if name in sums else tally
