"""CIDEr: how much a caption agrees with what people wrote about the same picture (Vedantam et al. 2015).

For each n from 1 to 4, a text is a vector g over n-grams: the count of each (tf) times its rarity (idf),

    idf(w) = log(sentences of the test set / sentences with w in a reference)      (equation 1)

and the agreement of two texts is the cosine of their vectors, averaged over the references and over n (equations 2 and
3). The usual variant is CIDEr-D (equation 4), which common evaluation tools print as CIDEr: an n-gram counts at most as
often as in the reference, a length l other than the reference's is penalised, and the result is multiplied by ten:

    CIDEr-D_n(c, s) = 10 · exp(−(l(c) − l(s))² / 2σ²) · Σ_w min(g_w(c), g_w(s)) · g_w(s) / (‖g(c)‖ ‖g(s)‖),   σ = 6

The value is the mean over the test set, from 0 to 10. Words are runs of letters and digits in lower case, unstemmed.
"""

import math
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from regard.base.faults import Fault
from regard.metrics.ngrams import Ngram, counts, words
from regard.metrics.summed import Row, Summed, mean

ORDERS = (1, 2, 3, 4)
_SPREAD = 6.0  # σ of the paper
_SCALE = 10.0
_REMEMBERED = 2**16  # references whose vectors are cached, for captions that are drawn repeatedly

_Vector = dict[Ngram, float]


class _Text(NamedTuple):
    """A text as its length in words and, for each order, its weighted n-grams and their norm."""

    length: int
    vectors: list[_Vector]
    norms: list[float]


def cider(clipped: bool = True) -> Summed:
    """Return CIDEr-D or, if not `clipped`, the plain CIDEr of equations 1 to 3, which runs from 0 to 1."""
    variant, range_ = ("D", "0-10") if clipped else ("plain", "0-1")
    how = f"case:lc|norm:NFC|tok:words|stem:off|ref:mean|idf:references|mean:text|variant:{variant}|range:{range_}"

    def rows(hypotheses: Sequence[str], sentences: Sequence[Sequence[str]]) -> list[Row]:
        agreement = CiderAgreement(sentences, clipped)
        return [(agreement(text, references), 1.0) for text, references in zip(hypotheses, sentences, strict=True)]

    return Summed(rows, mean, lambda: how)


class CiderAgreement:
    """Agreement of single captions with references, with words weighted by rarity."""

    def __init__(self, sentences: Sequence[Sequence[str]], clipped: bool = True) -> None:
        """Compute weights from these sentences, each with one or more references."""
        if len(sentences) < 2:
            raise Fault("CIDEr weighs words by how few sentences have them; give it at least two sentences.")
        self._rarity, self._clipped = (
            _rarity([[words(text) for text in references] for references in sentences]),
            clipped,
        )
        self._reference = lru_cache(_REMEMBERED)(self._weigh)

    def __call__(self, text: str, references: Sequence[str]) -> float:
        """Return the CIDEr-D, or plain CIDEr, of one caption."""
        return _agreement(self._weigh(text), [self._reference(reference) for reference in references], self._clipped)

    def _weigh(self, text: str) -> _Text:
        return _weight(words(text), self._rarity)


class _Rarity(NamedTuple):
    """Rarity of n-grams among the sentences of a test set."""

    sentences: int
    having: Counter[Ngram]

    def of(self, ngram: Ngram) -> float:
        # An n-gram that is in no reference counts as rare as one in a single sentence.
        return math.log(self.sentences / max(1, self.having[ngram]))


def _rarity(sentences: Sequence[Sequence[Sequence[str]]]) -> _Rarity:
    having: Counter[Ngram] = Counter()
    for references in sentences:
        having.update({ngram for text in references for order in ORDERS for ngram in counts(text, order)})
    return _Rarity(len(sentences), having)


def _weight(text: Sequence[str], rarity: _Rarity) -> _Text:
    vectors = [{ngram: count * rarity.of(ngram) for ngram, count in counts(text, order).items()} for order in ORDERS]
    return _Text(len(text), vectors, [math.hypot(*vector.values()) for vector in vectors])


def _agreement(written: _Text, references: Sequence[_Text], clipped: bool) -> float:
    """Return the mean over references and orders."""
    return sum(_compare(written, wanted, clipped) for wanted in references) / len(references)


def _compare(written: _Text, wanted: _Text, clipped: bool) -> float:
    sides = zip(written.vectors, wanted.vectors, written.norms, wanted.norms, strict=True)
    cosine = sum(_cosine(ours, theirs, norm * other, clipped) for ours, theirs, norm, other in sides) / len(ORDERS)
    if not clipped:
        return cosine
    return _SCALE * math.exp(-((written.length - wanted.length) ** 2) / (2 * _SPREAD**2)) * cosine


def _cosine(written: _Vector, wanted: _Vector, norms: float, clipped: bool) -> float:
    """Return the cosine of two vectors, given the product of their norms.

    Clipped, an output's weight counts at most as the reference's.
    """
    common = [ngram for ngram in written if ngram in wanted]  # not a set, whose order would change the rounding
    inner = sum((min(written[ngram], wanted[ngram]) if clipped else written[ngram]) * wanted[ngram] for ngram in common)
    return inner / norms if norms else 0.0
