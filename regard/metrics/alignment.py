"""Pairing the words of two texts by a table of which may go together.

Of all pairings in which no word is used twice, the best is the one (Denkowski and Lavie 2011, section 2.1)

1. that pairs the most words,
2. of these, with the fewest chunks: runs of words that are neighbours, in the same order, on both sides,
3. of these, with the smallest sum of distances between partners,
4. and, where that leaves a choice, with the greatest weight.

The first METEOR (Banerjee and Lavie 2005) had the fewest crossings in place of the second; fewest chunks, which the
score is made of, replaced it. The search goes through one text from left to right and keeps the best beginnings only,
so that it can miss the best pairing of texts that repeat themselves over and over.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

_KEPT = 40  # beginnings


class Pair(NamedTuple):
    """Partners, by their places, and how much the pair is worth."""

    written: int
    wanted: int
    weight: float


class _Beginning(NamedTuple):
    """A pairing of the first words; what is less is better, element by element."""

    unpaired: int
    chunks: int
    distance: int
    unweighted: float  # weight lost
    taken: int  # a bit for each word wanted that has a partner
    pairs: tuple[Pair, ...]

    def without(self) -> "_Beginning":
        return self._replace(unpaired=self.unpaired + 1)

    def plus(self, pair: Pair) -> "_Beginning":
        last = self.pairs[-1] if self.pairs else None
        continues = last is not None and (last.written + 1, last.wanted + 1) == (pair.written, pair.wanted)
        return _Beginning(
            self.unpaired,
            self.chunks + (not continues),
            self.distance + abs(pair.written - pair.wanted),
            self.unweighted - pair.weight,
            self.taken | 1 << pair.wanted,
            (*self.pairs, pair),
        )


def align(candidates: Sequence[Mapping[int, float]]) -> list[Pair]:
    """The best pairing; `candidates` has for each word written the words wanted that it may go with, and the weight."""
    wooers = Counter(place for own in candidates for place in own)
    beginnings = [_Beginning(0, 0, 0, 0.0, 0, ())]
    for written, own in enumerate(candidates):
        if not own:
            continue
        # Who has a candidate to themselves never gains by staying alone.
        may_stay_alone = all(wooers[place] > 1 for place in own)
        grown = []
        for beginning in beginnings:
            free = [place for place in own if not beginning.taken >> place & 1]
            grown += [beginning.plus(Pair(written, place, own[place])) for place in free]
            if may_stay_alone or not free:
                grown.append(beginning.without())
        beginnings = _best(grown)
    return list(beginnings[0].pairs)


def chunks(pairs: Sequence[Pair]) -> int:
    """How many runs of neighbours the pairs make up, given in the order of writing."""
    breaks = sum((one.written + 1, one.wanted + 1) != (two.written, two.wanted) for one, two in pairwise(pairs))
    return breaks + bool(pairs)


def _best(beginnings: Sequence[_Beginning]) -> list[_Beginning]:
    """The best beginnings, of those that can go on alike only the better one."""
    kept: dict[tuple[int, Pair | None], _Beginning] = {}
    for beginning in sorted(beginnings):
        end = beginning.pairs[-1] if beginning.pairs else None
        kept.setdefault((beginning.taken, end), beginning)
        if len(kept) == _KEPT:
            break
    return list(kept.values())
