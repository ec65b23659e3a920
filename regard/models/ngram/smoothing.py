"""From counts to probabilities: interpolated modified Kneser–Ney as KenLM has it, back-off and add-k beside it.

In all of them V is the number of tokens that can be predicted: the words, the unknown word and the end of a sentence,
but not its beginning. All come out in the back-off form of `Ngrams`, in which their probabilities are exact.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool, Float64

from regard.base.faults import Fault
from regard.models.ngram.counting import NgramCounts
from regard.models.ngram.model import Ngrams
from regard.models.ngram.options import NgramOptions
from regard.models.ngram.trie import Rows, Trie

Chances = Float64[np.ndarray, "_"]  # one for each n-gram of an order, or for each context
Possible = Bool[np.ndarray, " token"]  # which tokens can be predicted

_FALLBACK = (0.5, 1.0, 1.5)  # the discounts of lmplz --discount_fallback
_FALLBACK_OF_BACKOFF = 0.5


def estimate(options: NgramOptions, counts: NgramCounts, begin: int, possible: Possible) -> Ngrams:
    """The model of some counts, in which `begin` begins every sentence."""
    match options.smoothing:
        case "kneser-ney":
            return kneser_ney(counts, begin, possible, options.discount_fallback)
        case "back-off":
            return back_off(counts, begin, possible, options.discount_fallback)
        case "add-k":
            return add_k(counts, begin, possible, options.k)
    raise Fault("An imported model was not counted here and cannot be; choose another smoothing.")


def kneser_ney(counts: NgramCounts, begin: int, possible: Possible, fallback: bool = False) -> Ngrams:
    """Interpolated modified Kneser–Ney (Chen & Goodman 1998, section 3; Heafield et al. 2013, as lmplz has it).

    With a(g) the adjusted count of an n-gram (see `adjusted_counts`),

        p(w | h) = (a(hw) − D(a(hw))) / Σᵥ a(hv) + γ(h) p(w | h'),    γ(h) = Σᵥ D(a(hv)) / Σᵥ a(hv),

    down to single words, for which p(w | h') is 1/V. Nothing is pruned. One thing differs: where lmplz counts how many
    n-grams have which count, it takes the very last n-gram of each order by how often it occurs; we take all of them by
    their adjusted counts.
    """
    trie, adjusted = counts.trie, adjusted_counts(counts, begin)
    suffixes = [np.zeros(0, np.int64), *trie.suffixes()]
    probabilities: list[Chances] = []
    backoffs: list[Chances] = []
    for order, (count, suffix) in enumerate(zip(adjusted, suffixes, strict=True), 1):
        discount = np.array([0, *kneser_ney_discounts(count, order, fallback)])[np.minimum(count, 3)]
        parents = _parents(trie, order)
        total, unused = _sums(trie, order, parents, count), _sums(trie, order, parents, discount)
        gamma = np.divide(unused, total, out=np.ones(len(total)), where=total > 0)
        below = probabilities[-1][suffix] if order > 1 else 1 / possible.sum()
        probabilities.append((count - discount) / total[parents] + gamma[parents] * below)
        if order > 1:
            backoffs.append(gamma)
    return _in_logarithms(trie, probabilities, backoffs, possible)


def adjusted_counts(counts: NgramCounts, begin: int) -> list[Rows]:
    """The counts of Kneser–Ney (Heafield et al. 2013, section 3.3).

    Those of the highest order, and of n-grams that begin a sentence, are how often they occur; all others are how many
    different words stand before them. The beginning itself is never predicted and has none.
    """
    trie, adjusted = counts.trie, list(counts.counts)
    for order, suffix in enumerate(trie.suffixes(), 2):
        words_before = np.bincount(suffix, minlength=trie.rows(order - 1))
        adjusted[order - 2] = words_before
    for order, first in enumerate(trie.first_words(), 1):
        begins = first == begin
        adjusted[order - 1] = np.where(begins, counts.counts[order - 1], adjusted[order - 1])
    adjusted[0][begin] = 0
    return adjusted


def kneser_ney_discounts(adjusted: Rows, order: int, fallback: bool) -> tuple[float, float, float]:
    """D₁, D₂ and D₃₊ of an order (Chen & Goodman 1998, equation 26).

        Dᵢ = i − (i + 1) Y tᵢ₊₁ / tᵢ,    Y = t₁ / (t₁ + 2 t₂),

    where tᵢ is the number of n-grams with adjusted count i. A discount of 0, which lmplz lets pass, is refused: it
    would leave nothing for what was not seen.
    """
    times = np.bincount(np.minimum(adjusted, 5), minlength=6).tolist()
    if all(times[1:4]):
        share = times[1] / (times[1] + 2 * times[2])
        one, two, three = (each - (each + 1) * share * times[each + 1] / times[each] for each in (1, 2, 3))
        if two > 0 and three > 0:  # the others of the bounds hold by themselves
            return one, two, three
    if fallback:
        return _FALLBACK
    missing = next((each for each in (1, 2, 3) if not times[each]), None)
    why = f"none has the count {missing}" if missing else "they would not be positive"
    raise _cannot_discount(order, why)


def back_off(counts: NgramCounts, begin: int, possible: Possible, fallback: bool = False) -> Ngrams:
    """Back-off with an absolute discount (Katz 1987, with the discount of Ney, Essen & Kneser 1994).

        p(w | h) = (c(hw) − D) / c(h)                           where hw occurs,
                   α(h) p(w | h')                               otherwise,
        α(h) = D · |{w : hw occurs}| / c(h) / (1 − Σ p(w | h')),    the sum over the same w,

    with one D = t₁ / (t₁ + 2 t₂) for each order, t₁ and t₂ being the numbers of n-grams that occur once and twice.
    Single words share what is discounted of them among all V. A context after which everything was seen keeps its
    counts whole. Unlike Katz, who discounts rare counts alone and by Good and Turing's estimate.
    """
    trie, suffixes = counts.trie, [np.zeros(0, np.int64), *counts.trie.suffixes()]
    probabilities: list[Chances] = []
    backoffs: list[Chances] = []
    for order, (whole, suffix) in enumerate(zip(counts.counts, suffixes, strict=True), 1):
        count = np.where(np.arange(len(whole)) == begin, 0, whole) if order == 1 else whole
        parents = _parents(trie, order)
        total, kinds = _sums(trie, order, parents, count), _sums(trie, order, parents, np.minimum(count, 1))
        discount = np.where(kinds < possible.sum(), absolute_discount(count, order, fallback), 0)
        unused = np.divide(discount * kinds, total, out=np.zeros(len(total)), where=total > 0)
        seen = (count - np.where(count > 0, discount[parents], 0)) / total[parents]
        if order == 1:
            probabilities.append(seen + unused / possible.sum())
            continue
        remaining = 1 - _sums(trie, order, parents, probabilities[-1][suffix])
        backoffs.append(np.divide(unused, remaining, out=np.ones(len(total)), where=unused > 0))
        probabilities.append(seen)
    return _in_logarithms(trie, probabilities, backoffs, possible)


def absolute_discount(counts: Rows, order: int, fallback: bool) -> float:
    """D = t₁ / (t₁ + 2 t₂) (Ney, Essen & Kneser 1994)."""
    once, twice = np.count_nonzero(counts == 1), np.count_nonzero(counts == 2)
    if once and twice:
        return once / (once + 2 * twice)
    if fallback:
        return _FALLBACK_OF_BACKOFF
    raise _cannot_discount(order, f"none occurs {'twice' if once else 'once'}")


def add_k(counts: NgramCounts, begin: int, possible: Possible, k: float) -> Ngrams:
    """k added to every count (Lidstone 1920; Laplace for k = 1).

        p(w | h) = (c(hw) + k) / (c(h) + k V)

    for contexts h of n−1 words, and for the shorter ones with which a sentence begins. There is no lower order to fall
    back to: all other n-grams are given 1/V, which makes the back-off weight of a context k V / (c(h) + k V).
    """
    trie, possibilities = counts.trie, possible.sum()
    probabilities: list[Chances] = []
    backoffs: list[Chances] = []
    for order, (count, first) in enumerate(zip(counts.counts, trie.first_words(), strict=True), 1):
        parents = _parents(trie, order)
        counted = np.where(first == begin, order > 1, order == trie.order)
        total = _sums(trie, order, parents, np.where(counted, count, 0))
        estimated = (count + k) / (total[parents] + k * possibilities)
        probabilities.append(np.where(counted, estimated, 1 / possibilities))
        if order > 1:
            backoffs.append(k * possibilities / (total + k * possibilities))
    return _in_logarithms(trie, probabilities, backoffs, possible)


def _parents(trie: Trie, order: int) -> Rows:
    """The rows of the contexts of all n-grams of an order; words by themselves have one, which is empty."""
    return np.zeros(trie.size, np.int64) if order == 1 else trie.parents(order)


def _sums(trie: Trie, order: int, parents: Rows, values: np.ndarray) -> Chances:
    """The sum over the n-grams of an order for each context."""
    return np.bincount(parents, values, minlength=1 if order == 1 else trie.rows(order - 1))


def _in_logarithms(
    trie: Trie, probabilities: Sequence[Chances], backoffs: Sequence[Chances], possible: Possible
) -> Ngrams:
    probabilities = [np.where(possible, probabilities[0], 0), *probabilities[1:]]
    # Rounding may lead beyond 1, and what is never predicted has the logarithm −∞.
    with np.errstate(divide="ignore"):
        logarithms = [np.log10(np.minimum(each, 1)).astype(np.float32) for each in probabilities]
    return Ngrams(trie, logarithms, [np.log10(each).astype(np.float32) for each in backoffs])


def _cannot_discount(order: int, why: str) -> Fault:
    return Fault(
        f"No discounts can be estimated for the {order}-grams of this text, since {why}: it is too short or too "
        "regular. Learn from more text, set model.discount_fallback = true, or choose model.smoothing = 'add-k'."
    )
