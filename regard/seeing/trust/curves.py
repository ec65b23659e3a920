"""Deletion and insertion curves of a map, and the figures read from them, compared with random orders.

Units are replaced by the baseline in the order of the map, most important first (deletion), or brought back into the
baseline in the same order (insertion; Petsiuk et al. 2018). After each step the model gives the probability of what it
chose. With p(x) the probability for the whole input, and k the number of units in a share of them:

    comprehensiveness = p(x) − p(x without the first k)        (DeYoung et al. 2020, equation 1)
    sufficiency       = p(x) − p(only the first k)             (equation 2)

A good map has a small area under its deletion curve, a large one under its insertion curve, high comprehensiveness and
low sufficiency. None of them means much alone, so each is compared with orders drawn at random.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Protocol, TypeVar

import numpy as np
import torch
from torch import Tensor

SHARES = (0.01, 0.05, 0.1, 0.2, 0.5)
RANDOM_ORDERS = 10
_MOST_STEPS = 50  # of a curve; an input with more units loses several at once
_AT_ONCE = 256  # changed copies of an input in one batch
_NUMBERS_AT_ONCE = 2**22  # in those copies, so that large inputs fit into memory
_TIE_SEED = 0  # of the order of units with equal scores

Key = TypeVar("Key", str, float)


class Decision(Protocol):
    """Parts of a question that a curve needs: the vectors of the input, vectors that say nothing, and the decision."""

    @property
    def inputs(self) -> Tensor: ...
    @property
    def baseline(self) -> Tensor: ...
    def log_probability(self, inputs: Tensor, /) -> Tensor: ...


@dataclass(frozen=True)
class Curves:
    """Log-probabilities of the decision after `counts` units were deleted from the input or inserted into nothing.

    The first count is 0 and the last is all units.
    """

    counts: Sequence[int]
    deletion: Sequence[float]
    insertion: Sequence[float]

    @property
    def units(self) -> int:
        return self.counts[-1]

    @property
    def deletion_area(self) -> float:
        """Area under the curve of probabilities over the share of deleted units: low if the map is good."""
        return _area(self.counts, np.exp(self.deletion))

    @property
    def insertion_area(self) -> float:
        """Area under the curve of probabilities over the share of inserted units: high if the map is good."""
        return _area(self.counts, np.exp(self.insertion))

    def comprehensiveness(self, share: float) -> float:
        """Return how much probability is lost without the first units of the map: high if the map is good."""
        return float(np.exp(self.deletion[0]) - np.exp(self.deletion[self._step(share)]))

    def sufficiency(self, share: float) -> float:
        """Return how much probability is lost if only the first units of the map remain: low if the map is good."""
        return float(np.exp(self.deletion[0]) - np.exp(self.insertion[self._step(share)]))

    def _step(self, share: float) -> int:
        return self.counts.index(count_of(share, self.units))

    def figures(self) -> dict[str, float]:
        """Return the figures by name; comprehensiveness and sufficiency are means over the shares."""
        return {
            "comprehensiveness": float(np.mean([self.comprehensiveness(share) for share in SHARES])),
            "sufficiency": float(np.mean([self.sufficiency(share) for share in SHARES])),
            "deletion": self.deletion_area,
            "insertion": self.insertion_area,
        }


@dataclass(frozen=True)
class AgainstChance:
    """A figure of a map, and the mean and standard deviation of the same figure for random orders."""

    value: float
    random: float
    deviation: float


@dataclass(frozen=True)
class Faithfulness:
    """The curves of a map and those of random orders."""

    curves: Curves
    random: Sequence[Curves]

    def figures(self) -> dict[str, AgainstChance]:
        """Return each figure of the map and of chance by name."""
        return _compare(self.curves.figures(), [curves.figures() for curves in self.random])

    def by_share(self, name: str) -> dict[float, AgainstChance]:
        """Return comprehensiveness or sufficiency for each share of the units."""

        def read(curves: Curves) -> dict[float, float]:
            return {share: getattr(curves, name)(share) for share in SHARES}

        return _compare(read(self.curves), [read(curves) for curves in self.random])

    def random_curve(self, name: str) -> list[float]:
        """Return the mean probability of the random orders at each step of their deletion or insertion curves."""
        means: list[float] = np.exp([getattr(curves, name) for curves in self.random]).mean(axis=0).tolist()
        return means


def _compare(own: Mapping[Key, float], others: Sequence[Mapping[Key, float]]) -> dict[Key, AgainstChance]:
    drawn = {key: np.array([other[key] for other in others]) for key in own}
    return {
        key: AgainstChance(value, float(drawn[key].mean()), float(drawn[key].std(ddof=int(len(others) > 1))))
        for key, value in own.items()
    }


def order_of(scores: Sequence[float]) -> list[int]:
    """Return the units from the highest score to the lowest; units with equal scores come in a random order.

    The random order is always the same. Left to right would favour whatever stands at the beginning.
    """
    tie_break = np.random.default_rng(_TIE_SEED).permutation(len(scores))
    return sorted(range(len(scores)), key=lambda unit: (-scores[unit], tie_break[unit]))


def count_of(share: float, units: int) -> int:
    """Return the number of units in a share of them, at least one."""
    return ceil(share * units - 1e-9)  # 0.1 · 30 is a little more than 3


def curves_of(question: Decision, orders: Sequence[Sequence[int]]) -> list[Curves]:
    """Return the deletion and insertion curves of the units in each of these orders."""
    units = len(question.inputs)
    counts = sorted({round(units * step / _MOST_STEPS) for step in range(_MOST_STEPS + 1)} | _shared_counts(units))
    is_taken = torch.zeros(len(orders), len(counts), units, dtype=torch.bool, device=question.inputs.device)
    for number, order in enumerate(orders):
        for step, count in enumerate(counts):
            is_taken[number, step, list(order[:count])] = True
    replaced = torch.stack([is_taken, ~is_taken], dim=1)
    found = _log_probabilities(question, replaced.flatten(0, 2)).reshape(len(orders), 2, len(counts))
    return [Curves(counts, deletion, insertion) for deletion, insertion in found.tolist()]


def random_curves(question: Decision, orders: int = RANDOM_ORDERS) -> list[Curves]:
    """Return the curves of random orders, always the same, which are what chance gives to any map."""
    units = len(question.inputs)
    return curves_of(question, [np.random.default_rng([1, seed]).permutation(units).tolist() for seed in range(orders)])


def faithfulness(question: Decision, scores: Sequence[float], random: Sequence[Curves] | None = None) -> Faithfulness:
    """Return the curves of a map with these scores, and those of random orders, unless they are given."""
    (own,) = curves_of(question, [order_of(scores)])
    return Faithfulness(own, random_curves(question) if random is None else random)


def _shared_counts(units: int) -> set[int]:
    return {count_of(share, units) for share in SHARES}


@torch.no_grad()
def _log_probabilities(question: Decision, replaced: Tensor) -> Tensor:
    """Return the log-probability for each row of units that are replaced by the baseline, as float64 on the host."""
    found = [
        question.log_probability(torch.where(rows[:, :, None], question.baseline, question.inputs)).double().cpu()
        for rows in _in_parts(replaced, question.inputs.numel())
    ]
    return torch.cat(found)


def _in_parts(rows: Tensor, numbers: int) -> Iterator[Tensor]:
    yield from rows.split(max(1, min(_AT_ONCE, _NUMBERS_AT_ONCE // max(1, numbers))))


def _area(counts: Sequence[int], values: np.ndarray) -> float:
    """Return the area under straight lines between the values, over the share of units."""
    widths = np.diff(counts) / counts[-1]
    return float((widths * (values[1:] + values[:-1]) / 2).sum())
