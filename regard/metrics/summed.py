"""Metrics that need a row of sums from each sentence; the value of any set is computed from their total."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from regard.metrics.errors import References, by_sentence, signature

Row = tuple[float, ...]


@dataclass(frozen=True)
class Summed:
    """A metric that takes outputs and whole references and returns its value and signature.

    `rows` returns the sums of each sentence from its output and references. A metric that weights words by rarity takes
    the weights from all given references, so its rows belong to that test set.
    """

    rows: Callable[[Sequence[str], Sequence[Sequence[str]]], list[Row]]
    finish: Callable[[Sequence[float]], float]
    how: Callable[[], str]  # signature without the number of references, computed when needed

    def __call__(self, hypotheses: Sequence[str], references: References) -> tuple[float, str]:
        sentences = by_sentence(references)
        rows = np.array(self.rows(hypotheses, sentences), dtype=float)
        return self.finish(rows.cumsum(axis=0)[-1].tolist()), signature(sentences, self.how())  # added in order


def mean_of_best(compare: Callable[[str, str], float], how: Callable[[], str]) -> Summed:
    """Return the mean over sentences of a comparison with the reference that gives the highest value."""

    def rows(hypotheses: Sequence[str], sentences: Sequence[Sequence[str]]) -> list[Row]:
        sides = zip(hypotheses, sentences, strict=True)
        return [(max(compare(written, text) for text in references), 1.0) for written, references in sides]

    return Summed(rows, mean, how)


def mean(total: Sequence[float]) -> float:
    """Return a sum of values divided by their number."""
    return total[0] / total[1]
