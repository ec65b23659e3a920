"""Text for training: whole sentences of known words, some thousand words at a time."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Int32, Int64


@dataclass(frozen=True)
class TextBatch:
    """Consecutive sentences: sentence s is `words[starts[s] : starts[s + 1]]`.

    `key` seeds all random draws for this batch; `begin` and `end` say which part of the whole training it is, from 0 to
    1, and `length` is its number of words including unknown ones.
    """

    words: Int32[np.ndarray, " word"]
    starts: Int64[np.ndarray, " sentence_and_end"]
    length: int
    key: int
    begin: float = 0.0
    end: float = 1.0


class Text:
    """A text with an end token after each sentence, cut into batches of whole sentences.

    Words are numbered from 0: tokens below `first` are not words and are left out, so their neighbours become adjacent.
    """

    def __init__(self, tokens: np.ndarray, end: int, first: int, batch_words: int) -> None:
        self.tokens, self.first = tokens, first
        ends = np.flatnonzero(tokens == end) + 1
        # A batch ends with the sentence that reaches the wanted number of words.
        wanted = np.arange(batch_words, len(tokens) + batch_words, batch_words)
        cuts = ends[np.minimum(np.searchsorted(ends, wanted), len(ends) - 1)] if len(ends) else ends
        self.cuts = np.unique(np.append(0, cuts))
        self.end = end

    def __len__(self) -> int:
        return len(self.cuts) - 1

    def batches(self, keys: Iterator[int], epoch: int, epochs: int, start: int) -> Iterator[TextBatch]:
        """Yield the batches of an epoch from `start` on, with a key for each."""
        for number, key in zip(range(start, len(self)), keys, strict=False):
            first, last = int(self.cuts[number]), int(self.cuts[number + 1])
            begin, end = ((epoch + place / len(self.tokens)) / epochs for place in (first, last))
            yield self._batch(np.asarray(self.tokens[first:last]), key, begin, end)

    def _batch(self, tokens: np.ndarray, key: int, begin: float, end: float) -> TextBatch:
        is_word = tokens >= self.first
        ends = tokens == self.end
        starts = np.append(0, np.cumsum(is_word)[ends]).astype(np.int64)
        words = (tokens[is_word].astype(np.int64) - self.first).astype(np.int32)
        return TextBatch(words, starts, len(tokens) - int(ends.sum()), key, begin, end)
