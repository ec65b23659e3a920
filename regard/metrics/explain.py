"""BLEU worked out, step by step (Papineni et al. 2002).

An n-gram of a hypothesis counts no more often than the reference that holds it most often has it; that is its clipped
count. Over all sentences of the corpus, for every order n,

    p_n  = Σ clipped counts / Σ counts                     (section 2.1.1)
    BP   = 1 if c > r, else exp(1 − r / c)                 (section 2.3)
    BLEU = BP · exp(Σ_n w_n · ln p_n)                      (section 2.3)

where c is the length of the hypotheses and r that of the references; of several references of a sentence, the one
closest in length gives its length to r. The weights w_n sum to 1.

Ours is sacreBLEU's: text is cut by one of its tokenisers, p_n and BLEU are in percent, and where an order has no match,
half of one is taken, at the next such order a quarter, and so on (`smooth:exp`), unless another smoothing is chosen.
For one sentence the orders are those that it has n-grams of (`eff:yes`).
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
_LOGARITHM_OF_NOTHING = -9999999999.0  # sacreBLEU's, so small that BLEU is 0


@dataclass(frozen=True)
class NgramOrder:
    """One order of n-grams: how many there are, how many of them count, and what that gives."""

    order: int
    matches: int  # the sum of the clipped counts
    total: int
    precision: float  # in percent
    smoothed: bool  # whether it is not the share of the matches, but what smoothing makes of it
    weight: float

    @property
    def logarithm(self) -> float:
        """ln of the precision as a share of 1."""
        return math.log(self.precision / 100) if self.precision else -math.inf


@dataclass(frozen=True)
class Explanation:
    """BLEU with all that it is made of; orders that are not in it are not there."""

    orders: tuple[NgramOrder, ...]
    hypothesis_length: int
    reference_length: int
    brevity_penalty: float
    value: float
    signature: str
    n: int


@dataclass(frozen=True)
class Match:
    """An n-gram of a hypothesis: how often it stands there, how often in the reference that has it most often."""

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
    """BLEU of a corpus, worked out; weights are relative, and equal if none are given."""
    return _explain(hypotheses, references, _metric(orders, tokenise, False, smoothing), weights)


def explain_sentence(
    hypothesis: str,
    references: Sequence[str],
    orders: int = ORDERS,
    weights: Sequence[float] | None = None,
    tokenise: str | None = None,
    smoothing: Smoothing = USUAL_SMOOTHING,
) -> Explanation:
    """BLEU of one sentence, worked out, as sacreBLEU gives it for one sentence."""
    return _explain([hypothesis], [[text] for text in references], _metric(orders, tokenise, True, smoothing), weights)


def matches(hypothesis: str, references: Sequence[str], order: int, tokenise: str | None = None) -> list[Match]:
    """The n-grams of a hypothesis in the order they first stand in it, with how often they count."""
    cut = _metric(order, tokenise, True)._preprocess_segment
    wanted = [_ngrams(cut(text).split(), order) for text in references]
    written = _ngrams(cut(hypothesis).split(), order)
    return [Match(words, count, max(own[words] for own in wanted)) for words, count in written.items()]


def parse_weights(text: str) -> list[float]:
    """Weights as people type them: `.25,.25,.25,.25`."""
    try:
        weights = [float(each) for each in text.split(",")]
        if not all(abs(weight) < 1e9 for weight in weights):
            raise ValueError
        return weights
    except ValueError:
        raise Fault(f"'{text}' is not a list of weights; write numbers with commas between, as .4,.3,.2,.1") from None


def _explain(
    hypotheses: Sequence[str], references: References, metric: Any, weights: Sequence[float] | None
) -> Explanation:
    by_sentence(references)  # each has one at least
    relative = [1.0] * metric.max_ngram_order if weights is None else list(weights)
    _check(relative, metric.max_ngram_order)
    total = sentence_statistics(metric, hypotheses, references).sum(axis=0, dtype=int)
    found = metric._compute_score_from_stats(total.tolist())
    used = max(1, sum(count > 0 for count in found.totals)) if metric.effective_order else metric.max_ngram_order
    return Explanation(
        orders=tuple(
            _order(place + 1, *counts, found.precisions[place], relative[place] / (sum(relative[:used]) or 1.0))
            for place, counts in enumerate(_counts(total.tolist(), metric.max_ngram_order)[:used])
        ),
        hypothesis_length=found.sys_len,
        reference_length=found.ref_len,
        brevity_penalty=found.bp,
        value=found.bp * math.exp(_weighted_mean(found.precisions[:used], relative[:used])),
        signature=_signature(metric, weights),
        n=len(hypotheses),
    )


def _counts(total: Sequence[int], orders: int) -> list[tuple[int, int]]:
    """Return the matches and the n-grams of each order, from sacreBLEU's sums, before any smoothing."""
    return list(zip(total[2 : 2 + orders], total[2 + orders :], strict=True))


def _order(order: int, matches: int, total: int, precision: float, weight: float) -> NgramOrder:
    smoothed = bool(total) and not math.isclose(precision, 100 * matches / total)
    return NgramOrder(order, matches, total, precision, smoothed, weight)


def _weighted_mean(precisions: Sequence[float], weights: Sequence[float]) -> float:
    """Σ w ln p / Σ w; divided once and at the end, so that equal weights give sacreBLEU's very digits."""
    logarithms = [math.log(each) if each else _LOGARITHM_OF_NOTHING for each in precisions]
    total = sum(weights)
    if not total:  # all the weight lies on orders that the sentence is too short for
        return _LOGARITHM_OF_NOTHING
    return sum(weight * each for weight, each in zip(weights, logarithms, strict=True)) / total


def _check(weights: Sequence[float], orders: int) -> None:
    if len(weights) != orders:
        raise Fault(
            f"There are {quantity(len(weights), 'weight')} for {quantity(orders, 'order')} of n-grams; "
            "give one for each."
        )
    if not all(math.isfinite(weight) and weight >= 0 for weight in weights) or not sum(weights):
        given = ", ".join(f"{weight:g}" for weight in weights)
        raise Fault(f"The weights {given} are not valid: each must be 0 or more, and one must be more than 0.")


def _signature(metric: Any, weights: Sequence[float] | None) -> str:
    """sacreBLEU's, and what it has no place for."""
    signed = str(metric.get_signature())
    if metric.max_ngram_order != ORDERS:
        signed += f"|orders:{metric.max_ngram_order}"
    if weights is not None and len(set(weights)) > 1:
        signed += f"|weights:{','.join(f'{weight:g}' for weight in weights)}"
    return signed


def _metric(orders: int, tokenise: str | None, for_one: bool, smoothing: Smoothing = USUAL_SMOOTHING) -> Any:
    if orders < 1:
        raise Fault(f"BLEU needs n-grams of one order at least, not of {orders}.")
    return bleu(tokenise, orders, for_one, smoothing)


def _ngrams(tokens: Sequence[str], order: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(tokens[first : first + order]) for first in range(len(tokens) - order + 1))
