"""Significance: is one system better than another, or was it lucky with its test sentences?

All that a metric needs to know about a sentence is a row of sums, and the value for any set of sentences is computed
from the total of their rows. So the same outputs can be scored on thousands of resampled test sets without being read
again.

A system may be several runs of one recipe. Its value is the mean over its runs, a sentence is drawn or exchanged with
the outputs of all runs at once, and runs with the same seed are compared. The test asks whether these trained models
would also differ on other sentences. How much other seeds would change is another question, which the spread over the
runs answers.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from regard.metrics.errors import (
    Cut,
    Distance,
    References,
    by_sentence,
    exact_matches,
    nearest,
    normal,
    ordered_distance,
    signature,
    unordered_distance,
)
from regard.metrics.sentence_counts import sentence_statistics
from regard.metrics.summed import Summed
from regard.metrics.text import NOTHING_CHOSEN, SACREBLEU, Choices, Metric

SEED = 12345  # sacreBLEU's
RESAMPLES, TRIALS = 1_000, 10_000  # also as in sacreBLEU
CONFIDENCE = 95  # percent of the resampled values in the interval
FEWEST = 2  # sentences that can be resampled
_AT_ONCE, _CELLS = 1_000, 4_000_000  # resampled test sets in memory, and sentences in all of them
_EQUAL = 1e-9  # smaller differences are ties, which rounding must not break


@dataclass(frozen=True)
class Sums:
    """Statistics of each sentence, and how to compute the metric's value from their total."""

    rows: np.ndarray  # (sentence, sum)
    finish: Callable[[list[float]], float]
    signature: str = ""  # of the metric, if computing the sums gives it
    by: Literal["sums", "sentence scores"] = "sums"  # the latter if a metric has no sums and its mean is used

    def value(self, sentences: np.ndarray | slice = slice(None)) -> float:
        """Return the metric over these sentences, or all; they are added in order, so that rounding is fixed."""
        return self.finish(self.rows[sentences].cumsum(axis=0)[-1].tolist())

    def values(self, weights: np.ndarray) -> np.ndarray:
        """Return the metric over each resampled test set, with sentences counted by weight (set, sentence)."""
        return np.array([self.finish(total) for total in (weights @ self.rows).tolist()])


Summing = Callable[[Sequence[str], References], Sums]


@dataclass(frozen=True)
class Difference:
    """Difference of two systems with its likely bounds, and the probability that chance alone explains it.

    What is unknown is NaN: everything if there was nothing to measure, and all but `value` for a single sentence, which
    says nothing about others.
    """

    value: float
    low: float
    high: float
    bootstrap: float  # p by paired bootstrap resampling
    randomisation: float  # p by approximate randomisation


def interval(sums: Sums, resamples: int = RESAMPLES, seed: int = SEED) -> tuple[float, float]:
    """Return the bounds of the metric on other sentences of the same kind, by bootstrap (Efron 1979).

    They are NaN for a single sentence.
    """
    if len(sums.rows) < FEWEST:
        return math.nan, math.nan
    draws = np.random.default_rng(seed)
    values = [sums.values(weights) for weights in _resample(len(sums.rows), resamples, draws)]
    low, high = _bounds(np.concatenate(values))
    return low, high


def difference(
    first: Sequence[Sums], other: Sequence[Sums], resamples: int = RESAMPLES, trials: int = TRIALS, seed: int = SEED
) -> Difference:
    """Compare `other` with `first`, each a system with the same number of runs, on the same sentences."""
    if len({len(run.rows) for run in [*first, *other]}) != 1 or len(first) != len(other):
        raise ValueError("systems must be compared on the same sentences, with the same number of runs")
    value = float(np.mean([run.value() for run in other]) - np.mean([run.value() for run in first]))
    if len(first[0].rows) < FEWEST or math.isnan(value):
        return Difference(value, *[math.nan] * 4)
    resampled = _bootstrap(first, other, resamples, np.random.default_rng(seed))
    low, high = _bounds(resampled)
    exchanged = _randomise(first, other, trials, np.random.default_rng(seed))
    return Difference(value, low, high, _p_value(resampled - value, value), _p_value(exchanged, value))


def _bounds(values: np.ndarray) -> tuple[float, float]:
    low, high = np.nanpercentile(values, [(100 - CONFIDENCE) / 2, (100 + CONFIDENCE) / 2])
    return float(low), float(high)


def _bootstrap(first: Sequence[Sums], other: Sequence[Sums], count: int, draws: np.random.Generator) -> np.ndarray:
    """Return the differences on test sets drawn from the real one with replacement (Koehn 2004).

    They scatter around the real difference as that one does around the true difference. So, after subtracting the real
    one, they show what chance alone can do (the shift of Noreen 1989; see Riezler and Maxwell 2005).
    """
    resampled_weights = _resample(len(first[0].rows), count, draws)
    return np.concatenate(
        [_mean_values(other, weights) - _mean_values(first, weights) for weights in resampled_weights]
    )


def _resample(sentences: int, count: int, draws: np.random.Generator) -> Iterator[np.ndarray]:
    """Yield how often each sentence occurs in each of `count` resampled sets, a block at a time (set, sentence)."""
    for portion in _portions(count, sentences):
        places = draws.integers(sentences, size=(portion, sentences))
        yield np.stack([np.bincount(row, minlength=sentences) for row in places]).astype(float)


def _randomise(first: Sequence[Sums], other: Sequence[Sums], count: int, draws: np.random.Generator) -> np.ndarray:
    """Return the differences when each sentence's outputs change sides with probability one half (Noreen 1989).

    If the systems were equally good, it would not matter which of them wrote what.
    """
    sentences, parts = len(first[0].rows), []
    for portion in _portions(count, sentences):
        stay = draws.integers(2, size=(portion, sentences), dtype=bool).astype(float)
        crossed = [_cross(one, two, stay) for one, two in zip(first, other, strict=True)]
        here, there = np.mean(crossed, axis=0)
        parts.append(there - here)
    return np.concatenate(parts)


def _cross(first: Sums, other: Sums, stay: np.ndarray) -> tuple[list[float], list[float]]:
    """Return the metric of both sides if the first keeps the sentences that stay and takes the other's for the rest."""
    retained = stay @ (first.rows - other.rows)
    here, there = other.rows.sum(axis=0) + retained, first.rows.sum(axis=0) - retained
    return [first.finish(total) for total in here.tolist()], [first.finish(total) for total in there.tolist()]


def _mean_values(runs: Sequence[Sums], weights: np.ndarray) -> np.ndarray:
    return np.mean([run.values(weights) for run in runs], axis=0)


def _portions(count: int, sentences: int) -> Iterator[int]:
    most = min(_AT_ONCE, max(1, _CELLS // sentences))
    for start in range(0, count, most):
        yield min(most, count - start)


def _p_value(by_luck: np.ndarray, value: float) -> float:
    """Return how often chance gives a difference at least as large in either direction, counting the real one."""
    tries = by_luck[~np.isnan(by_luck)]  # a resampled test set of only empty references has no error rate
    return float((np.count_nonzero(np.abs(tries) >= abs(value) - _EQUAL) + 1) / (len(tries) + 1))


def _by_sacrebleu(make: Callable[[], Any]) -> Summing:
    """Return sums with the statistics that sacreBLEU's own tests use."""

    def sums(hypotheses: Sequence[str], references: References) -> Sums:
        metric = make()
        rows = sentence_statistics(metric, hypotheses, references).astype(float)
        signed = str(metric.get_signature())
        return Sums(rows, lambda total: float(metric._compute_score_from_stats(total).score), signed)

    return sums


def _of_edits(cut: Cut, distance: Distance = ordered_distance) -> Summing:
    """Return sums of edits to the nearest reference, and its length."""

    def sums(hypotheses: Sequence[str], references: References) -> Sums:
        sides = zip(hypotheses, by_sentence(references), strict=True)
        rows = [
            nearest(cut(normal(written)), [cut(normal(text)) for text in texts], distance) for written, texts in sides
        ]
        return Sums(np.array(rows, dtype=float), _percentage)

    return sums


def _of_matches(hypotheses: Sequence[str], references: References) -> Sums:
    """Return sums of exact matches."""
    sides = zip(hypotheses, by_sentence(references), strict=True)
    rows = [(exact_matches([written], [[text] for text in texts])[0] / 100, 1) for written, texts in sides]
    return Sums(np.array(rows, dtype=float), _percentage)


def _percentage(total: list[float]) -> float:
    return 100 * total[0] / total[1] if total[1] else math.nan


def _of_summed(metric: Summed) -> Summing:
    """Return the sums that the metric itself consists of."""

    def sums(hypotheses: Sequence[str], references: References) -> Sums:
        sentences = by_sentence(references)
        rows = np.array(metric.rows(hypotheses, sentences), dtype=float)
        return Sums(rows, metric.finish, signature(sentences, metric.how()))

    return sums


def _of_sentence_scores(metric: Metric) -> Summing:
    """Return the score of each sentence, for a metric about which nothing else is known."""

    def sums(hypotheses: Sequence[str], references: References) -> Sums:
        sides = zip(hypotheses, by_sentence(references), strict=True)
        rows = [(metric([written], [[text] for text in texts])[0], 1) for written, texts in sides]
        return Sums(np.array(rows, dtype=float), lambda total: total[0] / total[1], by="sentence scores")

    return sums


_OF_ERRORS: dict[str, Summing] = {
    "wer": _of_edits(str.split),
    "cer": _of_edits(str.strip),
    "per": _of_edits(str.split, unordered_distance),
    "exact": _of_matches,
}


def _summing(name: str, metric: Metric) -> Summing:
    if name in SACREBLEU:
        return _by_sacrebleu(SACREBLEU[name])
    if isinstance(metric, Summed):
        return _of_summed(metric)
    return _OF_ERRORS.get(name) or _of_sentence_scores(metric)


def summing(metric: str, choices: Choices = NOTHING_CHOSEN) -> Summing:
    """Return the function that sums a metric with these choices."""
    chosen_bleu = choices.bleu(metric)
    return _by_sacrebleu(chosen_bleu) if chosen_bleu else _summing(metric, choices.make(metric))


def likelihood_sums(nats: Sequence[float], tokens: Sequence[int]) -> Sums:
    """Return sums for the perplexity of sentences, from the cost and the number of tokens of each."""
    return Sums(np.array([nats, tokens], dtype=float).T, lambda total: math.exp(min(total[0] / total[1], 100.0)))
