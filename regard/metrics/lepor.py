"""LEPOR: length, precision, recall and the places of words in one number (Han et al. 2012).

    LEPOR = LP · NPosPenal · Harmonic(αR, βP)

    LP         exp(1 − longer / shorter) of the two lengths: too long costs as much as too short     (equation 2)
    NPosPenal  exp(−NPD), NPD = 1/n Σ |i/n − j/m| over the words i of n written whose partner is j of m  (3 to 5)
    Harmonic   (α + β) / (α/R + β/P), P and R the shares of words written and wanted that have a partner     (6)

This is LEPOR as first published, not hLEPOR, which combines the three factors by a weighted harmonic mean instead of a
product. α and β are 1: the papers tune them for each language pair, and we favour neither side.

Partners are equal words, each used once. A word with several candidates prefers one with an equal neighbour, up to two
words to either side, and among those, or if there are none, the one nearest to its own relative place. The value is the
mean over sentences, from 0 to 1; the best reference counts. Tokens are sacreBLEU's 13a.

Each factor is also a separate metric, against the reference that gives the best LEPOR; an output without a word in
common with any reference has 0 for each.
"""

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple

from regard.metrics.ngrams import tokens
from regard.metrics.summed import Row, Summed, mean, mean_of_best

Part = Literal["length", "places", "harmonic"]
_REACH = 2  # words to either side that count as neighbours


def lepor(alpha: float = 1.0, beta: float = 1.0) -> Summed:
    """Return LEPOR as a metric; `alpha` is the weight of recall and `beta` that of precision."""
    how = _signature(alpha, beta, "LEPOR")
    return mean_of_best(lambda written, wanted: _factors(written, wanted, alpha, beta).product, lambda: how)


def lepor_part(part: Part, alpha: float = 1.0, beta: float = 1.0) -> Summed:
    """Return one factor of LEPOR as a metric: length, places or harmonic."""
    how = _signature(alpha, beta, f"LEPOR {part}")

    def rows(hypotheses: Sequence[str], sentences: Sequence[Sequence[str]]) -> list[Row]:
        sides = zip(hypotheses, sentences, strict=True)
        best = [
            max((_factors(written, text, alpha, beta) for text in texts), key=lambda factors: factors.product)
            for written, texts in sides
        ]
        return [(getattr(factors, part), 1.0) for factors in best]

    return Summed(rows, mean, lambda: how)


class _Factors(NamedTuple):
    """The three factors of LEPOR for one sentence."""

    length: float
    places: float
    harmonic: float

    @property
    def product(self) -> float:
        return self.length * self.places * self.harmonic


def _factors(hypothesis: str, reference: str, alpha: float, beta: float) -> _Factors:
    written, wanted = tokens(hypothesis), tokens(reference)
    pairs = partners(written, wanted)
    if not pairs:
        return _Factors(0.0, 0.0, 0.0)
    precision, recall = len(pairs) / len(written), len(pairs) / len(wanted)
    harmonic = (alpha + beta) / (alpha / recall + beta / precision)
    sizes = len(written), len(wanted)
    return _Factors(_length_penalty(*sizes), _place_penalty(pairs, *sizes), harmonic)


def _signature(alpha: float, beta: float, variant: str) -> str:
    return f"case:mixed|norm:NFC|tok:13a|ref:best|mean:text|alpha:{alpha:g}|beta:{beta:g}|variant:{variant}|range:0-1"


def partners(written: Sequence[str], wanted: Sequence[str]) -> list[tuple[int, int]]:
    """Return pairs of places of equal words; those with common neighbours come first, then the nearest."""
    candidates = [(i, j) for i, word in enumerate(written) for j, other in enumerate(wanted) if word == other]

    def preference(pair: tuple[int, int]) -> tuple[bool, float, int, int]:
        i, j = pair
        return not _has_neighbours(written, i, wanted, j), abs((i + 1) / len(written) - (j + 1) / len(wanted)), i, j

    taken_written: set[int] = set()
    taken_wanted: set[int] = set()
    pairs = []
    for i, j in sorted(candidates, key=preference):
        if i not in taken_written and j not in taken_wanted:
            taken_written.add(i)
            taken_wanted.add(j)
            pairs.append((i, j))
    return sorted(pairs)


def _has_neighbours(written: Sequence[str], i: int, wanted: Sequence[str], j: int) -> bool:
    """Return True if a word at the same distance is equal on both sides."""
    steps = [step for step in range(-_REACH, _REACH + 1) if step]
    return any(
        0 <= i + step < len(written) and 0 <= j + step < len(wanted) and written[i + step] == wanted[j + step]
        for step in steps
    )


def _length_penalty(written: int, wanted: int) -> float:
    return math.exp(1 - max(written, wanted) / min(written, wanted))


def _place_penalty(pairs: Sequence[tuple[int, int]], written: int, wanted: int) -> float:
    return math.exp(-sum(abs((i + 1) / written - (j + 1) / wanted) for i, j in pairs) / written)
