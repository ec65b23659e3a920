"""Next tokens after many contexts at once, by an n-gram model whose arrays are tensors on a device.

The back-off weights along a context add up. With h_k the last k words of the context, K the longest one in the model,
and k(w) the longest one after which w is in the model,

    log p(w | h) = log_probability(h_k(w) w) + Σ backoff(h_j) over all j from k(w) + 1 to K.
"""

from itertools import accumulate

import torch
from jaxtyping import Float32, Float64, Int64
from torch import Tensor

from regard.models.ngram.model import Ngrams
from regard.models.ngram.trie import NOWHERE

Rows = Int64[Tensor, " row"]


class NextTokens:
    """An n-gram model on a device; logarithms are base 10, as in the model."""

    def __init__(self, model: Ngrams, device: torch.device) -> None:
        self._size = model.trie.size
        self._keys = [torch.from_numpy(keys).to(device) for keys in model.trie.keys]
        self._scores = [torch.from_numpy(values).to(device) for values in model.log_probabilities]
        self._backoffs = [torch.from_numpy(values).to(device) for values in model.backoffs]

    def __call__(self, contexts: Int64[Tensor, "row place"]) -> Float64[Tensor, "row token"]:
        """Return the log-probability of every token after each context; short contexts are padded with NOWHERE."""
        lengths = range(1, min(len(self._keys), contexts.shape[1]) + 1)
        rows = [self._rows_of_last(contexts, length) for length in lengths]
        weights = [
            _chosen(context_rows, backoffs) for context_rows, backoffs in zip(rows, self._backoffs, strict=False)
        ]
        nothing = contexts.new_zeros(len(contexts), dtype=torch.float64)
        longer = list(accumulate(reversed(weights), initial=nothing))[::-1]  # sums over all contexts longer than k
        scores = self._scores[0].double() + longer[0][:, None]
        for length, context_rows in zip(lengths, rows, strict=True):
            self._write_children(scores, length, context_rows, longer[length])
        return scores

    def _rows_of_last(self, contexts: Int64[Tensor, "row place"], length: int) -> Rows:
        """Return the rows of each context's last `length` words among the n-grams of that order."""
        first, *others = contexts[:, contexts.shape[1] - length :].unbind(dim=1)
        rows = first
        for keys, words in zip(self._keys, others, strict=False):
            wanted = rows * self._size + words
            places = torch.searchsorted(keys, wanted).clamp(max=len(keys) - 1)
            is_there = (
                (rows != NOWHERE) & (words != NOWHERE) & (keys[places] == wanted) if len(keys) else rows < NOWHERE
            )
            rows = torch.where(is_there, places, NOWHERE)
        return rows

    def _write_children(self, scores: Tensor, length: int, rows: Rows, backoffs: Float64[Tensor, " row"]) -> None:
        """Write the scores of all tokens that continue these n-grams; the children of an n-gram are adjacent."""
        keys = self._keys[length - 1]
        first, last = (torch.searchsorted(keys, (rows + more) * self._size) for more in (0, 1))
        counts = torch.where(rows == NOWHERE, 0, last - first)
        of_row = torch.repeat_interleave(torch.arange(len(rows), device=rows.device), counts)
        before = counts.cumsum(0) - counts
        children = torch.arange(len(of_row), device=rows.device) + (first - before)[of_row]
        scores[of_row, keys[children] % self._size] = self._scores[length][children].double() + backoffs[of_row]


def _chosen(rows: Rows, weights: Float32[Tensor, "_"]) -> Float64[Tensor, " row"]:
    """Return the back-off weights of n-grams, 0 for those that do not exist; an order may have none at all."""
    if not len(weights):
        return torch.zeros_like(rows, dtype=torch.float64)
    return torch.where(rows == NOWHERE, 0.0, weights[rows].double())
