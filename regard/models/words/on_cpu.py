"""Batches of text learnt from on a CPU, in one thread or in several that share the vectors without locks."""

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np
from jaxtyping import Float, Int64
from torch import Tensor

from regard.models.words.huffman import Tree, huffman_tree
from regard.models.words.ngrams import Parts
from regard.models.words.options import Word2VecOptions
from regard.models.words.sampling import alias_table, keep_probabilities, shares
from regard.models.words.text import TextBatch


class CpuLearner:
    """Learns from batch after batch; with one thread the same batch always does the same."""

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
        """Learn from a batch, the learning rate going from one to the other; gives some losses and their number."""
        from regard.kernels.text_updates import Tables

        tables = Tables(centres.numpy(), contexts.numpy(), *self._parts)
        jobs = [(*cut, batch.key + number) for number, cut in enumerate(pairwise(_even_cuts(batch.starts, threads)))]
        if len(jobs) == 1:
            return self._learn_part(batch, rates, tables, *jobs[0])
        with ThreadPoolExecutor(len(jobs)) as pool:
            found = list(pool.map(lambda job: self._learn_part(batch, rates, tables, *job), jobs))
        return sum(loss for loss, _ in found), sum(told for _, told in found)

    def _learn_part(
        self, batch: TextBatch, rates: tuple[float, float], tables: Any, first: int, last: int, key: int
    ) -> tuple[float, int]:
        from regard.kernels.text_updates import learn_text

        return learn_text(
            batch.words, batch.starts, first, last, rates, tables,
            self._settings, self._chances, self._branches, np.uint64(key),
        )  # fmt: skip


def _even_cuts(starts: Int64[np.ndarray, " sentence_and_end"], parts: int) -> list[int]:
    """Where to cut sentences into parts with about equally many words, none of them empty."""
    wanted = np.linspace(starts[0], starts[-1], parts + 1)
    return np.unique(np.searchsorted(starts, wanted)).tolist()
