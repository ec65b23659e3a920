"""fastText: word2vec with word vectors that are the mean of a word's own row and those of its letter n-grams.

Bojanowski et al. 2017, Enriching Word Vectors with Subword Information. The paper sums them; its program averages them,
and so do we. An unseen word has the mean of its n-grams.
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
    """W has a row for each word, followed by the buckets of the n-grams."""

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
        starts, rows = (torch.from_numpy(array).long().to(self.centres.device) for array in self.parts)
        return F.embedding_bag(rows, self.centres, starts[:-1], mode="mean")

    def compose(self, word: str) -> Float32[Tensor, " width"] | None:
        rows = rows_of(word, len(self.vocabulary), *self.spelling)
        return self.centres[torch.from_numpy(rows)].mean(0) if len(rows) else None
