"""RIBES: a score of word order (Isozaki et al. 2010), which matters between distant languages.

    RIBES = NKT · P^α · BP^β,   α = 0.25,   β = 0.10

Each output word is paired with a reference word, if the pairing is unambiguous. P is the share of output words with a
partner, BP = min(1, exp(1 − wanted / written)) is BLEU's brevity penalty for one sentence, and NKT = (τ + 1) / 2 comes
from Kendall's τ: the share of pairs of partners in the same order on both sides.

A word that occurs once in both texts is its own partner. For others the context decides: the shortest run of words, to
the right of the word or else to the left, that occurs once in both texts. This is the paper's pairing by bigrams,
extended to longer runs as in its authors' program.

The value is the mean over sentences, from 0 to 1; the best reference counts. Tokens are sacreBLEU's 13a.
"""

import math
from bisect import bisect_left, insort
from collections.abc import Sequence
from typing import NamedTuple

from regard.metrics.ngrams import tokens
from regard.metrics.summed import Summed, mean_of_best


def ribes(alpha: float = 0.25, beta: float = 0.10) -> Summed:
    """Return RIBES as a metric; `alpha` and `beta` are the weights of precision and brevity relative to order."""
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
    """Places of a word in both texts, followed or preceded by the same run of words."""

    written: list[int]
    wanted: list[int]

    @property
    def are_unique(self) -> bool:
        return len(self.written) == len(self.wanted) == 1


def partners(written: Sequence[str], wanted: Sequence[str]) -> list[int]:
    """Return the reference places of the output words that have a partner, in output order."""
    ours, theirs = _places(written), _places(wanted)
    sides = [_Sides(ours[word], theirs.get(word, [])) for word in written]
    partner_places = (_partner(written, place, wanted, word_sides) for place, word_sides in enumerate(sides))
    return [place for place in partner_places if place is not None]


def _places(text: Sequence[str]) -> dict[str, list[int]]:
    places_of: dict[str, list[int]] = {}
    for place, word in enumerate(text):
        places_of.setdefault(word, []).append(place)
    return places_of


def _partner(written: Sequence[str], place: int, wanted: Sequence[str], sides: _Sides) -> int | None:
    """Return the partner of a word: its place in the first run that occurs once on both sides."""
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
    """Return the places at which one more word, a step away, equals the one near `place`."""
    if not run.wanted or not 0 <= place + step < len(written):
        return _Sides([], [])
    word = written[place + step]

    def continuing(places: list[int], text: Sequence[str]) -> list[int]:
        return [start for start in places if 0 <= start + step < len(text) and text[start + step] == word]

    reference_places = continuing(run.wanted, wanted)
    return _Sides(continuing(run.written, written) if reference_places else [], reference_places)


def _order(places: Sequence[int], wanted: int) -> float:
    """Return the share of pairs in order; a single word is in order only if no other is wanted."""
    if len(places) < 2:
        return float(len(places) == wanted == 1)
    before: list[int] = []
    rising = 0
    for place in places:
        rising += bisect_left(before, place)
        insort(before, place)
    return rising / math.comb(len(places), 2)
