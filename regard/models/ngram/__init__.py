"""n-gram models: predict the next word from counts of what followed before (Shannon 1948; Chen & Goodman 1998).

An n-gram has n words and conditions the last one on the n−1 before it, so a model of order 5 looks back at four words.
Some lectures number a model by the words it looks back at: their order n is our order n + 1.
"""

from regard.models.ngram.model import Ngrams
from regard.models.ngram.options import NgramOptions

__all__ = ["NgramOptions", "Ngrams"]
