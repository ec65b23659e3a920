"""Whether one system writes better than another, or was only lucky with its test sentences.

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
from typing import Any

import numpy as np

from regard.metrics.errors import Cut, References, by_sentence, exact_matches, nearest, normal
from regard.metrics.text import SACREBLEU

SEED = 12345  # sacreBLEU's
RESAMPLES, TRIALS = 1_000, 10_000  # sacreBLEU's too
CONFIDENCE = 95  # percent of the resampled differences that lie in the interval
_AT_ONCE = 1_000  # made-up test sets in memory
_EQUAL = 1e-9  # differences closer than this are ties, which rounding must not break


@dataclass(frozen=True)
class Sums:
    """What a metric sums up of each sentence, and how the total of any sentences is finished into its value."""

    rows: np.ndarray  # (sentence, sum)
    finish: Callable[[list[float]], float]

    def value(self, sentences: np.ndarray | slice = slice(None)) -> float:
        """The metric over these sentences, or over all."""
        return self.finish(self.rows[sentences].sum(axis=0).tolist())

    def values(self, weights: np.ndarray) -> np.ndarray:
        """The metric over each made-up test set, in which a sentence counts as often as its weight (set, sentence)."""
        return np.array([self.finish(total) for total in (weights @ self.rows).tolist()])


@dataclass(frozen=True)
class Difference:
    """How far a system is above another, between what bounds it is likely to be, and how likely luck alone did it."""

    value: float
    low: float
    high: float
    bootstrap: float  # p by paired bootstrap resampling
    randomisation: float  # p by approximate randomisation


def difference(
    first: Sequence[Sums], other: Sequence[Sums], resamples: int = RESAMPLES, trials: int = TRIALS, seed: int = SEED
) -> Difference:
    """How `other` differs from `first`, each a system of as many runs, on the same sentences."""
    if len({len(run.rows) for run in [*first, *other]}) != 1 or len(first) != len(other):
        raise ValueError("systems are compared on the same sentences, with as many runs of each")
    found = float(np.mean([run.value() for run in other]) - np.mean([run.value() for run in first]))
    resampled = _bootstrap(first, other, resamples, np.random.default_rng(seed))
    low, high = np.percentile(resampled, [(100 - CONFIDENCE) / 2, (100 + CONFIDENCE) / 2])
    exchanged = _randomised(first, other, trials, np.random.default_rng(seed))
    return Difference(found, float(low), float(high), _p_value(resampled - found, found), _p_value(exchanged, found))


def _bootstrap(first: Sequence[Sums], other: Sequence[Sums], count: int, draws: np.random.Generator) -> np.ndarray:
    """The difference on test sets drawn from the real one with replacement (Koehn 2004).

    They scatter around the real one as the real one does around that of all sentences there are. So, less the real
    one, they show what luck alone can do (the shift of Noreen 1989; see Riezler and Maxwell 2005).
    """
    sentences = len(first[0].rows)
    found = []
    for portion in _portions(count):
        places = draws.integers(sentences, size=(portion, sentences))
        weights = np.stack([np.bincount(row, minlength=sentences) for row in places]).astype(float)
        found.append(_mean_values(other, weights) - _mean_values(first, weights))
    return np.concatenate(found)


def _randomised(first: Sequence[Sums], other: Sequence[Sums], count: int, draws: np.random.Generator) -> np.ndarray:
    """The difference when each sentence's outputs change sides with probability one half (Noreen 1989).

    Were the systems equally good, it would not matter which of them wrote what.
    """
    found = []
    for portion in _portions(count):
        stay = draws.integers(2, size=(portion, len(first[0].rows)), dtype=bool)
        ours, theirs = stay.astype(float), (~stay).astype(float)
        here = [_crossed(one, two, ours, theirs) for one, two in zip(first, other, strict=True)]
        there = [_crossed(one, two, theirs, ours) for one, two in zip(first, other, strict=True)]
        found.append(np.mean(there, axis=0) - np.mean(here, axis=0))
    return np.concatenate(found)


def _crossed(first: Sums, other: Sums, from_first: np.ndarray, from_other: np.ndarray) -> np.ndarray:
    """The metric over outputs of which some are the first's and the rest the other's."""
    joined = Sums(np.concatenate([first.rows, other.rows]), first.finish)
    return joined.values(np.concatenate([from_first, from_other], axis=1))


def _mean_values(runs: Sequence[Sums], weights: np.ndarray) -> np.ndarray:
    return np.mean([run.values(weights) for run in runs], axis=0)


def _portions(count: int) -> Iterator[int]:
    for start in range(0, count, _AT_ONCE):
        yield min(_AT_ONCE, count - start)


def _p_value(by_luck: np.ndarray, found: float) -> float:
    """How often luck brings a difference at least as large, in either direction; the real one counts as a try too."""
    return float((np.count_nonzero(np.abs(by_luck) >= abs(found) - _EQUAL) + 1) / (len(by_luck) + 1))


def _by_sacrebleu(make: Callable[[], Any]) -> Callable[[Sequence[str], References], Sums]:
    """The statistics on which sacreBLEU makes its own tests."""

    def sums(hypotheses: Sequence[str], references: References) -> Sums:
        metric = make()
        rows = metric._extract_corpus_statistics(list(hypotheses), [list(reference) for reference in references])
        return Sums(np.array(rows, dtype=float), lambda total: float(metric._compute_score_from_stats(total).score))

    return sums


def _of_edits(cut: Cut) -> Callable[[Sequence[str], References], Sums]:
    """Edits to the nearest reference, and its length."""

    def sums(hypotheses: Sequence[str], references: References) -> Sums:
        sides = zip(hypotheses, by_sentence(references), strict=True)
        rows = [nearest(cut(normal(written)), [cut(normal(text)) for text in own]) for written, own in sides]
        return Sums(np.array(rows, dtype=float), _percentage)

    return sums


def _of_matches(hypotheses: Sequence[str], references: References) -> Sums:
    """Right or not, of one."""
    sides = zip(hypotheses, by_sentence(references), strict=True)
    rows = [(exact_matches([written], [[text] for text in own])[0] / 100, 1) for written, own in sides]
    return Sums(np.array(rows, dtype=float), _percentage)


def _percentage(total: list[float]) -> float:
    return 100 * total[0] / total[1] if total[1] else math.nan


Summing = Callable[[Sequence[str], References], Sums]
SUMS: dict[str, Summing] = {name: _by_sacrebleu(make) for name, make in SACREBLEU.items()} | {
    "wer": _of_edits(str.split),
    "cer": _of_edits(str.strip),
    "exact": _of_matches,
}


def likelihood_sums(nats: Sequence[float], tokens: Sequence[int]) -> Sums:
    """The perplexity of sentences, from what each costs and how many tokens it has."""
    return Sums(np.array([nats, tokens], dtype=float).T, lambda total: math.exp(min(total[0] / total[1], 100.0)))
