"""One update of the weights: the batches it learnt from, and its numbers once they are read."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor

from regard.protocols import Loss, Tally
from regard.training.events import Stepped
from regard.training.ranks import Ranks
from regard.training.snapshot import Facts


class Place(NamedTuple):
    """An epoch, and the number of a batch in it, counted from 1."""

    epoch: int
    number: int


class Placed(NamedTuple):
    """The pieces of a batch that one process works on, by their numbers, and the batch's place."""

    place: Place
    pieces: Mapping[int, Any]


@dataclass(frozen=True)
class Update:
    """The sums over everything that an update learnt from, and the norm of its gradient, in plain numbers."""

    places: Sequence[Place]
    total: float
    count: int
    norm: float
    tallies: dict[str, Tally]


@dataclass(frozen=True)
class UnreadPiece:
    """Results of one piece of each batch as tensors, read when there is time to wait for them."""

    total: Tensor
    count: Tensor | int
    tallies: dict[str, Tally]

    @classmethod
    def of(cls, losses: Sequence[Loss], members: int) -> "UnreadPiece":
        """Return the sums of these losses, each of which is a sum over the members too."""
        total = torch.stack([loss.total.detach() for loss in losses]).sum() / members
        tallies: dict[str, Tally] = {}
        for loss in losses:
            add_tallies(tallies, loss.tallies)
        return cls(total, sum(loss.count for loss in losses), tallies)

    def read(self) -> tuple[float, int, dict[str, list[float]]]:
        """Return the results as plain numbers; on a GPU this waits for all earlier work."""
        tallies = {name: [float(number) for number in tally.sums] for name, tally in self.tallies.items()}
        return float(self.total), int(self.count), tallies


@dataclass(frozen=True)
class UnreadUpdate:
    """An update whose numbers have not been read: those of the pieces of this rank."""

    places: Sequence[Place]
    pieces: Sequence[UnreadPiece]
    norm: Tensor

    @classmethod
    def of(
        cls, group: Sequence[Placed], by_piece: Sequence[Sequence[Loss]], norm: Tensor, members: int
    ) -> "UnreadUpdate":
        """Return the update made by the losses of each piece."""
        places = [placed.place for placed in group]  # not the batches, which would stay in memory
        return cls(places, [UnreadPiece.of(losses, members) for losses in by_piece if losses], norm)


def read_updates(unread: Sequence[UnreadUpdate], ranks: Ranks) -> list[Update]:
    """Return updates in plain numbers, summed over the pieces of all ranks in order.

    Tallies are known to the ranks that have a piece to tally, and the first rank always has one.
    """
    of_ranks = ranks.gather([[piece.read() for piece in update.pieces] for update in unread])
    updates = []
    for number, update in enumerate(unread):
        pieces = [piece for of_rank in of_ranks for piece in of_rank[number]]
        finish: dict[str, Callable[..., float]] = {}
        for piece_of_rank in update.pieces:
            finish |= {name: tally.finish for name, tally in piece_of_rank.tallies.items()}
        tallies: dict[str, Tally] = {}
        for _, _, sums in pieces:
            add_tallies(tallies, {name: Tally(tuple(sums[name]), finish[name]) for name in sums if name in finish})
        total, count = sum(piece[0] for piece in pieces), sum(piece[1] for piece in pieces)
        updates.append(Update(update.places, total, count, float(update.norm), tallies))
    return updates


def step_event(updates: Sequence[Update], facts: Facts, learning_rate: float) -> Stepped:
    """Return the event that reports the last updates to listeners."""
    items = sum(update.count for update in updates)
    loss = sum(update.total for update in updates) / max(items, 1)
    tallies: dict[str, Tally] = {}
    for update in updates:
        add_tallies(tallies, update.tallies)
    values = {name: tally.value for name, tally in tallies.items()}
    return Stepped(facts.step, facts.epoch, loss, items, learning_rate, updates[-1].norm, values)


def add_tallies(sums: dict[str, Tally], more: dict[str, Tally]) -> None:
    """Add each tally to the sum of its name."""
    for name, tally in more.items():
        sums[name] = sums[name] + tally if name in sums else tally
