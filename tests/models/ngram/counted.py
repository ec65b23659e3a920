"""Sentences as tokens and their counts, for the n-gram tests."""

from collections.abc import Iterable, Sequence

import numpy as np
import torch

from regard.models.ngram import Ngrams
from regard.models.ngram.counting import NgramCounts, count
from regard.models.ngram.next_tokens import NextTokens

PAD, UNKNOWN, BEGIN, END, FIRST = range(5)
SPECIAL = {"<unk>": UNKNOWN, "<s>": BEGIN, "</s>": END}


def vocabulary(lines: Iterable[str]) -> list[str]:
    """Return the words in the order of their first occurrence."""
    return list(dict.fromkeys(word for line in lines for word in line.split()))


def tokens_of(lines: Iterable[str], words: Sequence[str]) -> np.ndarray:
    """Return the tokens of all lines, each with a begin and an end."""
    numbers = {word: number for number, word in enumerate(words, FIRST)}
    sentences = [[BEGIN, *(numbers.get(word, UNKNOWN) for word in line.split()), END] for line in lines]
    return np.array([token for sentence in sentences for token in sentence], np.int64)


def counts_of(lines: Sequence[str], order: int, words: Sequence[str] | None = None) -> NgramCounts:
    words = vocabulary(lines) if words is None else words
    tokens = tokens_of(lines, words)
    return count(tokens, tokens == BEGIN, order, FIRST + len(words))


def possible(size: int) -> np.ndarray:
    """Return which of this many tokens can be predicted."""
    return ~np.isin(np.arange(size), (PAD, BEGIN))


def following(model: Ngrams, *context: int) -> np.ndarray:
    """Return the log-probability of every token after a context whose last token counts most."""
    return NextTokens(model, torch.device("cpu"))(torch.tensor([context], dtype=torch.long))[0].numpy()
