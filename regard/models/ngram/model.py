"""An n-gram model in back-off form, as in ARPA files: every kind of smoothing here ends in one.

    log p(w | h) = log_probability(h w)            where the n-gram h w is in the model,
                   backoff(h) + log p(w | h')      otherwise,

where h' is the context h without its first word, and backoff(h) = 0 for a context that is not in the model (Katz 1987).
Logarithms are base 10, as in ARPA files.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float32, Float64

from regard.base.compiled import pays_to_compile
from regard.models.ngram.trie import NOWHERE, Places, Trie, shift

Logarithms = Float32[np.ndarray, "_"]  # one per n-gram of an order


@dataclass(frozen=True)
class Ngrams:
    """The n-grams of a model and their weights, order by order; the highest order has no back-off weights."""

    trie: Trie
    log_probabilities: Sequence[Logarithms]
    backoffs: Sequence[Logarithms]

    @property
    def order(self) -> int:
        return self.trie.order

    def best_after(self, context: Sequence[int]) -> tuple[int, float] | None:
        """Return the most probable token seen after the longest end of a context that has any, and its score.

        A token that was not seen there may be more probable, which is rare and would cost a look at all tokens.
        """
        for length in range(min(len(context), self.order - 1), 0, -1):
            keys, row = self.trie.keys[length - 1], self._row(context[len(context) - length :])
            first, last = (int(keys.searchsorted((row + more) * self.trie.size)) for more in (0, 1))
            if row != NOWHERE and last > first:
                scores = self.log_probabilities[length][first:last]
                best = int(scores.argmax())
                return int(keys[first + best] % self.trie.size), float(scores[best])
        return None

    def _row(self, words: Sequence[int]) -> int:
        """Return the row of one n-gram among those of its order."""
        row = words[0]
        for keys, word in zip(self.trie.keys, words[1:], strict=False):
            wanted = row * self.trie.size + word
            row = int(keys.searchsorted(wanted))
            if row == len(keys) or keys[row] != wanted:
                return NOWHERE
        return row

    def score(self, tokens: Places, starts: Bool[np.ndarray, " place"]) -> Float64[np.ndarray, " place"]:
        """Return the log-probability of each token of a text, given the tokens before it back to the last start.

        At a start there is a begin token, which is not predicted; its value means nothing.
        """
        if pays_to_compile(len(tokens)):
            return self._score_compiled(tokens, starts)
        scores = np.zeros(len(tokens))
        before = np.full(len(tokens), NOWHERE)
        for order, rows in enumerate(self.trie.ending_at(tokens, starts), 1):
            if order > 1:
                has_context = before != NOWHERE
                scores[has_context] += self.backoffs[order - 2][before[has_context]]
            exists = rows != NOWHERE
            scores[exists] = self.log_probabilities[order - 1][rows[exists]]
            before = shift(rows, starts)
        return scores

    def _score_compiled(self, tokens: Places, starts: Bool[np.ndarray, " place"]) -> Float64[np.ndarray, " place"]:
        from regard.kernels.ngram_loops import score_order

        trie, scores, rows = self.trie, self.log_probabilities[0][tokens].astype(np.float64), tokens
        for order in range(2, self.order + 1):
            shorter, rows = rows, np.empty_like(tokens)
            score_order(
                trie.keys[order - 2], trie.firsts[order - 2], trie.size, tokens, starts, shorter,
                self.backoffs[order - 2], self.log_probabilities[order - 1], rows, scores,
            )  # fmt: skip
        return scores
