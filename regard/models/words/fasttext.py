"""fastText: word2vec whose words are the mean of their own row and those of their n-grams of letters.

Bojanowski et al. 2017, Enriching Word Vectors with Subword Information. The paper sums them; its program takes their
mean, and so do we. A word that was never seen has the mean of its n-grams.
"""

from functools import cached_property

import torch
from jaxtyping import Float32
from torch import Tensor
from torch.nn import functional as F

from regard.models.words.ngrams import Parts, parts_of, rows_of
from regard.models.words.options import FastTextOptions
from regard.models.words.vocabulary import Vocabulary
from regard.models.words.word2vec import Word2Vec


class FastText(Word2Vec):
    """W has a row for each word, and then the buckets of the n-grams."""

    def __init__(self, options: FastTextOptions, vocabulary: Vocabulary) -> None:
        super().__init__(options, vocabulary)
        self.spelling = (options.shortest, options.longest, options.buckets)

    @cached_property
    def parts(self) -> Parts:
        return parts_of(self.vocabulary.words, *self.spelling)

    @property
    def centre_rows(self) -> int:
        return len(self.vocabulary) + self.spelling[2]

    @property
    def _composed(self) -> Float32[Tensor, "word width"]:
        starts, rows = (torch.from_numpy(each).long().to(self.centres.device) for each in self.parts)
        return F.embedding_bag(rows, self.centres, starts[:-1], mode="mean")

    def compose(self, word: str) -> Float32[Tensor, " width"] | None:
        rows = rows_of(word, len(self.vocabulary), *self.spelling)
        return self.centres[torch.from_numpy(rows)].mean(0) if len(rows) else None
