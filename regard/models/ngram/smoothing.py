"""From counts to probabilities: Kneser–Ney, back-off or add-k.

In all of them V is the number of tokens that can be predicted: the words, the unknown word and the end of a sentence,
but not its beginning. All return the back-off form of `Ngrams`, which represents their probabilities exactly.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool, Float64

from regard.base.faults import Fault
from regard.models.ngram.counting import NgramCounts
from regard.models.ngram.discounts import absolute_discount
from regard.models.ngram.kneser_ney import kneser_ney
from regard.models.ngram.model import Ngrams
from regard.models.ngram.options import NgramOptions
from regard.models.ngram.scratch import IN_MEMORY, Scratch
from regard.models.ngram.trie import Rows, Trie

Chances = Float64[np.ndarray, "_"]  # one per n-gram of an order, or per context
Possible = Bool[np.ndarray, " token"]  # which tokens can be predicted


def estimate(
    options: NgramOptions, counts: NgramCounts, begin: int, possible: Possible, scratch: Scratch = IN_MEMORY
) -> Ngrams:
    """Estimate a model from counts; `begin` is the token that begins every sentence."""
    match options.smoothing:
        case "kneser-ney":
            thresholds = options.thresholds
            return kneser_ney(counts, begin, possible, options.discount_fallback, thresholds, scratch)
        case "back-off":
            return back_off(counts, begin, possible, options.discount_fallback)
        case "add-k":
            return add_k(counts, begin, possible, options.k)
    raise Fault("smoothing = 'imported' belongs to imported models and cannot be trained. Choose another smoothing.")


def back_off(counts: NgramCounts, begin: int, possible: Possible, fallback: bool = False) -> Ngrams:
    """Back-off with an absolute discount (Katz 1987, with the discount of Ney, Essen & Kneser 1994).

        p(w | h) = (c(hw) − D) / c(h)                           where hw occurs,
                   α(h) p(w | h')                               otherwise,
        α(h) = D · |{w : hw occurs}| / c(h) / (1 − Σ p(w | h')),    the sum over the same w,

    with one D = t₁ / (t₁ + 2 t₂) for each order, t₁ and t₂ being the numbers of n-grams that occur once and twice.
    The discount of single words is shared by all V. A context after which everything was seen keeps its counts whole;
    so do single words where rare ones count as the unknown word. Katz, in contrast, discounts only rare counts, by Good
    and Turing's estimate.
    """
    trie, suffixes = counts.trie, [np.zeros(0, np.int64), *counts.trie.suffixes()]
    probabilities: list[Chances] = []
    backoffs: list[Chances] = []
    for order, (whole, suffix) in enumerate(zip(counts.counts, suffixes, strict=True), 1):
        count = np.where(np.arange(len(whole)) == begin, 0, whole) if order == 1 else whole
        parents = _parents(trie, order)
        total, kinds = _sums(trie, order, parents, count), _sums(trie, order, parents, np.minimum(count, 1))
        misses = kinds < possible.sum()  # contexts after which something was not seen
        discount = np.where(misses, absolute_discount(count, order, fallback) if misses.any() else 0, 0)
        unused = np.divide(discount * kinds, total, out=np.zeros(len(total)), where=total > 0)
        estimates = (count - np.where(count > 0, discount[parents], 0)) / total[parents]
        if order == 1:
            probabilities.append(estimates + unused / possible.sum())
            continue
        remaining = 1 - _sums(trie, order, parents, probabilities[-1][suffix])
        backoffs.append(np.divide(unused, remaining, out=np.ones(len(total)), where=unused > 0))
        probabilities.append(estimates)
    return _in_logarithms(trie, probabilities, backoffs, possible)


def add_k(counts: NgramCounts, begin: int, possible: Possible, k: float) -> Ngrams:
    """Add k to every count (Lidstone 1920; Laplace for k = 1).

        p(w | h) = (c(hw) + k) / (c(h) + k V)

    for contexts h of n−1 words, and for the shorter ones at the beginning of a sentence. There is no lower order to
    back off to: all other n-grams get 1/V, so the back-off weight of a context is k V / (c(h) + k V).
    """
    trie, possibilities = counts.trie, possible.sum()
    probabilities: list[Chances] = []
    backoffs: list[Chances] = []
    for order, (count, first) in enumerate(zip(counts.counts, trie.first_words(), strict=True), 1):
        parents = _parents(trie, order)
        counted = np.where(first == begin, order > 1, order == trie.order)
        total = _sums(trie, order, parents, np.where(counted, count, 0))
        estimates = (count + k) / (total[parents] + k * possibilities)
        probabilities.append(np.where(counted, estimates, 1 / possibilities))
        if order > 1:
            backoffs.append(k * possibilities / (total + k * possibilities))
    return _in_logarithms(trie, probabilities, backoffs, possible)


def _parents(trie: Trie, order: int) -> Rows:
    """Return the rows of the contexts of all n-grams of an order; single words share one context, which is empty."""
    return np.zeros(trie.size, np.int64) if order == 1 else trie.parents(order)


def _sums(trie: Trie, order: int, parents: Rows, values: np.ndarray) -> Chances:
    """Sum values over the n-grams of an order for each context."""
    return np.bincount(parents, values, minlength=1 if order == 1 else trie.rows(order - 1))


def _in_logarithms(
    trie: Trie, probabilities: Sequence[Chances], backoffs: Sequence[Chances], possible: Possible
) -> Ngrams:
    probabilities = [np.where(possible, probabilities[0], 0), *probabilities[1:]]
    # Rounding may push values beyond 1, and tokens that are never predicted have the logarithm −∞.
    with np.errstate(divide="ignore"):
        logarithms = [np.log10(np.minimum(chances, 1)).astype(np.float32) for chances in probabilities]
    return Ngrams(trie, logarithms, [np.log10(chances).astype(np.float32) for chances in backoffs])
