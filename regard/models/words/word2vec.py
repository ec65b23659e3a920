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

from regard.base.faults import Fault
from regard.models.words.huffman import Tree, huffman_tree
from regard.models.words.learning import Learning, Update, Which, check_tables, keys
from regard.models.words.ngrams import Parts, whole_words
from regard.models.words.on_gpu import GpuLearner, side_by_side
from regard.models.words.options import Word2VecOptions
from regard.models.words.sampling import alias_table, keep_probabilities, shares
from regard.models.words.text import Text, TextBatch
from regard.models.words.text_losses import Predictions
from regard.models.words.vocabulary import Vocabulary


class CpuLearner:
    """Learns from batches on a CPU; with one thread the result is deterministic."""

    def __init__(
        self, options: Word2VecOptions, counts: Int64[np.ndarray, " word"], parts: Parts, tree: Tree | None
    ) -> None:
        from regard.kernels.text_updates import HIERARCHICAL, NEGATIVE, SOFTMAX, Branches, Chances, Settings

        losses = {"negative": NEGATIVE, "hierarchical": HIERARCHICAL, "softmax": SOFTMAX}
        self._settings = Settings(
            options.method == "cbow", options.window, losses[options.loss], options.negatives, options.divide_mean
        )
        noise = alias_table(shares(counts, options.noise_exponent))
        self._chances = Chances(keep_probabilities(counts, options.subsampling), *noise)
        self._branches = Branches(*(tree or huffman_tree(counts[:1])))
        self._parts = parts

    def learn(
        self,
        batch: TextBatch,
        rates: tuple[float, float],
        threads: int,
        centres: Float[Tensor, "row width"],
        contexts: Float[Tensor, "_ width"],
    ) -> tuple[float, int]:
        """Learn from a batch while the rate goes from one to the other; return the total loss and its count."""
        from regard.kernels.text_updates import Tables

        tables = Tables(centres.numpy(), contexts.numpy(), *self._parts)
        jobs = [(*cut, batch.key + number) for number, cut in enumerate(pairwise(_even_cuts(batch.starts, threads)))]
        if len(jobs) == 1:
            return self._learn_part(batch, rates, tables, *jobs[0])
        with ThreadPoolExecutor(len(jobs)) as pool:
            results = list(pool.map(lambda job: self._learn_part(batch, rates, tables, *job), jobs))
        return sum(loss for loss, _ in results), sum(count for _, count in results)

    def _learn_part(
        self, batch: TextBatch, rates: tuple[float, float], tables: Any, first: int, last: int, key: int
    ) -> tuple[float, int]:
        from regard.kernels.text_updates import learn_text

        return learn_text(
            batch.words, batch.starts, first, last, rates, tables,
            self._settings, self._chances, self._branches, np.uint64(key),
        )  # fmt: skip


def _even_cuts(starts: Int64[np.ndarray, " sentence_and_end"], parts: int) -> list[int]:
    """Return where to cut sentences into non-empty parts with about equally many words."""
    wanted = np.linspace(starts[0], starts[-1], parts + 1)
    return np.unique(np.searchsorted(starts, wanted)).tolist()


class Word2Vec:
    """W and U of a vocabulary, and how they learn from text."""

    unit = "words"

    def __init__(self, options: Word2VecOptions, vocabulary: Vocabulary) -> None:
        self.options, self.vocabulary = options, vocabulary
        self.centres = self.contexts = torch.zeros(0, options.width)

    # Parts

    @cached_property
    def parts(self) -> Parts:
        """The rows of W that each word is made of."""
        return whole_words(len(self.vocabulary))

    @property
    def centre_rows(self) -> int:
        return len(self.vocabulary)

    @property
    def context_rows(self) -> int:
        """Number of context rows; a tree has one for each branching node."""
        return len(self.vocabulary) - (self.options.loss == "hierarchical")

    @cached_property
    def tree(self) -> Tree | None:
        """The tree of hierarchical softmax."""
        return huffman_tree(self.vocabulary.counts) if self.options.loss == "hierarchical" else None

    def initialise(self, seed: int) -> None:
        """Draw W uniformly between −1/2 and 1/2, divided by the width; set U to zero, as in the authors' program."""
        chance = torch.Generator().manual_seed(seed)
        rows, width = self.centre_rows, self.options.width
        self.centres = (torch.rand(rows, width, generator=chance) - 0.5) / width
        self.contexts = torch.zeros(self.context_rows, width)

    def weights(self) -> dict[str, Tensor]:
        return {"centres": self.centres, "contexts": self.contexts}

    state = weights

    def load_weights(self, tensors: Mapping[str, Tensor]) -> None:
        """Load vectors; imported ones have centres only."""
        width = self.options.width
        shapes = {"centres": (self.centre_rows, width), "contexts": (self.context_rows, width)}
        check_tables(tensors, shapes if "contexts" in tensors else {"centres": shapes["centres"]})
        self.centres = tensors["centres"].clone()
        self.contexts = tensors["contexts"].clone() if "contexts" in tensors else torch.zeros(0, width)

    resume_state = load_weights

    @property
    def is_ready(self) -> bool:
        """True if it has vectors, initial or learnt."""
        return len(self.centres) > 0

    @property
    def signature(self) -> str:
        """Description of its loss."""
        return f"nats per prediction, {self.options.method}, {self.options.loss}, nothing drawn"

    # Learning

    def move_to(self, device: torch.device) -> None:
        """Move the vectors to this device, to learn there."""
        self.centres, self.contexts = self.centres.to(device), self.contexts.to(device)

    def material(self, tokens: np.ndarray, end: int, first: int, learning: Learning) -> Text:
        """Return the text, from which it learns."""
        return Text(tokens, end, first, learning.batch_words)

    def batches(self, material: Text, seed: int, epoch: int, epochs: int, start: int) -> Iterator[TextBatch]:
        return material.batches(keys(seed, epoch, start), epoch, epochs, start)

    def update(self, batch: TextBatch, learning: Learning) -> Update:
        """Learn from a batch on the vectors' device."""
        rates = learning.rate(batch.begin), learning.rate(batch.end)
        if not len(batch.words):
            return Update(0.0, 0, batch.length, rates[1])
        if self.centres.is_cuda:
            programs = learning.threads or side_by_side(len(self.vocabulary))
            totals = self._on_gpu.learn(batch, rates, programs, self.centres, self.contexts)
        else:
            totals = self._on_cpu.learn(batch, rates, learning.threads or 1, self.centres, self.contexts)
        return Update(*totals, batch.length, rates[1])

    @cached_property
    def _on_cpu(self) -> CpuLearner:
        return CpuLearner(self.options, self.vocabulary.counts, self.parts, self.tree)

    @cached_property
    def _on_gpu(self) -> GpuLearner:
        return GpuLearner(self.options, self.vocabulary.counts, self.parts, self.centres.device)

    def loss(self, batch: TextBatch) -> tuple[float, float]:
        """Return the sum of the losses of all predictions in a text, and their number, on the CPU."""
        noise = torch.from_numpy(shares(self.vocabulary.counts, self.options.noise_exponent)).float()
        predictions = Predictions(self.options, self.vectors("centres").cpu(), self.contexts.cpu(), noise, self.tree)
        return predictions.loss(batch)

    # Use

    def vectors(self, which: Which) -> Float32[Tensor, "word width"]:
        """Return a vector for each word."""
        if which != "centres" and self.options.loss == "hierarchical":
            raise Fault(
                "With loss = 'hierarchical' words have no context vectors: U belongs to the branches of the tree."
            )
        if which != "centres" and not len(self.contexts):
            raise Fault("These vectors came from a file, which has vectors of centres only, not of contexts.")
        if which == "contexts":
            return self.contexts
        return self._composed if which == "centres" else (self._composed + self.contexts) / 2

    @property
    def _composed(self) -> Float32[Tensor, "word width"]:
        return self.centres

    def compose(self, word: str) -> Float32[Tensor, " width"] | None:
        """Return None: a word that is not in the vocabulary has no vector."""
        return None
