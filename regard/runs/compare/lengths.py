"""Sentences by the length of their source, as in figure 2 of Bahdanau et al. 2015.

A length is a number of words, which are what stands between white space: it is the same for every variant, however
each cuts its text into tokens.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

MOST_BUCKETS = 8
FEWEST_SENTENCES = 25  # of a bucket, or its score says little


@dataclass(frozen=True)
class Bucket:
    """The sentences whose source has from `shortest` to `longest` words."""

    shortest: int
    longest: int
    sentences: np.ndarray = field(repr=False)  # their places in the test set

    @property
    def label(self) -> str:
        return str(self.longest) if self.shortest == self.longest else f"{self.shortest}–{self.longest}"


def buckets(sources: Sequence[str]) -> list[Bucket]:
    """Buckets of about as many sentences each, from the shortest sources to the longest.

    Sources of the same length are in the same bucket; few sentences make few buckets.
    """
    lengths = np.array([len(source.split()) for source in sources])
    count = max(1, min(MOST_BUCKETS, len(lengths) // FEWEST_SENTENCES))
    # The longest length of each bucket: below it lies the bucket's share of all sentences.
    tops = np.unique(np.quantile(lengths, np.arange(1, count + 1) / count, method="inverted_cdf"))
    numbers = np.searchsorted(tops, lengths)
    found = [np.flatnonzero(numbers == number) for number in range(len(tops))]
    return [Bucket(int(lengths[each].min()), int(lengths[each].max()), each) for each in found]
