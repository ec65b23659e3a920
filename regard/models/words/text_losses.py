"""Losses of predictions on a text, measured without sampling.

All words are kept, negatives contribute their expectation, and a word at distance d counts with the probability
(window − d + 1) / window of being in skip-gram's window. CBOW sees the whole window.
"""

import numpy as np
import torch
from jaxtyping import Float, Int64
from torch import Tensor
from torch.nn import functional as F

from regard.models.words.huffman import Tree
from regard.models.words.options import Word2VecOptions
from regard.models.words.text import TextBatch

_AT_ONCE = 2**24  # scores in memory at once
_PAIRS_AT_ONCE = 2**16  # pairs whose vectors are in memory at once


class Predictions:
    """Predictions of words by a model's vectors, and their losses."""

    def __init__(
        self,
        options: Word2VecOptions,
        vectors: Float[Tensor, "word width"],
        contexts: Float[Tensor, "_ width"],
        noise: Float[Tensor, " word"],
        tree: Tree | None,
    ) -> None:
        self.options, self.vectors, self.contexts = options, vectors, contexts
        self.noise, self.tree = noise, tree

    def loss(self, batch: TextBatch) -> tuple[float, float]:
        """Return the sum of the losses of all predictions in a text, and their number."""
        places, others, weights = _pairs(batch, self.options.window)
        words = torch.from_numpy(batch.words.astype(np.int64))
        if self.options.method == "cbow":
            centres, rows = places.unique(return_inverse=True)
            sums = torch.zeros(len(centres), self.vectors.shape[1]).index_add_(0, rows, self.vectors[words[others]])
            hidden = sums / torch.bincount(rows, minlength=len(centres))[:, None]
            rows, aims, weights = torch.arange(len(centres)), words[centres], torch.ones(len(centres))
        else:
            distinct, rows = words[places].unique(return_inverse=True)
            hidden, aims = self.vectors[distinct], words[others]
        costs = self._row_costs(hidden)[rows] + self._pair_costs(hidden, rows, aims)
        return float((costs * weights).sum()), float(weights.sum())

    def _row_costs(self, hidden: Float[Tensor, "row width"]) -> Float[Tensor, " row"]:
        """Return the part of the loss that does not depend on the predicted word."""
        if self.options.loss == "hierarchical":
            return torch.zeros(len(hidden))
        pieces = hidden.split(max(1, _AT_ONCE // len(self.contexts)))
        if self.options.loss == "softmax":
            return torch.cat([(piece @ self.contexts.T).logsumexp(1) for piece in pieces])
        return self.options.negatives * torch.cat(
            [F.softplus(piece @ self.contexts.T) @ self.noise for piece in pieces]
        )

    def _pair_costs(
        self, hidden: Float[Tensor, "row width"], rows: Int64[Tensor, " pair"], aims: Int64[Tensor, " pair"]
    ) -> Float[Tensor, " pair"]:
        """Return the part of the loss that depends on the predicted word."""
        if self.tree is not None:
            return self._path_costs(self.tree, hidden, rows, aims)
        scores = _products(hidden, rows, self.contexts, aims)
        return -scores if self.options.loss == "softmax" else F.softplus(-scores)

    def _path_costs(
        self, tree: Tree, hidden: Float[Tensor, "row width"], rows: Int64[Tensor, " pair"], aims: Int64[Tensor, " pair"]
    ) -> Float[Tensor, " pair"]:
        """Return the loss of all turns on the path to each word."""
        starts, nodes, signs = (torch.from_numpy(array) for array in tree)
        turns = starts[aims + 1] - starts[aims]
        pair = torch.repeat_interleave(torch.arange(len(aims)), turns)
        turn = starts[aims][pair] + torch.arange(len(pair)) - (turns.cumsum(0) - turns)[pair]
        scores = _products(hidden, rows[pair], self.contexts, nodes[turn].long())
        return torch.zeros(len(aims)).index_add_(0, pair, F.softplus(-signs[turn] * scores))


def _products(
    left: Float[Tensor, "row width"],
    rows: Int64[Tensor, " pair"],
    right: Float[Tensor, "other width"],
    others: Int64[Tensor, " pair"],
) -> Float[Tensor, " pair"]:
    """Return the products of pairs of vectors."""
    pieces = zip(rows.split(_PAIRS_AT_ONCE), others.split(_PAIRS_AT_ONCE), strict=True)
    return torch.cat([(left[row] * right[other]).sum(1) for row, other in pieces])


def _pairs(batch: TextBatch, window: int) -> tuple[Tensor, Tensor, Tensor]:
    """Return all pairs of places in a sentence within the window, in both directions, with their weights."""
    sentence = np.repeat(np.arange(len(batch.starts) - 1), np.diff(batch.starts))
    rows, others, weights = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], [np.zeros(0, np.float32)]
    for distance in range(1, min(window, max(len(sentence) - 1, 0)) + 1):
        left = np.flatnonzero(sentence[distance:] == sentence[:-distance])
        rows += [left, left + distance]
        others += [left + distance, left]
        weights.append(np.full(2 * len(left), (window - distance + 1) / window, np.float32))
    places, around, shares = (torch.from_numpy(np.concatenate(parts)) for parts in (rows, others, weights))
    return places, around, shares
