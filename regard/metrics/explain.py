"""BLEU explained step by step (Papineni et al. 2002).

An n-gram of a hypothesis counts at most as often as in the reference that has it most often; that is its clipped count.
Over all sentences of the corpus, for every order n,

    p_n  = Σ clipped counts / Σ counts                     (section 2.1.1)
    BP   = 1 if c > r, else exp(1 − r / c)                 (section 2.3)
    BLEU = BP · exp(Σ_n w_n · ln p_n)                      (section 2.3)

where c is the length of the hypotheses and r that of the references. If a sentence has several references, r counts the
one closest in length. The weights w_n sum to 1.

Ours is sacreBLEU's: one of its tokenisers is used, p_n and BLEU are in percent, and an order without a match counts as
half a match, the next such order as a quarter, and so on (`smooth:exp`), unless another smoothing is chosen. For a
single sentence, only the orders that it has n-grams of are used (`eff:yes`).
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from regard.base.faults import Fault
from regard.base.figures import quantity
from regard.metrics.bleu import USUAL_SMOOTHING, Smoothing, bleu
from regard.metrics.errors import References, by_sentence
from regard.metrics.sentence_counts import sentence_statistics

ORDERS = 4
_LOGARITHM_OF_NOTHING = -9999999999.0  # as in sacreBLEU, so small that


@dataclass(frozen=True)
class NgramOrder:
    """One order of n-grams: their number, how many match, and the resulting precision."""

    order: int
    matches: int  # sum of the clipped counts
    total: int
    precision: float  # in percent
    smoothed: bool  # True if smoothing changed it from the share of matches
    weight: float

    @property
    def logarithm(self) -> float:
        """Natural logarithm of the precision as a share of 1."""
        return math.log(self.precision / 100) if self.precision else -math.inf


@dataclass(frozen=True)
class Explanation:
    """BLEU with all its components; unused orders are left out."""

    orders: tuple[NgramOrder, ...]
    hypothesis_length: int
    reference_length: int
    brevity_penalty: float
    value: float
    signature: str
    n: int


@dataclass(frozen=True)
class Match:
    """An n-gram of a hypothesis: its count there, and in the reference that has it most often."""

    words: tuple[str, ...]
    count: int
    most: int

    @property
    def clipped(self) -> int:
        return min(self.count, self.most)


def explain_corpus(
    hypotheses: Sequence[str],
    references: References,
    orders: int = ORDERS,
    weights: Sequence[float] | None = None,
    tokenise: str | None = None,
    smoothing: Smoothing = USUAL_SMOOTHING,
) -> Explanation:
    """Explain the BLEU of a corpus; weights are relative, and equal by default."""
    return _explain(hypotheses, references, _metric(orders, tokenise, False, smoothing), weights)


def explain_sentence(
    hypothesis: str,
    references: Sequence[str],
    orders: int = ORDERS,
    weights: Sequence[float] | None = None,
    tokenise: str | None = None,
    smoothing: Smoothing = USUAL_SMOOTHING,
) -> Explanation:
    """Explain the BLEU of one sentence, as sacreBLEU computes it for one sentence."""
    return _explain([hypothesis], [[text] for text in references], _metric(orders, tokenise, True, smoothing), weights)


def matches(hypothesis: str, references: Sequence[str], order: int, tokenise: str | None = None) -> list[Match]:
    """Return the n-grams of a hypothesis in order of first occurrence, with their counts."""
    cut = _metric(order, tokenise, True)._preprocess_segment
    wanted = [_ngrams(cut(text).split(), order) for text in references]
    written = _ngrams(cut(hypothesis).split(), order)
    return [
        Match(words, count, max(reference_counts[words] for reference_counts in wanted))
        for words, count in written.items()
    ]


def parse_weights(text: str) -> list[float]:
    """Parse weights such as `.25,.25,.25,.25`."""
    try:
        weights = [float(number) for number in text.split(",")]
        if not all(abs(weight) < 1e9 for weight in weights):
            raise ValueError
        return weights
    except ValueError:
        raise Fault(f"'{text}' is not a list of weights; write numbers with commas between, as .4,.3,.2,.1") from None


def _explain(
    hypotheses: Sequence[str], references: References, metric: Any, weights: Sequence[float] | None
) -> Explanation:
    by_sentence(references)  # checks that each has at least one
    relative = [1.0] * metric.max_ngram_order if weights is None else list(weights)
    _check(relative, metric.max_ngram_order)
    total = sentence_statistics(metric, hypotheses, references).sum(axis=0, dtype=int)
    result = metric._compute_score_from_stats(total.tolist())
    used = max(1, sum(count > 0 for count in result.totals)) if metric.effective_order else metric.max_ngram_order
    return Explanation(
        orders=tuple(
            _order(place + 1, *counts, result.precisions[place], relative[place] / (sum(relative[:used]) or 1.0))
            for place, counts in enumerate(_counts(total.tolist(), metric.max_ngram_order)[:used])
        ),
        hypothesis_length=result.sys_len,
        reference_length=result.ref_len,
        brevity_penalty=result.bp,
        value=result.bp * math.exp(_weighted_mean(result.precisions[:used], relative[:used])),
        signature=_signature(metric, weights),
        n=len(hypotheses),
    )


def _counts(total: Sequence[int], orders: int) -> list[tuple[int, int]]:
    """Return the matches and n-grams of each order from sacreBLEU's sums, before smoothing."""
    return list(zip(total[2 : 2 + orders], total[2 + orders :], strict=True))


def _order(order: int, matches: int, total: int, precision: float, weight: float) -> NgramOrder:
    smoothed = bool(total) and not math.isclose(precision, 100 * matches / total)
    return NgramOrder(order, matches, total, precision, smoothed, weight)


def _weighted_mean(precisions: Sequence[float], weights: Sequence[float]) -> float:
    """Return Σ w ln p / Σ w, divided once at the end, so that equal weights give exactly sacreBLEU's digits."""
    logarithms = [math.log(value) if value else _LOGARITHM_OF_NOTHING for value in precisions]
    total = sum(weights)
    if not total:  # all weight is on orders that the sentence is too short for
        return _LOGARITHM_OF_NOTHING
    return sum(weight * value for weight, value in zip(weights, logarithms, strict=True)) / total


def _check(weights: Sequence[float], orders: int) -> None:
    if len(weights) != orders:
        raise Fault(
            f"There {'is' if len(weights) == 1 else 'are'} {quantity(len(weights), 'weight')} "
            f"for {quantity(orders, 'order')} of n-grams; give one for each."
        )
    if not all(math.isfinite(weight) and weight >= 0 for weight in weights) or not sum(weights):
        listed = ", ".join(f"{weight:g}" for weight in weights)
        raise Fault(f"The weights {listed} are not valid: each must be 0 or more, and one must be more than 0.")


def _signature(metric: Any, weights: Sequence[float] | None) -> str:
    """Return sacreBLEU's signature, with what it has no place for."""
    signed = str(metric.get_signature())
    if metric.max_ngram_order != ORDERS:
        signed += f"|orders:{metric.max_ngram_order}"
    if weights is not None and len(set(weights)) > 1:
        signed += f"|weights:{','.join(f'{weight:g}' for weight in weights)}"
    return signed


def _metric(orders: int, tokenise: str | None, for_one: bool, smoothing: Smoothing = USUAL_SMOOTHING) -> Any:
    if orders < 1:
        raise Fault(f"BLEU needs n-grams of at least one order, not {orders}.")
    return bleu(tokenise, orders, for_one, smoothing)


def _ngrams(tokens: Sequence[str], order: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(tokens[first : first + order]) for first in range(len(tokens) - order + 1))
