"""Metrics that need of each sentence a row of sums, from whose total the value of any set of sentences is finished."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from regard.metrics.errors import References, by_sentence, signature

Row = tuple[float, ...]


@dataclass(frozen=True)
class Summed:
    """A metric: called with outputs and whole references, it gives its value and its signature.

    `rows` gives the sums of each sentence from its output and its references. A metric that weighs words by how rare
    they are takes the weights from all the references it is given, so its rows belong to that test set.
    """

    rows: Callable[[Sequence[str], Sequence[Sequence[str]]], list[Row]]
    finish: Callable[[Sequence[float]], float]
    how: Callable[[], str]  # the signature but for the number of references; asked for when it is needed

    def __call__(self, hypotheses: Sequence[str], references: References) -> tuple[float, str]:
        sentences = by_sentence(references)
        rows = np.array(self.rows(hypotheses, sentences), dtype=float)
        return self.finish(rows.cumsum(axis=0)[-1].tolist()), signature(sentences, self.how())  # added up in order


def mean_of_best(compare: Callable[[str, str], float], how: Callable[[], str]) -> Summed:
    """The mean over sentences of a comparison with the reference that gives the highest value."""

    def rows(hypotheses: Sequence[str], sentences: Sequence[Sequence[str]]) -> list[Row]:
        sides = zip(hypotheses, sentences, strict=True)
        return [(max(compare(written, text) for text in own), 1.0) for written, own in sides]

    return Summed(rows, mean, how)


def mean(total: Sequence[float]) -> float:
    """A sum of values divided by their number, the finish of every average."""
    return total[0] / total[1]
