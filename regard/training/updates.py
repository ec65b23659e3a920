"""One update of the weights: what it was learnt from, and what is known of it once its numbers are read."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor

from regard.protocols import Loss, Tally
from regard.training.events import Stepped
from regard.training.snapshot import Facts


class Placed(NamedTuple):
    """A batch and its place: an epoch, and its number in it, which is counted from 1."""

    epoch: int
    number: int
    batch: Any


@dataclass(frozen=True)
class Update:
    """The sums over all that an update was learnt from; its tensors are read when there is time to wait for them."""

    group: Sequence[Placed]
    total: Tensor
    count: Tensor | int
    norm: Tensor
    tallies: dict[str, Tally]

    @classmethod
    def of(cls, group: Sequence[Placed], losses: Sequence[Loss], norm: Tensor, members: int) -> "Update":
        """The update that was made by these losses, of which each is a sum over the members too."""
        total = torch.stack([loss.total.detach() for loss in losses]).sum() / members
        tallies: dict[str, Tally] = {}
        for loss in losses:
            add_tallies(tallies, loss.tallies)
        return cls(group, total, sum(loss.count for loss in losses), norm, tallies)

    @property
    def loss(self) -> float:
        """The mean of an item."""
        return float(self.total) / max(int(self.count), 1)


def stepped(updates: Sequence[Update], facts: Facts, learning_rate: float) -> Stepped:
    """What listeners hear of the last updates."""
    items = sum(int(update.count) for update in updates)
    loss = sum(float(update.total) for update in updates) / max(items, 1)
    tallies: dict[str, Tally] = {}
    for update in updates:
        add_tallies(tallies, update.tallies)
    values = {name: tally.value for name, tally in tallies.items()}
    return Stepped(facts.step, facts.epoch, loss, items, learning_rate, float(updates[-1].norm), values)


def add_tallies(sums: dict[str, Tally], more: dict[str, Tally]) -> None:
    """Add to each sum the tally of its name."""
    for name, tally in more.items():
        sums[name] = sums[name] + tally if name in sums else tally
