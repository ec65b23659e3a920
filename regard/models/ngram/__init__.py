"""n-gram models: the next word by how often it followed the words before it (Shannon 1948; Chen & Goodman 1998).

An n-gram has n words and conditions the last of them on the n−1 before it, so a model of order 5 looks back at four.
Some lectures number a model by the words it looks back at: theirs of order n is ours of order n + 1.
"""

from regard.models.ngram.model import Ngrams
from regard.models.ngram.options import NgramOptions

__all__ = ["NgramOptions", "Ngrams"]
