"""Interpolated modified Kneser–Ney, with or without pruning, as in lmplz.

Chen & Goodman 1998, section 3; Heafield et al. 2013. With a(g) the adjusted count of an n-gram (see `adjusted_counts`),

    p(w | h) = (a(hw) − D(a(hw))) / Σᵥ a(hv) + γ(h) p(w | h'),
    γ(h) = (Σᵥ D(a(hv)) over n-grams that are kept + Σᵥ a(hv) over those that are pruned) / Σᵥ a(hv),

down to single words, for which p(w | h') is 1/V. Adjusted counts and discounts are those of all n-grams, pruned or not.
One thing differs: when lmplz counts how many n-grams have each count, it takes the very last n-gram of each order by
its number of occurrences; we take all of them by their adjusted counts.

All loops go through the n-grams of an order span by span, so that arrays may be memory-mapped files.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float64

from regard.models.ngram.counting import NgramCounts
from regard.models.ngram.discounts import kneser_ney_discounts
from regard.models.ngram.model import Logarithms, Ngrams
from regard.models.ngram.scratch import IN_MEMORY, Scratch, spans
from regard.models.ngram.trie import Rows, Trie

Chances = Float64[np.ndarray, "_"]  # one per n-gram of an order, or per context


def kneser_ney(
    counts: NgramCounts,
    begin: int,
    possible: Bool[np.ndarray, " token"],
    fallback: bool = False,
    thresholds: Sequence[int] = (),
    scratch: Scratch = IN_MEMORY,
) -> Ngrams:
    """Estimate a model from counts; n-grams that occur no more often than their order's threshold are pruned."""
    trie = counts.trie
    suffixes = [np.zeros(0, np.int64), *trie.suffixes(scratch)]
    adjusted = adjusted_counts(counts, begin, suffixes, scratch)
    thresholds = [*thresholds, *[0] * trie.order][: trie.order]
    probabilities = scratch.full(1, 1 / possible.sum(), np.float64)
    scores, backoffs = list[Logarithms](), list[Logarithms]()
    for order, (times, threshold) in enumerate(zip(counts.counts, thresholds, strict=True), 1):
        discounts = np.array([0, *kneser_ney_discounts(adjusted[order - 1], order, fallback)])
        rows = _Rows(trie, order, adjusted[order - 1], times, threshold, discounts)
        total, gamma = rows.shares(scratch)
        below, probabilities = probabilities, scratch.empty(trie.rows(order), np.float64)
        for span in spans(trie.rows(order)):
            parents, count, discount = rows.read(span)
            lower = below[suffixes[order - 1][span] if order > 1 else parents]
            probabilities[span] = (count - discount) / total[parents] + gamma[parents] * lower
        if order == 1:
            probabilities[~possible] = 0
        else:
            backoffs.append(_logarithms(gamma, scratch))
        scores.append(_logarithms(probabilities, scratch, most=1.0))
    model = Ngrams(trie, scores, backoffs)
    return _without_pruned(model, counts.counts, thresholds, scratch) if any(thresholds) else model


def adjusted_counts(
    counts: NgramCounts, begin: int, suffixes: Sequence[Rows] | None = None, scratch: Scratch = IN_MEMORY
) -> list[Rows]:
    """Return the adjusted counts of Kneser–Ney (Heafield et al. 2013, section 3.3).

    For the highest order, and for n-grams that begin a sentence, this is how often they occur; for all others it is the
    number of different words before them. The begin token itself is never predicted and has a count of 0.
    """
    trie, adjusted = counts.trie, list[Rows]()
    suffixes = suffixes or [np.zeros(0, np.int64), *trie.suffixes()]
    begins = np.arange(trie.size) == begin
    for order, times in enumerate(counts.counts, 1):
        if order > 1:
            begins = _of_parents(begins, trie, order, scratch)
        if order == trie.order:
            numbers = scratch.empty(len(times), np.int64)
            numbers[:] = times
        else:
            numbers = _words_before(len(times), suffixes[order], scratch)
            for span in spans(len(times)):
                numbers[span] = np.where(begins[span], times[span], numbers[span])
        adjusted.append(numbers)
    adjusted[0][begin] = 0
    return adjusted


def _of_parents(values: np.ndarray, trie: Trie, order: int, scratch: Scratch) -> np.ndarray:
    """Return, for each n-gram of an order, the value of its first words."""
    spread = scratch.empty(trie.rows(order), values.dtype.type)
    for span in spans(len(spread)):
        spread[span] = values[trie.keys[order - 2][span] // trie.size]
    return spread


def _words_before(rows: int, suffixes: Rows, scratch: Scratch) -> Rows:
    """Return how many n-grams of the next order end with each n-gram."""
    parts = list(spans(len(suffixes)))
    if len(parts) == 1:
        return np.bincount(suffixes, minlength=rows)
    numbers = scratch.full(rows, 0, np.int64)
    for span in parts:
        distinct, times = np.unique(suffixes[span], return_counts=True)
        numbers[distinct] += times
    return numbers


@dataclass(frozen=True)
class _Rows:
    """The n-grams of an order: their adjusted counts, numbers of occurrences, and pruning threshold."""

    trie: Trie
    order: int
    adjusted: Rows
    times: Rows
    threshold: int
    discounts: Chances

    def read(self, span: slice) -> tuple[Rows, Rows, Chances]:
        """Return the contexts of some rows, their adjusted counts and their discounts."""
        count = self.adjusted[span]
        if self.order == 1:
            parents = np.zeros(len(count), np.int64)  # single words share one context, which is empty
        else:
            parents = self.trie.keys[self.order - 2][span] // self.trie.size
        return parents, count, self.discounts[np.minimum(count, 3)]

    def shares(self, scratch: Scratch) -> tuple[Chances, Chances]:
        """Return the sum of counts after each context, and γ, the share of it for n-grams that do not exist."""
        contexts = 1 if self.order == 1 else self.trie.rows(self.order - 1)
        total, unused = (scratch.full(contexts, 0, np.float64) for _ in range(2))
        for span in spans(len(self.adjusted)):
            parents, count, discount = self.read(span)
            if self.threshold:
                discount = np.where(self.times[span] > self.threshold, discount, count)
            _add_up(total, parents, count)
            _add_up(unused, parents, discount)
        for span in spans(contexts):
            part = total[span]
            unused[span] = np.divide(unused[span], part, out=np.ones(len(part)), where=part > 0)
        return total, unused


def _add_up(sums: Chances, parents: Rows, values: np.ndarray) -> None:
    """Add values to the sums of their contexts, in order; contexts are sorted."""
    if len(parents):
        first, last = parents[0], parents[-1] + 1
        # The first context may already have a sum, to which its values here are added one by one.
        weights = np.append(sums[first], values)
        sums[first:last] = np.bincount(np.append(0, parents - first), weights, minlength=last - first)


def _logarithms(chances: Chances, scratch: Scratch, most: float = np.inf) -> Logarithms:
    """Return base-10 logarithms of numbers that rounding may push beyond `most`; that of 0 is −∞."""
    logarithms = scratch.empty(len(chances), np.float32)
    with np.errstate(divide="ignore"):
        for span in spans(len(chances)):
            logarithms[span] = np.log10(np.minimum(chances[span], most))
    return logarithms


def _without_pruned(model: Ngrams, times: Sequence[Rows], thresholds: Sequence[int], scratch: Scratch) -> Ngrams:
    """Return the model without n-grams that occur no more often than their order's threshold.

    Since thresholds never fall, the first and last words of every n-gram that is kept are kept too.
    """
    trie, keys = model.trie, list[Rows]()
    scores, backoffs = [model.log_probabilities[0]], list[Logarithms]()
    new_rows = np.arange(trie.size)
    for order in range(2, trie.order + 1):
        keep = scratch.empty(trie.rows(order), np.bool_)
        for span in spans(len(keep)):
            keep[span] = times[order - 1][span] > thresholds[order - 1]
        above, rest = new_rows, int(np.count_nonzero(keep))
        new_rows = scratch.empty(len(keep), np.int64)
        kept_keys, kept_scores = scratch.empty(rest, np.int64), scratch.empty(rest, np.float32)
        row = 0
        for span in spans(len(keep)):
            mask = keep[span]
            new_rows[span] = row + np.cumsum(mask) - 1
            parents, words = np.divmod(trie.keys[order - 2][span][mask], trie.size)
            part = slice(row, row + len(words))
            kept_keys[part] = above[parents] * trie.size + words
            kept_scores[part] = model.log_probabilities[order - 1][span][mask]
            row += len(words)
        keys.append(kept_keys)
        scores.append(kept_scores)
        if order == 2:
            backoffs.append(model.backoffs[0])
        if order < trie.order:
            backoffs.append(_chosen(model.backoffs[order - 1], keep, rest, scratch))
    return Ngrams(Trie(trie.size, keys), scores, backoffs)


def _chosen(values: Logarithms, keep: Bool[np.ndarray, " row"], number: int, scratch: Scratch) -> Logarithms:
    """Return the values of the n-grams that are kept, `number` in all."""
    chosen, row = scratch.empty(number, np.float32), 0
    for span in spans(len(keep)):
        part = values[span][keep[span]]
        chosen[row : row + len(part)] = part
        row += len(part)
    return chosen
