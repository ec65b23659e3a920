"""Batches within a token budget: which rows share a batch, in an order that depends only on (seed, epoch).

All rows are shuffled, the order is cut into windows, and each window is sorted by length and cut into batches, which
are then shuffled. A position in an epoch is a number of batches; training can resume at any of them.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, islice, pairwise
from operator import itemgetter
from typing import NamedTuple

import numpy as np

_WINDOW_BATCHES = 1000  # enough that neighbours in the sorted window have nearly equal lengths
_WINDOW_ROWS = 2_000_000  # few enough to be sorted quickly
_MEASURED = 5  # windows used to estimate the size of an epoch; takes seconds for millions of pairs
_BLOCK = 1 << 22  # rows processed at once when all are needed
_BAND_BATCHES = (0, 4)
_FEWEST = 0.75  # share of the rows that would fit
_PADDING_WORTH = 0.1  # share of a batch's places that padding may fill before rows are dropped from it

# Purposes of random streams; each has its own.
_ROWS, _DRAWS, _BATCHES = range(3)


class EpochSize(NamedTuple):
    """Number of batches in an epoch, and the share of padding over both sides."""

    batches: int
    padding: float
    is_exact: bool

    def __str__(self) -> str:
        about = "" if self.is_exact else "about "
        batches = "batch" if self.batches == 1 else "batches"
        return f"{about}{self.batches:,} {batches} an epoch, {self.padding:.1%} padding"


@dataclass(frozen=True, eq=False)
class BatchPlan:
    """Batches of every epoch, from the lengths of the pairs in tokens, without the end token of each side.

    A batch costs its rows times its longest side, including the end token: at most `budget`, except that a longer pair
    gets a batch of its own. `corpora` are (first row, count, weight). An epoch has as many draws as there are rows,
    divided by weight; each corpus repeats its rows as often as needed. With the counts as weights, each row comes once.
    """

    source_lengths: np.ndarray
    target_lengths: np.ndarray
    budget: int
    corpora: Sequence[tuple[int, int, float]]

    def batches(self, seed: int, epoch: int, start: int = 0) -> Iterator[np.ndarray]:
        """Yield the rows of each batch, from batch `start` of the epoch on."""
        for number, rows in enumerate(self._windows(seed, epoch)):
            batches = _cut(rows, *self._lengths(rows), self.budget)
            if start < len(batches):
                order = _shuffle(len(batches), seed, epoch, _BATCHES, number)
                yield from (batches[place] for place in order[start:])
            start = max(0, start - len(batches))

    def size(self, seed: int, epoch: int) -> EpochSize:
        """Return the number of batches of an epoch and its padding, estimated from the first windows if it is large."""
        rows = tokens = places = 0
        batches: list[np.ndarray] = []
        for window in islice(self._windows(seed, epoch), _MEASURED):
            rows += len(window)
            batches += _cut(window, *self._lengths(window), self.budget)
        for batch in batches:
            source, target = self._lengths(batch)
            tokens += int(source.sum() + target.sum())
            places += len(batch) * int(source.max() + target.max())
        whole = len(self.source_lengths)
        count = len(batches) * whole // rows if rows else 0
        return EpochSize(count, 1 - tokens / places if places else 0.0, rows == whole)

    def _lengths(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the lengths of both sides with their end tokens."""
        return self.source_lengths[rows].astype(np.int64) + 1, self.target_lengths[rows].astype(np.int64) + 1

    def _windows(self, seed: int, epoch: int) -> Iterator[np.ndarray]:
        """Yield the rows of an epoch in as few windows of equal size as needed."""
        rows = self._rows(seed, epoch)
        if not len(rows):
            return
        most = _WINDOW_BATCHES * self.budget * len(self.source_lengths) // self._cost
        windows = -(-len(rows) // max(1, min(_WINDOW_ROWS, most)))
        for number in range(windows):
            yield rows[len(rows) * number // windows : len(rows) * (number + 1) // windows].astype(np.int64)

    @cached_property
    def _cost(self) -> int:
        """Total tokens of the longer sides of all pairs, with their end tokens."""
        cost = 0
        for first in range(0, len(self.source_lengths), _BLOCK):
            block = slice(first, first + _BLOCK)
            longer = np.maximum(self.source_lengths[block], self.target_lengths[block])
            cost += int(longer.sum(dtype=np.int64)) + len(longer)
        return cost

    def _rows(self, seed: int, epoch: int) -> np.ndarray:
        """Return the rows of an epoch in random order."""
        corpora = [corpus for corpus in self.corpora if corpus[1]]
        quotas = _quotas(corpora)
        in_turn = list(zip(accumulate(quotas, initial=0), quotas, strict=False))
        if in_turn == [(first, count) for first, count, _ in corpora]:  # every row once
            return _shuffle(sum(quotas), seed, epoch, _ROWS, 0)
        parts: list[np.ndarray] = [np.empty(0, np.int32)]
        for number, ((first, count, _), quota) in enumerate(zip(corpora, quotas, strict=True)):
            rounds, rest = divmod(quota, count)
            parts.append(np.tile(np.arange(first, first + count, dtype=_small_type(first + count)), rounds))
            if rest:
                few = _shuffle(count, seed, epoch, _DRAWS, number)[:rest]
                parts.append(first + few.astype(_small_type(first + count)))
        rows = np.concatenate(parts)
        return rows[_shuffle(len(rows), seed, epoch, _ROWS, 0)]


def _quotas(corpora: Sequence[tuple[int, int, float]]) -> list[int]:
    """Return how many rows of an epoch come from each corpus, rounded so that they add up."""
    rows = sum(count for _, count, _ in corpora)
    weights = [weight for _, _, weight in corpora]
    bounds = [round(rows * weight / sum(weights)) for weight in accumulate(weights)]
    return [after - before for before, after in pairwise([0, *bounds])]


def _shuffle(count: int, seed: int, epoch: int, purpose: int, number: int) -> np.ndarray:
    """Return the numbers below `count` in random order.

    They are sorted by raw random bits, which numpy promises not to change; it makes no such promise for its shuffle.
    """
    bits = np.random.PCG64(np.random.SeedSequence([seed, epoch], spawn_key=(purpose, number)))
    keys = np.empty(count, np.uint32)
    for first in range(0, count, _BLOCK):
        block = keys[first : first + _BLOCK]
        block[:] = bits.random_raw(len(block)) >> np.uint64(32)
    order, end = np.empty(count, _small_type(count)), 0
    for part in _orders_of_ranges(keys):
        order[end : end + len(part)] = part
        end += len(part)
    return order


def _orders_of_ranges(keys: np.ndarray) -> Iterator[np.ndarray]:
    """Yield the order of all random keys range by range, since sorting takes eight times their memory."""
    ranges = -(-len(keys) // _BLOCK)
    bounds = [(number << 32) // ranges for number in range(ranges + 1)] if ranges else []
    for low, after in pairwise(bounds):
        places = np.flatnonzero((keys >= low) & (keys <= after - 1))
        yield places[_order(keys[places])].astype(_small_type(len(keys)))


def _small_type(count: int) -> type[np.int32] | type[np.int64]:
    """Return the smallest type for the numbers below `count`."""
    return np.int32 if count <= 2**31 else np.int64


def _order(keys: np.ndarray) -> np.ndarray:
    """Return a stable argsort of non-negative numbers, faster than numpy's: positions become the lower digits."""
    digits = len(keys).bit_length()
    return np.sort(keys.astype(np.int64) << digits | np.arange(len(keys))) & ((1 << digits) - 1)


def _cut(rows: np.ndarray, source: np.ndarray, target: np.ndarray, budget: int) -> list[np.ndarray]:
    """Cut the rows of a window into batches, with the sort order that needs the fewest places."""
    ways = []
    for batches in _BAND_BATCHES:
        order = _sorted_by_length(source, target, budget * batches)
        starts = _starts(source[order], target[order], budget)
        ways.append((_places(source[order], target[order], starts), order, starts))
    _, order, starts = min(ways, key=itemgetter(0))
    return np.split(rows[order], starts[1:])


def _sorted_by_length(source: np.ndarray, target: np.ndarray, band_cost: int) -> np.ndarray:
    """Return an order in which neighbours have nearly equal lengths on both sides.

    Rows are sorted by the longer side first, in bands of lengths that together cost at least `band_cost`, so that rare
    lengths share a band. Inside a band they are sorted by the difference of the sides, ascending and descending in
    turn, so that there is no jump between bands.
    """
    longer, difference = np.maximum(source, target), source - target
    band = _bands(longer, band_cost)[longer]
    reach = int(np.abs(difference).max(initial=0))
    key = band * (2 * reach + 1) + reach + np.where(band % 2, -difference, difference)
    return _order(key)


def _bands(longer: np.ndarray, band_cost: int) -> np.ndarray:
    """Return the band of each length, gathered from the longest down."""
    costs = np.bincount(longer) * np.arange(int(longer.max(initial=-1)) + 1)
    band, gathered = 0, 0
    bands = np.empty(len(costs), np.int64)
    for length in reversed(range(len(costs))):
        bands[length] = band
        gathered += int(costs[length])
        if gathered and gathered >= band_cost:
            band, gathered = band + 1, 0
    return band - bands


def _starts(source: np.ndarray, target: np.ndarray, budget: int) -> list[int]:
    """Return the row at which each batch starts."""
    starts, start = [], 0
    while start < len(source):
        starts.append(start)
        most = start + max(1, budget // int(max(source[start], target[start])))
        start += _fitting(source[start:most], target[start:most], budget)
    return starts


def _fitting(source: np.ndarray, target: np.ndarray, budget: int) -> int:
    """Return how many of these rows make the next batch.

    Take as many as the budget allows, or somewhat fewer if the last rows would add more padding than they are worth.
    """
    count = np.arange(1, len(source) + 1)
    longest_source, longest_target = np.maximum.accumulate(source), np.maximum.accumulate(target)
    costs = count * np.maximum(longest_source, longest_target)
    allowed = max(1, int(np.searchsorted(costs, budget, side="right")))
    fewest = math.ceil(allowed * _FEWEST)
    places = (count * (longest_source + longest_target))[fewest - 1 : allowed]
    padding = places - np.cumsum(source + target)[fewest - 1 : allowed]
    worth = _PADDING_WORTH * places - padding
    return allowed - int(np.argmax(worth[::-1]))


def _places(source: np.ndarray, target: np.ndarray, starts: list[int]) -> int:
    """Return the number of places in all batches, over both sides, padding included."""
    if not starts:
        return 0
    widths = np.maximum.reduceat(source, starts) + np.maximum.reduceat(target, starts)
    return int((widths * np.diff(starts, append=len(source))).sum())
