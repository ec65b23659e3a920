"""Significance: is one system better than another, or was it lucky with its test sentences?

All that a metric needs to know of a sentence is a row of sums, and the value of any set of sentences is finished from
the total of their rows. So the same outputs are scored on thousands of made-up test sets without being read again.

A system may be several runs of one recipe. Its value is the mean over its runs, a sentence is drawn or exchanged with
the outputs of all runs at once, and runs of the same seed stand opposite each other. What is asked is whether these
trained models would differ on other sentences too; how much other seeds would change is another question, which the
spread over the runs answers.
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
RESAMPLES, TRIALS = 1_000, 10_000  # sacreBLEU's too
CONFIDENCE = 95  # percent of the resampled values that lie in the interval
_AT_ONCE, _CELLS = 1_000, 4_000_000  # made-up test sets in memory, and sentences in all of these together
_EQUAL = 1e-9  # differences closer than this are ties, which rounding must not break


@dataclass(frozen=True)
class Sums:
    """Statistics of each sentence, and how the total of any sentences becomes the metric's value."""

    rows: np.ndarray  # (sentence, sum)
    finish: Callable[[list[float]], float]
    signature: str = ""  # of the metric, where finding the sums has told it
    by: Literal["sums", "sentence scores"] = "sums"  # the latter where a metric has no sums and its mean must do

    def value(self, sentences: np.ndarray | slice = slice(None)) -> float:
        """The metric over these sentences, or over all; they are added up in order, so that no digit depends on how."""
        return self.finish(self.rows[sentences].cumsum(axis=0)[-1].tolist())

    def values(self, weights: np.ndarray) -> np.ndarray:
        """The metric over each made-up test set, in which a sentence counts as often as its weight (set, sentence)."""
        return np.array([self.finish(total) for total in (weights @ self.rows).tolist()])


Summing = Callable[[Sequence[str], References], Sums]


@dataclass(frozen=True)
class Difference:
    """Difference of two systems with its likely bounds, and the probability that luck alone explains it."""

    value: float
    low: float
    high: float
    bootstrap: float  # p by paired bootstrap resampling
    randomisation: float  # p by approximate randomisation


def interval(sums: Sums, resamples: int = RESAMPLES, seed: int = SEED) -> tuple[float, float]:
    """Between what bounds the metric is likely to be on other sentences of the kind, by bootstrap (Efron 1979)."""
    draws = np.random.default_rng(seed)
    found = [sums.values(weights) for weights in _resample(len(sums.rows), resamples, draws)]
    low, high = _bounds(np.concatenate(found))
    return low, high


def difference(
    first: Sequence[Sums], other: Sequence[Sums], resamples: int = RESAMPLES, trials: int = TRIALS, seed: int = SEED
) -> Difference:
    """Compare `other` with `first`, each a system of equally many runs, on the same sentences."""
    if len({len(run.rows) for run in [*first, *other]}) != 1 or len(first) != len(other):
        raise ValueError("systems are compared on the same sentences, with as many runs of each")
    found = float(np.mean([run.value() for run in other]) - np.mean([run.value() for run in first]))
    resampled = _bootstrap(first, other, resamples, np.random.default_rng(seed))
    low, high = _bounds(resampled)
    exchanged = _randomise(first, other, trials, np.random.default_rng(seed))
    return Difference(found, low, high, _p_value(resampled - found, found), _p_value(exchanged, found))


def _bounds(values: np.ndarray) -> tuple[float, float]:
    low, high = np.nanpercentile(values, [(100 - CONFIDENCE) / 2, (100 + CONFIDENCE) / 2])
    return float(low), float(high)


def _bootstrap(first: Sequence[Sums], other: Sequence[Sums], count: int, draws: np.random.Generator) -> np.ndarray:
    """The difference on test sets drawn from the real one with replacement (Koehn 2004).

    They scatter around the real one as the real one does around that of all sentences there are. So, less the real
    one, they show what luck alone can do (the shift of Noreen 1989; see Riezler and Maxwell 2005).
    """
    drawn = _resample(len(first[0].rows), count, draws)
    return np.concatenate([_mean_values(other, weights) - _mean_values(first, weights) for weights in drawn])


def _resample(sentences: int, count: int, draws: np.random.Generator) -> Iterator[np.ndarray]:
    """Yield how often each sentence occurs in each of `count` resampled sets, a block at a time (set, sentence)."""
    for portion in _portions(count, sentences):
        places = draws.integers(sentences, size=(portion, sentences))
        yield np.stack([np.bincount(row, minlength=sentences) for row in places]).astype(float)


def _randomise(first: Sequence[Sums], other: Sequence[Sums], count: int, draws: np.random.Generator) -> np.ndarray:
    """The difference when each sentence's outputs change sides with probability one half (Noreen 1989).

    Were the systems equally good, it would not matter which of them wrote what.
    """
    sentences, found = len(first[0].rows), []
    for portion in _portions(count, sentences):
        stay = draws.integers(2, size=(portion, sentences), dtype=bool).astype(float)
        crossed = [_cross(one, two, stay) for one, two in zip(first, other, strict=True)]
        here, there = np.mean(crossed, axis=0)
        found.append(there - here)
    return np.concatenate(found)


def _cross(first: Sums, other: Sums, stay: np.ndarray) -> tuple[list[float], list[float]]:
    """The metric of both sides, when the first keeps the sentences that stay and has the other's for the rest."""
    kept = stay @ (first.rows - other.rows)
    here, there = other.rows.sum(axis=0) + kept, first.rows.sum(axis=0) - kept
    return [first.finish(total) for total in here.tolist()], [first.finish(total) for total in there.tolist()]


def _mean_values(runs: Sequence[Sums], weights: np.ndarray) -> np.ndarray:
    return np.mean([run.values(weights) for run in runs], axis=0)


def _portions(count: int, sentences: int) -> Iterator[int]:
    most = min(_AT_ONCE, max(1, _CELLS // sentences))
    for start in range(0, count, most):
        yield min(most, count - start)


def _p_value(by_luck: np.ndarray, found: float) -> float:
    """Return how often luck gives a difference at least as large in either direction, counting the real one."""
    tries = by_luck[~np.isnan(by_luck)]  # a made-up test set of empty references alone has no rate of errors
    return float((np.count_nonzero(np.abs(tries) >= abs(found) - _EQUAL) + 1) / (len(tries) + 1))


def _by_sacrebleu(make: Callable[[], Any]) -> Summing:
    """The statistics on which sacreBLEU makes its own tests."""

    def sums(hypotheses: Sequence[str], references: References) -> Sums:
        metric = make()
        rows = sentence_statistics(metric, hypotheses, references).astype(float)
        signed = str(metric.get_signature())
        return Sums(rows, lambda total: float(metric._compute_score_from_stats(total).score), signed)

    return sums


def _of_edits(cut: Cut, distance: Distance = ordered_distance) -> Summing:
    """Edits to the nearest reference, and its length."""

    def sums(hypotheses: Sequence[str], references: References) -> Sums:
        sides = zip(hypotheses, by_sentence(references), strict=True)
        rows = [nearest(cut(normal(written)), [cut(normal(text)) for text in own], distance) for written, own in sides]
        return Sums(np.array(rows, dtype=float), _percentage)

    return sums


def _of_matches(hypotheses: Sequence[str], references: References) -> Sums:
    """Right or not, of one."""
    sides = zip(hypotheses, by_sentence(references), strict=True)
    rows = [(exact_matches([written], [[text] for text in own])[0] / 100, 1) for written, own in sides]
    return Sums(np.array(rows, dtype=float), _percentage)


def _percentage(total: list[float]) -> float:
    return 100 * total[0] / total[1] if total[1] else math.nan


def _of_summed(metric: Summed) -> Summing:
    """The sums that the metric itself is made of."""

    def sums(hypotheses: Sequence[str], references: References) -> Sums:
        sentences = by_sentence(references)
        rows = np.array(metric.rows(hypotheses, sentences), dtype=float)
        return Sums(rows, metric.finish, signature(sentences, metric.how()))

    return sums


def _of_sentence_scores(metric: Metric) -> Summing:
    """The score of each sentence by itself, whose mean stands for a metric of which no more is known."""

    def sums(hypotheses: Sequence[str], references: References) -> Sums:
        sides = zip(hypotheses, by_sentence(references), strict=True)
        rows = [(metric([written], [[text] for text in own])[0], 1) for written, own in sides]
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
    """Return what sums up a metric as it was chosen."""
    own = choices.bleu(metric)
    return _by_sacrebleu(own) if own else _summing(metric, choices.make(metric))


def likelihood_sums(nats: Sequence[float], tokens: Sequence[int]) -> Sums:
    """The perplexity of sentences, from what each costs and how many tokens it has."""
    return Sums(np.array([nats, tokens], dtype=float).T, lambda total: math.exp(min(total[0] / total[1], 100.0)))
