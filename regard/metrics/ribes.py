"""RIBES: whether words stand in the right order (Isozaki et al. 2010), which matters between distant languages.

    RIBES = NKT · P^α · BP^β,   α = 0.25,   β = 0.10

Each word written is paired with the one of the reference that it stands for, if that is beyond doubt. P is the share
of the words written that have a partner, BP = min(1, exp(1 − wanted / written)) is BLEU's brevity penalty, of one
sentence, and NKT = (τ + 1) / 2 comes from Kendall's τ: the share of pairs of partners that stand in the same order on
both sides.

A word that occurs once in both texts stands for itself. Of others, the context decides: the shortest run of words,
from the word to the right or else to the left, that occurs once in both texts. That is the paper's pairing by bigrams,
continued to longer runs as its authors' program does.

The value is the mean over sentences, from 0 to 1; of several references the best counts. Tokens are sacreBLEU's 13a.
"""

import math
from bisect import bisect_left, insort
from collections.abc import Sequence
from typing import NamedTuple

from regard.metrics.ngrams import tokens
from regard.metrics.summed import Summed, mean_of_best


def ribes(alpha: float = 0.25, beta: float = 0.10) -> Summed:
    """RIBES as a metric; `alpha` and `beta` say how much precision and brevity count beside order."""
    how = f"case:mixed|norm:NFC|tok:13a|ref:best|mean:text|alpha:{alpha:g}|beta:{beta:g}|range:0-1"

    def compare(hypothesis: str, reference: str) -> float:
        written, wanted = tokens(hypothesis), tokens(reference)
        if not written or not wanted:
            return 0.0
        places = partners(written, wanted)
        brevity = min(1.0, math.exp(1 - len(wanted) / len(written)))
        return _order(places, len(wanted)) * (len(places) / len(written)) ** alpha * brevity**beta

    return mean_of_best(compare, lambda: how)


class _Sides(NamedTuple):
    """Where a word stands in both texts, followed or led by the same run of words."""

    written: list[int]
    wanted: list[int]

    @property
    def are_unique(self) -> bool:
        return len(self.written) == len(self.wanted) == 1


def partners(written: Sequence[str], wanted: Sequence[str]) -> list[int]:
    """The places in the reference of the words written that have a partner there, in the order of writing."""
    ours, theirs = _places(written), _places(wanted)
    sides = [_Sides(ours[word], theirs.get(word, [])) for word in written]
    found = (_partner(written, place, wanted, own) for place, own in enumerate(sides))
    return [place for place in found if place is not None]


def _places(text: Sequence[str]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for place, word in enumerate(text):
        found.setdefault(word, []).append(place)
    return found


def _partner(written: Sequence[str], place: int, wanted: Sequence[str], sides: _Sides) -> int | None:
    """The place a word stands for: where the first run that occurs once on both sides has it."""
    if sides.are_unique:
        return sides.wanted[0]
    right = left = sides
    for reach in range(1, len(written)):
        right = _continue(right, written, wanted, place, reach)
        left = _continue(left, written, wanted, place, -reach)
        for run in (right, left):
            if run.are_unique:
                return run.wanted[0]
        if not right.wanted and not left.wanted:
            break
    return None


def _continue(run: _Sides, written: Sequence[str], wanted: Sequence[str], place: int, step: int) -> _Sides:
    """Those places at which one more word, a step away, is the one that stands there from `place`."""
    if not run.wanted or not 0 <= place + step < len(written):
        return _Sides([], [])
    word = written[place + step]

    def continuing(places: list[int], text: Sequence[str]) -> list[int]:
        return [start for start in places if 0 <= start + step < len(text) and text[start + step] == word]

    there = continuing(run.wanted, wanted)
    return _Sides(continuing(run.written, written) if there else [], there)


def _order(places: Sequence[int], wanted: int) -> float:
    """The share of pairs that stand in order; a single word is in order only where no other is wanted."""
    if len(places) < 2:
        return float(len(places) == wanted == 1)
    before: list[int] = []
    rising = 0
    for place in places:
        rising += bisect_left(before, place)
        insort(before, place)
    return rising / math.comb(len(places), 2)
