"""word2vec: a word predicts the words around it (skip-gram), or they predict it (CBOW).

Mikolov et al. 2013, Efficient Estimation of Word Representations in Vector Space; and Distributed Representations of
Words and Phrases and their Compositionality, whose equations 2 to 4 are the three losses.
"""

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Float32, Int64
from torch import Tensor
from torch.nn import functional as F

from regard.base.faults import Fault
from regard.models.words.huffman import Tree, huffman_tree
from regard.models.words.learning import Learning, Update, Which, check_tables, keys
from regard.models.words.ngrams import Parts, whole_words
from regard.models.words.options import Word2VecOptions
from regard.models.words.sampling import alias_table, keep_probabilities, shares
from regard.models.words.text import Text, TextBatch
from regard.models.words.vocabulary import Vocabulary

_AT_ONCE = 2**24  # scores that are held at once while a loss is measured


class Word2Vec:
    """W and U of a vocabulary, and how they learn from text."""

    unit = "words"

    def __init__(self, options: Word2VecOptions, vocabulary: Vocabulary) -> None:
        self.options, self.vocabulary = options, vocabulary
        self.centres = self.contexts = torch.zeros(0, options.width)

    # What it is made of

    @cached_property
    def parts(self) -> Parts:
        """The rows of W that each word is made of."""
        return whole_words(len(self.vocabulary))

    @property
    def centre_rows(self) -> int:
        return len(self.vocabulary)

    @property
    def context_rows(self) -> int:
        """Of a tree, one for each place where it branches."""
        return len(self.vocabulary) - (self.options.loss == "hierarchical")

    @cached_property
    def tree(self) -> Tree:
        return huffman_tree(self.vocabulary.counts)

    @cached_property
    def noise(self) -> Float[Tensor, " word"]:
        """The probability with which each word is drawn against the right ones."""
        return torch.from_numpy(shares(self.vocabulary.counts, self.options.noise_exponent)).float()

    def initialise(self, seed: int) -> None:
        """W evenly between −1/2 and 1/2 over the width, U zero, as the authors' program begins."""
        chance = torch.Generator().manual_seed(seed)
        rows, width = self.centre_rows, self.options.width
        self.centres = (torch.rand(rows, width, generator=chance) - 0.5) / width
        self.contexts = torch.zeros(self.context_rows, width)

    def weights(self) -> dict[str, Tensor]:
        return {"centres": self.centres, "contexts": self.contexts}

    state = weights

    def load_weights(self, tensors: Mapping[str, Tensor]) -> None:
        """Take up vectors; those that came from a file are of centres alone."""
        width = self.options.width
        shapes = {"centres": (self.centre_rows, width), "contexts": (self.context_rows, width)}
        check_tables(tensors, shapes if "contexts" in tensors else {"centres": shapes["centres"]})
        self.centres = tensors["centres"].clone()
        self.contexts = tensors["contexts"].clone() if "contexts" in tensors else torch.zeros(0, width)

    resume_state = load_weights

    @property
    def is_ready(self) -> bool:
        """Whether it has vectors, first ones or learnt ones."""
        return len(self.centres) > 0

    @property
    def signature(self) -> str:
        """How its loss is made."""
        return f"nats per prediction, {self.options.method}, {self.options.loss}, nothing drawn"

    # Learning

    def material(self, tokens: np.ndarray, end: int, first: int, learning: Learning) -> Text:
        """What it learns from: the text itself."""
        return Text(tokens, end, first, learning.batch_words)

    def batches(self, material: Text, seed: int, epoch: int, epochs: int, start: int) -> Iterator[TextBatch]:
        return material.batches(keys(seed, epoch, start), epoch, epochs, start)

    def update(self, batch: TextBatch, learning: Learning) -> Update:
        """Learn from a batch in as many threads as are wanted: with one, the same batch always does the same."""
        rates = learning.rate(batch.begin), learning.rate(batch.end)
        if not len(batch.words):
            return Update(0.0, 0, batch.length, rates[1])
        cuts = _even_cuts(batch.starts, learning.threads)
        jobs = [
            (int(first), int(last), (rates[0], rates[1]), batch.key + number)
            for number, (first, last) in enumerate(pairwise(cuts))
        ]
        if len(jobs) == 1:
            found = [self._learn(batch, *jobs[0])]
        else:
            with ThreadPoolExecutor(len(jobs)) as pool:
                found = list(pool.map(lambda job: self._learn(batch, *job), jobs))
        return Update(sum(loss for loss, _ in found), sum(told for _, told in found), batch.length, rates[1])

    def _learn(self, batch: TextBatch, first: int, last: int, rates: tuple[float, float], key: int) -> Any:
        from regard.kernels.text_updates import learn_text  # numba takes its time to be imported

        tables, settings, chances, branches = self._arguments
        tables = tables._replace(centres=self.centres.numpy(), contexts=self.contexts.numpy())
        return learn_text(
            batch.words, batch.starts, first, last, rates, tables, settings, chances, branches, np.uint64(key)
        )

    @cached_property
    def _arguments(self) -> tuple[Any, Any, Any, Any]:
        """What the kernel is told beside the text, whatever the batch."""
        from regard.kernels.text_updates import HIERARCHICAL, NEGATIVE, SOFTMAX, Branches, Chances, Settings, Tables

        options, counts, empty = self.options, self.vocabulary.counts, np.zeros((0, 0), np.float32)
        losses = {"negative": NEGATIVE, "hierarchical": HIERARCHICAL, "softmax": SOFTMAX}
        own, alias = alias_table(shares(counts, options.noise_exponent))
        tree = self.tree if options.loss == "hierarchical" else huffman_tree(counts[:1])
        settings = Settings(
            options.method == "cbow", options.window, losses[options.loss], options.negatives, options.divide_mean
        )
        chances = Chances(keep_probabilities(counts, options.subsampling), own, alias)
        return Tables(empty, empty, *self.parts), settings, chances, Branches(*tree)

    # What is measured

    def loss(self, batch: TextBatch) -> tuple[float, float]:
        """The sum of the losses of all predictions in a text, and their number.

        Nothing is drawn: no word is left out, of negatives the expectation is taken, and a word at the distance d
        counts with the probability (window − d + 1) / window that skip-gram would have it in its window. CBOW sees the
        whole window.
        """
        rows, aims, shares_ = _pairs(batch, self.options.window)
        vectors = self.vectors("centres")
        if self.options.method == "cbow":
            hidden = _means(vectors, batch, rows, aims)
            rows = torch.arange(len(hidden))
            aims = torch.from_numpy(batch.words.astype(np.int64))
            seen = _has_neighbours(batch)
            hidden, aims, rows = hidden[seen], aims[seen], torch.arange(int(seen.sum()))
            shares_ = torch.ones(len(rows))
        else:
            words = torch.from_numpy(batch.words.astype(np.int64))
            distinct, rows = words[rows].unique(return_inverse=True)
            hidden, aims = vectors[distinct], words[aims]
        costs = self._row_costs(hidden)[rows] + self._pair_costs(hidden, rows, aims)
        return float((costs * shares_).sum()), float(shares_.sum())

    def _row_costs(self, hidden: Float[Tensor, "row width"]) -> Float[Tensor, " row"]:
        """The part of a loss that is the same whatever is predicted."""
        if self.options.loss == "hierarchical":
            return torch.zeros(len(hidden))
        pieces = hidden.split(max(1, _AT_ONCE // max(len(self.contexts), 1)))
        if self.options.loss == "softmax":
            return torch.cat([(piece @ self.contexts.T).logsumexp(1) for piece in pieces])
        costs = [F.softplus(piece @ self.contexts.T) @ self.noise for piece in pieces]
        return self.options.negatives * torch.cat(costs)

    def _pair_costs(
        self, hidden: Float[Tensor, "row width"], rows: Int64[Tensor, " pair"], aims: Int64[Tensor, " pair"]
    ) -> Float[Tensor, " pair"]:
        """The part that depends on the word that is predicted."""
        if self.options.loss == "hierarchical":
            return self._path_costs(hidden, rows, aims)
        pieces = zip(rows.split(_AT_ONCE // 256), aims.split(_AT_ONCE // 256), strict=True)
        scores = torch.cat([(hidden[row] * self.contexts[aim]).sum(1) for row, aim in pieces])
        return -scores if self.options.loss == "softmax" else F.softplus(-scores)

    def _path_costs(
        self, hidden: Float[Tensor, "row width"], rows: Int64[Tensor, " pair"], aims: Int64[Tensor, " pair"]
    ) -> Float[Tensor, " pair"]:
        starts, nodes, signs = (torch.from_numpy(each) for each in self.tree)
        turns = starts[aims + 1] - starts[aims]
        pair = torch.repeat_interleave(torch.arange(len(aims)), turns)
        turn = starts[aims][pair] + torch.arange(len(pair)) - (turns.cumsum(0) - turns)[pair]
        costs = torch.zeros(len(aims))
        for some, which in zip(pair.split(_AT_ONCE // 256), turn.split(_AT_ONCE // 256), strict=True):
            scores = (hidden[rows[some]] * self.contexts[nodes[which].long()]).sum(1)
            costs.index_add_(0, some, F.softplus(-signs[which] * scores))
        return costs

    # What people use

    def vectors(self, which: Which) -> Float32[Tensor, "word width"]:
        """A vector for each word."""
        if which != "centres" and self.options.loss == "hierarchical":
            raise Fault(
                "With loss = 'hierarchical' a word has no vector as a context: "
                "U is of the places where the tree branches."
            )
        if which != "centres" and not len(self.contexts):
            raise Fault("These vectors came from a file and are of centres alone; there are none of contexts.")
        if which == "contexts":
            return self.contexts
        return self._composed if which == "centres" else (self._composed + self.contexts) / 2

    @property
    def _composed(self) -> Float32[Tensor, "word width"]:
        return self.centres

    def compose(self, word: str) -> Float32[Tensor, " width"] | None:
        """The vector of a word that is not in the vocabulary: there is none."""
        return None


def _even_cuts(starts: Int64[np.ndarray, " sentence_and_end"], parts: int) -> list[int]:
    """Where to cut sentences into parts with about equally many words, none of them empty."""
    wanted = np.linspace(starts[0], starts[-1], parts + 1)
    return np.unique(np.searchsorted(starts, wanted)).tolist()


def _pairs(batch: TextBatch, window: int) -> tuple[Tensor, Tensor, Tensor]:
    """All pairs of places of one sentence within the window, each both ways, with the share that each counts for."""
    sentence = np.repeat(np.arange(len(batch.starts) - 1), np.diff(batch.starts))
    rows, aims, counted = [], [], []
    for distance in range(1, min(window, max(len(sentence) - 1, 0)) + 1):
        left = np.flatnonzero(sentence[distance:] == sentence[:-distance])
        rows += [left, left + distance]
        aims += [left + distance, left]
        counted += [np.full(2 * len(left), (window - distance + 1) / window, np.float32)]
    nothing = np.zeros(0, np.int64)
    return (
        torch.from_numpy(np.concatenate([nothing, *rows])),
        torch.from_numpy(np.concatenate([nothing, *aims])),
        torch.from_numpy(np.concatenate([nothing.astype(np.float32), *counted])),
    )


def _has_neighbours(batch: TextBatch) -> Tensor:
    """Which places stand in a sentence of more than one word."""
    lengths = np.diff(batch.starts)
    return torch.from_numpy(np.repeat(lengths > 1, lengths))


def _means(
    vectors: Float[Tensor, "word width"], batch: TextBatch, rows: Int64[Tensor, " pair"], others: Int64[Tensor, " pair"]
) -> Float[Tensor, "place width"]:
    """The mean of the vectors of the words around each place."""
    words = torch.from_numpy(batch.words.astype(np.int64))
    sums = torch.zeros(len(words), vectors.shape[1]).index_add_(0, rows, vectors[words[others]])
    return sums / torch.bincount(rows, minlength=len(words)).clamp(min=1)[:, None]
