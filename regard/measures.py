"""Measures on data: sums that add up over any batches, which direction is better, and losses."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import exp, isfinite
from statistics import fmean, pstdev
from typing import Literal, Self

from torch import Tensor


@dataclass(frozen=True)
class Tally:
    """Sums and how to finish them. Tallies add, so there is never a mean of means, however the data is batched.

    A sum may be a tensor with one number, which is read only when the value is needed.
    """

    sums: tuple[float | Tensor, ...]
    finish: Callable[..., float]

    def __add__(self, other: Self) -> "Tally":
        if len(self.sums) != len(other.sums):
            raise ValueError(f"a tally of {len(self.sums)} sums cannot be added to one of {len(other.sums)}")
        return Tally(tuple(a + b for a, b in zip(self.sums, other.sums, strict=True)), self.finish)

    @property
    def value(self) -> float:
        return self.finish(*map(float, self.sums))


def mean(total: float, count: float) -> float:
    """Finish a tally as a mean; NaN if nothing was counted."""
    return total / count if count else float("nan")


def perplexity(nats: float, tokens: float) -> float:
    """Finish a tally of nats as perplexity, capped."""
    return exp(min(mean(nats, tokens), _MOST_NATS))


_MOST_NATS = 100.0
Better = Literal["lower", "higher"]


@dataclass(frozen=True)
class Measure:
    """A number measured on data: its tally, which direction is better, and its signature.

    If several members of a small model are trained as one, each has its own tally, and the value is their mean.
    """

    tally: Tally
    better: Better
    signature: str = ""
    by_member: tuple[Tally, ...] = ()

    @classmethod
    def of_members(cls, tallies: Sequence[Tally], better: Better, signature: str = "") -> Self:
        """Return the measure of several members, given the tally of each."""
        return cls(sum(tallies[1:], tallies[0]), better, signature, tuple(tallies))

    @classmethod
    def of_value(cls, value: float, better: Better, signature: str = "") -> Self:
        """Return the measure of a score on all the data at once, which must not be added to others."""
        return cls(Tally((value,), float), better, signature)

    def __add__(self, other: Self) -> "Measure":
        members = tuple(one + two for one, two in zip(self.by_member, other.by_member, strict=True))
        return Measure(self.tally + other.tally, self.better, self.signature, members)

    @property
    def members(self) -> tuple[float, ...]:
        """The value of each member; a single value for a model that is trained alone."""
        return tuple(tally.value for tally in self.by_member) or (self.tally.value,)

    @property
    def value(self) -> float:
        return fmean(self.members)

    @property
    def deviation(self) -> float:
        """The standard deviation over the members; 0 for a single one."""
        return pstdev(self.members)

    @property
    def items(self) -> int:
        """Number of measured items: the last sum of a tally."""
        return int((self.by_member or (self.tally,))[0].sums[-1])

    def improves(self, value: float, best: float | None) -> bool:
        """Return True if a value of this metric is better than the best before it."""
        return isfinite(value) and (best is None or (value < best if self.better == "lower" else value > best))


@dataclass
class Loss:
    """A loss: `total` is summed over `count` items and divided once, by the trainer; the next batch gets `carry`.

    For a task with members, `total` is the sum over all of them and `count` that of one. The `tallies` are shown next
    to the loss. The first axis of carried tensors is the rows of the batch, except for single numbers.
    """

    total: Tensor
    count: Tensor | int
    tallies: dict[str, Tally] = field(default_factory=dict)
    carry: dict[str, Tensor] | None = None
    rate: float = 1.0  # factor of the learning rate for this update


@dataclass(frozen=True)
class Learnt:
    """Result of an update rule: the loss summed over `count` items, the items learnt, and the learning rate."""

    total: float
    count: int
    items: int  # in the task's unit
    learning_rate: float
