"""The words that have a vector, and their counts in the training text."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Int64

from regard.base.faults import Fault
from regard.base.parsing import MOST_LISTED, parse_json

COUNTS = "counts.json"


@dataclass(frozen=True)
class Vocabulary:
    """Words, frequent ones first, with their counts."""

    words: Sequence[str]
    counts: Int64[np.ndarray, " word"]

    def __len__(self) -> int:
        return len(self.words)

    def counts_file(self) -> bytes:
        """Return the counts as stored in a model folder, in the order of the words."""
        return json.dumps({"counts": self.counts.tolist()}).encode()


def read_vocabulary(words: Sequence[str], content: bytes | None) -> Vocabulary:
    """Return the words with their stored counts; vectors imported from a file have none."""
    if content is None:
        return Vocabulary(words, np.zeros(len(words), np.int64))
    try:
        counts = parse_json(content, COUNTS, MOST_LISTED)["counts"]
        if len(counts) != len(words) or not all(type(count) is int and 0 <= count < 2**63 for count in counts):
            raise ValueError
    except (ValueError, KeyError, TypeError, Fault):
        raise Fault(f"{COUNTS} is damaged: it should hold a count for each of {len(words):,} words.") from None
    return Vocabulary(words, np.array(counts, np.int64))
