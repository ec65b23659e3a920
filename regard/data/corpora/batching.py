"""Batches by a budget of tokens: which rows stand together, in an order that (seed, epoch) decides alone.

All rows are put in a random order, the order is cut into windows, and each window is sorted by length and cut into
batches, which then come in random order. A position in an epoch is a number of batches, and any can be resumed at.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from operator import itemgetter

import numpy as np

_WINDOW_BATCHES = 1000  # enough for neighbours in the sorted window to be nearly equal
_WINDOW_ROWS = 2_000_000  # few enough to be sorted while nobody gets impatient
_BAND_BATCHES = (0, 4)
_FEWEST = 0.75  # of the rows that would fit
_PADDING_WORTH = 0.1  # of the places that the padding fills up

# What a stream of random numbers is for; each purpose has its own.
_ROWS, _DRAWS, _BATCHES = range(3)


@dataclass(frozen=True, eq=False)
class BatchPlan:
    """The batches of every epoch, from the lengths of the pairs in tokens without the end token each side gets.

    A batch costs its rows times its longest side, end token counted: at most `budget`, except that a pair longer than
    that stands alone. `corpora` are (first row, count, weight): an epoch is as many draws as there are rows, shared
    out by weight, each corpus running through its rows as often as it takes. With the counts as weights it is every row
    once.
    """

    source_lengths: np.ndarray
    target_lengths: np.ndarray
    budget: int
    corpora: Sequence[tuple[int, int, float]]
    _known: dict[tuple[int, int], tuple[int, int, int]] = field(default_factory=dict, init=False, repr=False)

    def batches(self, seed: int, epoch: int, start: int = 0) -> Iterator[np.ndarray]:
        """The rows of each batch, from batch `start` of the epoch on."""
        for number, rows in enumerate(self._windows(seed, epoch)):
            batches = _cut(rows, *self._lengths(rows), self.budget)
            if start < len(batches):
                order = _shuffle(len(batches), seed, epoch, _BATCHES, number)
                yield from (batches[place] for place in order[start:])
            start = max(0, start - len(batches))

    def count(self, seed: int, epoch: int) -> int:
        """How many batches an epoch has."""
        return self._totals(seed, epoch)[0]

    def padding_share(self, seed: int, epoch: int) -> float:
        """The part of all places of an epoch's batches, both sides together, that holds no token."""
        _, tokens, places = self._totals(seed, epoch)
        return 1 - tokens / places if places else 0.0

    def _totals(self, seed: int, epoch: int) -> tuple[int, int, int]:
        """The batches of an epoch, their tokens and their places; found once, since it takes seconds for millions."""
        if (seed, epoch) not in self._known:
            batches = tokens = places = 0
            for rows in self._windows(seed, epoch):
                for batch in _cut(rows, *self._lengths(rows), self.budget):
                    source, target = self._lengths(batch)
                    batches += 1
                    tokens += int(source.sum() + target.sum())
                    places += len(batch) * int(source.max() + target.max())
            self._known[seed, epoch] = batches, tokens, places
        return self._known[seed, epoch]

    def _lengths(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The lengths of both sides with their end tokens."""
        return self.source_lengths[rows].astype(np.int64) + 1, self.target_lengths[rows].astype(np.int64) + 1

    def _windows(self, seed: int, epoch: int) -> Iterator[np.ndarray]:
        """The rows of an epoch in as few windows of equal size as are needed."""
        rows = self._rows(seed, epoch)
        if not len(rows):
            return
        longer = np.maximum(self.source_lengths, self.target_lengths)
        most = _WINDOW_BATCHES * self.budget * len(longer) // (int(longer.sum(dtype=np.int64)) + len(longer))
        windows = -(-len(rows) // max(1, min(_WINDOW_ROWS, most)))
        for number in range(windows):
            yield rows[len(rows) * number // windows : len(rows) * (number + 1) // windows]

    def _rows(self, seed: int, epoch: int) -> np.ndarray:
        """The rows of an epoch in random order."""
        corpora = [corpus for corpus in self.corpora if corpus[1]]
        drawn = [np.empty(0, np.int64)]
        for number, ((first, count, _), quota) in enumerate(zip(corpora, _quotas(corpora), strict=True)):
            rounds, rest = divmod(quota, count)
            drawn.append(first + np.tile(np.arange(count), rounds))
            if rest:
                drawn.append(first + _shuffle(count, seed, epoch, _DRAWS, number)[:rest])
        rows = np.concatenate(drawn)
        return rows[_shuffle(len(rows), seed, epoch, _ROWS, 0)]


def _quotas(corpora: Sequence[tuple[int, int, float]]) -> list[int]:
    """How many rows of an epoch come from each corpus; the roundings add up to the whole."""
    rows = sum(count for _, count, _ in corpora)
    weights = [weight for _, _, weight in corpora]
    bounds = [round(rows * weight / sum(weights)) for weight in accumulate(weights)]
    return [after - before for before, after in pairwise([0, *bounds])]


def _shuffle(count: int, seed: int, epoch: int, purpose: int, number: int) -> np.ndarray:
    """The numbers below `count` in random order.

    They are sorted by raw random bits, which numpy promises to keep the same; it does not promise that of its shuffle.
    """
    sequence = np.random.SeedSequence([seed, epoch], spawn_key=(purpose, number))
    return _order(np.random.PCG64(sequence).random_raw(count) >> np.uint64(32))


def _order(keys: np.ndarray) -> np.ndarray:
    """What a stable argsort of numbers that are not negative gives, but faster: places are sorted as lower digits."""
    digits = len(keys).bit_length()
    return np.sort(keys.astype(np.int64) << digits | np.arange(len(keys))) & ((1 << digits) - 1)


def _cut(rows: np.ndarray, source: np.ndarray, target: np.ndarray, budget: int) -> list[np.ndarray]:
    """The rows of a window cut into batches, by whichever of the ways to sort them takes fewest places."""
    ways = []
    for batches in _BAND_BATCHES:
        order = _sorted_by_length(source, target, budget * batches)
        starts = _starts(source[order], target[order], budget)
        ways.append((_places(source[order], target[order], starts), order, starts))
    _, order, starts = min(ways, key=itemgetter(0))
    return np.split(rows[order], starts[1:])


def _sorted_by_length(source: np.ndarray, target: np.ndarray, band_cost: int) -> np.ndarray:
    """An order in which neighbours have nearly the same lengths on both sides.

    By the longer side first, in bands of lengths that together cost at least `band_cost`, so that rare lengths share a
    band; inside a band by the difference of the sides, up in one band and down in the next, so that no jump lies
    between two bands.
    """
    longer, difference = np.maximum(source, target), source - target
    band = _bands(longer, band_cost)[longer]
    reach = int(np.abs(difference).max(initial=0))
    key = band * (2 * reach + 1) + reach + np.where(band % 2, -difference, difference)
    return _order(key)


def _bands(longer: np.ndarray, band_cost: int) -> np.ndarray:
    """The band of each length, gathered from the longest down."""
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
    """Where each batch starts."""
    starts, start = [], 0
    while start < len(source):
        starts.append(start)
        most = start + max(1, budget // int(max(source[start], target[start])))
        start += _fitting(source[start:most], target[start:most], budget)
    return starts


def _fitting(source: np.ndarray, target: np.ndarray, budget: int) -> int:
    """How many of these rows make the next batch.

    As many as the budget allows, or somewhat fewer where the last rows would bring more padding than they are worth.
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
    """The places of all batches, both sides together, padding included."""
    if not starts:
        return 0
    widths = np.maximum.reduceat(source, starts) + np.maximum.reduceat(target, starts)
    return int((widths * np.diff(starts, append=len(source))).sum())
