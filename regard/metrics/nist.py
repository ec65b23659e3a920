"""NIST: BLEU's matching n-grams, weighted by their information, and added up (Doddington 2002).

    info(w₁…wₙ) = log₂(how often w₁…wₙ₋₁ occurs in the references / how often w₁…wₙ does)         (equation 2)

    NIST = Σₙ₌₁⁵ (Σ info of the n-grams that match / n-grams written) · exp(β log² min(c / r, 1))   (equation 3)

For n = 1 the numerator is the number of words in the references. An n-gram matches at most as often as in the reference
that has it most often; c is the number of output words, and r that of the references, or the mean of several. β is
chosen so that the last factor is ½ if c is two thirds of r. Sums run over the whole test set.

The score has no upper bound: the amount of information depends on the references, so compare only scores of one test
set. Tokens are sacreBLEU's 13a, in lower case, the default of NIST's own program.
"""

import math
from collections import Counter
from collections.abc import Sequence
from functools import reduce
from operator import or_

from regard.metrics.ngrams import Ngram, counts, tokens, windows
from regard.metrics.summed import Row, Summed

LONGEST = 5
_BETA = math.log(0.5) / math.log(1.5) ** 2


def nist() -> Summed:
    """Return NIST as a metric."""
    return Summed(_rows, _finish, lambda: "case:lc|norm:NFC|tok:13a|ref:all|order:5|range:0-inf")


def _cut(text: str) -> list[str]:
    return tokens(text.lower())


def _rows(hypotheses: Sequence[str], sentences: Sequence[Sequence[str]]) -> list[Row]:
    """Return for each sentence the information of its matches and its n-grams, by order; then both lengths."""
    references = [[_cut(text) for text in texts] for texts in sentences]
    information = _information(references)
    return [_row(_cut(text), texts, information) for text, texts in zip(hypotheses, references, strict=True)]


def _information(references: Sequence[Sequence[Sequence[str]]]) -> dict[Ngram, float]:
    """Return the information of each n-gram of the references, in bits."""
    having: Counter[Ngram] = Counter()
    for texts in references:
        for text in texts:
            having[()] += len(text)
            for order in range(1, LONGEST + 1):
                having.update(windows(text, order))
    return {ngram: math.log2(having[ngram[:-1]] / count) for ngram, count in having.items() if ngram}


def _row(written: Sequence[str], references: Sequence[Sequence[str]], bits_of: dict[Ngram, float]) -> Row:
    information, ngrams = [], []
    for order in range(1, LONGEST + 1):
        ours = counts(written, order)
        most = reduce(or_, (counts(text, order) for text in references))
        information.append(sum(count * bits_of[ngram] for ngram, count in (ours & most).items()))
        ngrams.append(float(ours.total()))
    return *information, *ngrams, float(len(written)), sum(map(len, references)) / len(references)


def _finish(total: Sequence[float]) -> float:
    information, ngrams, (written, wanted) = total[:LONGEST], total[LONGEST : 2 * LONGEST], total[2 * LONGEST :]
    if not written or not wanted:
        return 0.0
    gained = sum(bits / count for bits, count in zip(information, ngrams, strict=True) if count)
    return gained * math.exp(_BETA * math.log(min(1.0, written / wanted)) ** 2)
