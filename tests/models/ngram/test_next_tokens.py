"""Next tokens of many contexts at once match those of each context alone."""

import numpy as np
import pytest
import torch
from counted import BEGIN, counts_of, following, possible, tokens_of

from regard.models.ngram import NgramOptions
from regard.models.ngram.next_tokens import NextTokens
from regard.models.ngram.smoothing import estimate
from regard.models.ngram.trie import NOWHERE

LINES = ["a b a c", "a b", "c c a b", "a", "b b b b a"]


@pytest.mark.parametrize("order", [1, 2, 4])
def test_contexts_of_all_lengths_together_are_as_each_alone(order: int) -> None:
    counts = counts_of(LINES, order)
    options = NgramOptions(order=order, discount_fallback=True)
    model = estimate(options, counts, BEGIN, possible(counts.trie.size))
    text = tokens_of(["b a b c", "x c c a b"], ["a", "b", "c"]).tolist()
    contexts = [text[max(0, end - 3) : end] for end in range(len(text))]
    padded = torch.tensor([[NOWHERE] * (3 - len(context)) + context for context in contexts])
    together = NextTokens(model, torch.device("cpu"))(padded)
    alone = np.stack([following(model, *context) for context in contexts])
    np.testing.assert_array_equal(together.numpy(), alone)
