"""Word vectors learnt from the words around them: word2vec, fastText and GloVe.

In all of them W, the vectors of centres, is used afterwards; U, those of contexts, is learnt along with it.
"""

from regard.models.words.fasttext import FastText
from regard.models.words.glove import GloVe
from regard.models.words.options import FastTextOptions, GloVeOptions, Word2VecOptions
from regard.models.words.word2vec import Word2Vec

__all__ = ["FastText", "FastTextOptions", "GloVe", "GloVeOptions", "Word2Vec", "Word2VecOptions"]
