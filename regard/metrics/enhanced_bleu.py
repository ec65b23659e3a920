"""Two metrics named eBLEU: one based on word vectors, the other on precision and recall.

**eBLEU** (ElNokrashy and Kocmi 2023) lets words of similar meaning match. Ours follows the idea of the paper's
abstract: similarities of word vectors instead of equal strings, in an algorithm like BLEU's. The paper's own formulas
were not available. The similarity of words u and v is

    s(u, v) = 1 if u = v, else max(0, cos(u, v)), and 0 if one of them has no vector

and that of n-grams the product over their words. The n-grams of an output are paired with those of the reference one by
one, the most similar first and none twice; m_n is the sum of their similarities. With counts summed over the test set

    p_n = Σ m_n / Σ n-grams written,   eBLEU = BP · exp(¼ Σ ln p_n),   BP = exp(1 − r / c) if c < r

so that orthogonal vectors give BLEU, without smoothing. The value runs from 0 to 100.

**EBLEU** (Han et al. 2013), enhanced BLEU, uses recall as well as precision and a penalty on both sides:

    EBLEU = LP · H,   LP = exp(1 − longer / shorter),   H = (β + α) / (β / P + α / R)

where P and R are the shares of output and reference words that are in both, β = 9 and α = 1. This is the formula of the
authors' program, which compares parts of speech with those of the source; we compare words with those of a reference.
The paper has a sum over n-grams, of which the program uses the first term. The value is the mean over sentences, from
0 to 1.
"""

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np

from regard.base.faults import Fault
from regard.data.vectors.word_vectors import WordVectors
from regard.metrics.ngrams import tokens
from regard.metrics.summed import Row, Summed, mean_of_best

_ORDERS = 4


def ebleu(vectors: WordVectors) -> Summed:
    """Return eBLEU with these vectors; a word is looked up unchanged, then in lower case."""
    how = f"case:mixed|norm:NFC|tok:13a|ref:best|smooth:none|vectors:{len(vectors)}x{vectors.width}"

    def rows(hypotheses: Sequence[str], sentences: Sequence[Sequence[str]]) -> list[Row]:
        written = [tokens(text) for text in hypotheses]
        wanted = [[tokens(text) for text in texts] for texts in sentences]
        _check_known(vectors, [*written, *(words for references in wanted for words in references)])
        return [
            max((_row(vectors, words, reference) for reference in references), key=_preference)
            for words, references in zip(written, wanted, strict=True)
        ]

    return Summed(rows, _finish, lambda: how)


def _check_known(vectors: WordVectors, texts: Sequence[Sequence[str]]) -> None:
    if not any(_row_of(vectors, word) is not None for words in texts for word in words):
        raise Fault("None of the scored words has a word vector; give vectors for the language of the outputs.")


def _row_of(vectors: WordVectors, word: str) -> int | None:
    number = vectors.numbers.get(word)
    return vectors.numbers.get(word.lower()) if number is None else number


def _row(vectors: WordVectors, written: Sequence[str], wanted: Sequence[str]) -> Row:
    """Return matches and number of n-grams for each order, then both lengths."""
    alike = _alike(vectors, written, wanted)
    counts: list[float] = []
    for order in range(1, _ORDERS + 1):
        here, there = max(0, len(written) - order + 1), max(0, len(wanted) - order + 1)
        likeness = np.prod([alike[k : k + here, k : k + there] for k in range(order)], axis=0)
        counts += [_paired(likeness), here]
    return *counts, len(written), len(wanted)


def _alike(vectors: WordVectors, written: Sequence[str], wanted: Sequence[str]) -> np.ndarray:
    """Return the similarity of every output word to every reference word."""
    equal = np.array([[word == other for other in wanted] for word in written]).reshape(len(written), len(wanted))
    cosines = _units(vectors, written) @ _units(vectors, wanted).T
    return np.where(equal, 1.0, np.clip(cosines, 0.0, 1.0))


def _units(vectors: WordVectors, words: Sequence[str]) -> np.ndarray:
    """Return the vector of each word divided by its length, zeros for a word without one."""
    units = np.zeros((len(words), vectors.width))
    for place, word in enumerate(words):
        if (row := _row_of(vectors, word)) is not None:
            units[place] = vectors.units(slice(row, row + 1))[0]
    return units


def _paired(likeness: np.ndarray) -> float:
    """Return the sum over pairs chosen greedily, the most similar first and nothing twice."""
    total, free = 0.0, likeness.copy()
    for _ in range(min(likeness.shape)):
        row, column = np.unravel_index(free.argmax(), free.shape)
        if free[row, column] <= 0:
            break
        total += float(free[row, column])
        free[row, :] = free[:, column] = -1.0
    return total


def _preference(row: Row) -> tuple[float, float]:
    return _finish(row), sum(row[: 2 * _ORDERS : 2])


def _finish(total: Sequence[float]) -> float:
    matches, counts, (written, wanted) = total[: 2 * _ORDERS : 2], total[1 : 2 * _ORDERS : 2], total[-2:]
    if not all(matches):
        return 0.0
    logarithms = [math.log(match / count) for match, count in zip(matches, counts, strict=True)]
    return 100 * min(1.0, math.exp(1 - wanted / written)) * math.exp(sum(logarithms) / _ORDERS)


def ebleu_2013(alpha: float = 1.0, beta: float = 9.0) -> Summed:
    """Return EBLEU as a metric; `alpha` is the weight of recall and `beta` that of precision."""
    how = f"case:mixed|norm:NFC|tok:13a|ref:best|mean:text|alpha:{alpha:g}|beta:{beta:g}|orders:1|range:0-1"

    def compare(hypothesis: str, reference: str) -> float:
        written, wanted = Counter(tokens(hypothesis)), Counter(tokens(reference))
        common, lengths = (written & wanted).total(), sorted((written.total(), wanted.total()))
        if not common:
            return 0.0
        precision, recall = common / written.total(), common / wanted.total()
        return math.exp(1 - lengths[1] / lengths[0]) * (alpha + beta) / (alpha / recall + beta / precision)

    return mean_of_best(compare, lambda: how)
