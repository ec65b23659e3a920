"""Sentences by the length of their source, as in figure 2 of Bahdanau et al. 2015.

A length is a number of words separated by white space. It is the same for every variant, however each one splits its
text into tokens.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

MOST_BUCKETS = 8
FEWEST_SENTENCES = 25  # in a bucket; with fewer its score says little


@dataclass(frozen=True)
class Bucket:
    """The sentences whose source has from `shortest` to `longest` words."""

    shortest: int
    longest: int
    sentences: np.ndarray = field(repr=False)  # their positions in the test set

    @property
    def label(self) -> str:
        return str(self.longest) if self.shortest == self.longest else f"{self.shortest}–{self.longest}"


def buckets(sources: Sequence[str]) -> list[Bucket]:
    """Return buckets with about equally many sentences each, from the shortest sources to the longest.

    Sources of the same length share a bucket; few sentences make few buckets.
    """
    lengths = np.array([len(source.split()) for source in sources])
    count = max(1, min(MOST_BUCKETS, len(lengths) // FEWEST_SENTENCES))
    # The longest length of each bucket: its share of all sentences lies at or below it.
    tops = np.unique(np.quantile(lengths, np.arange(1, count + 1) / count, method="inverted_cdf"))
    numbers = np.searchsorted(tops, lengths)
    groups = [np.flatnonzero(numbers == number) for number in range(len(tops))]
    return [Bucket(int(lengths[sentences].min()), int(lengths[sentences].max()), sentences) for sentences in groups]
