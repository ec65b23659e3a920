"""GloVe: vectors whose products approximate the logarithms of co-occurrence counts.

    J = ½ Σ f(x_ij) (w_i · u_j + b_i + c_j − log x_ij)²,   f(x) = min(1, (x / x_max)^α)

over all pairs with x_ij > 0 (Pennington et al. 2014, equations 8 and 9; the half is in their program), by AdaGrad.
"""

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import torch
from jaxtyping import Float32, Int32
from torch import Tensor

from regard.models.words.cooccurrences import Cooccurrences, count_cooccurrences
from regard.models.words.learning import Learning, Update, Which, check_tables, keys
from regard.models.words.on_gpu import side_by_side
from regard.models.words.options import GloVeOptions
from regard.models.words.vocabulary import Vocabulary

_SUMS = "_sums"  # suffix of the tables of summed squared gradients


@dataclass(frozen=True)
class PairBatch:
    """Some pairs of co-occurring words, and their counts."""

    rows: Int32[np.ndarray, " pair"]
    columns: Int32[np.ndarray, " pair"]
    counts: Float32[np.ndarray, " pair"]


class CountedText:
    """The co-occurrences of a text, counted on first use and cut into batches.

    Counts are multiplied by `scale`, which brings another text to the length of the training text.
    """

    def __init__(
        self, tokens: np.ndarray, end: int, first: int, size: int, window: int, batch: int, scale: float
    ) -> None:
        self._text, self._batch, self._scale = (tokens, end, first, size, window), batch, np.float32(scale)
        self._counted: Cooccurrences | None = None

    @property
    def counted(self) -> Cooccurrences:
        if self._counted is None:
            counted = count_cooccurrences(*self._text)
            self._counted = replace(counted, counts=counted.counts * self._scale)
        return self._counted

    def __len__(self) -> int:
        return -(-len(self.counted) // self._batch)

    def batches(self, key: int, start: int) -> Iterator[PairBatch]:
        """Yield all pairs in a random order given by the key, from batch `start` on."""
        order, pairs = np.random.default_rng(key).permutation(len(self.counted)), self.counted
        for first in range(start * self._batch, len(order), self._batch):
            chosen = order[first : first + self._batch]
            yield PairBatch(pairs.rows[chosen], pairs.columns[chosen], pairs.counts[chosen])


class GloVe:
    """W and U, their biases, and how they learn from counts."""

    unit = "pairs"

    def __init__(self, options: GloVeOptions, vocabulary: Vocabulary) -> None:
        self.options, self.vocabulary = options, vocabulary
        size, width = len(vocabulary), options.width
        self.shapes = {
            "centres": (size, width), "contexts": (size, width), "centre_biases": (size,), "context_biases": (size,)
        }  # fmt: skip
        self.tables: dict[str, Tensor] = {}

    def initialise(self, seed: int) -> None:
        """Draw uniformly between −1/2 and 1/2, divided by the width; sums of squared gradients start at 1."""
        chance = torch.Generator().manual_seed(seed)
        self.tables = {
            name: (torch.rand(shape, generator=chance) - 0.5) / self.options.width
            for name, shape in self.shapes.items()
        }
        self.tables |= {name + _SUMS: torch.ones(shape) for name, shape in self.shapes.items()}

    @property
    def is_ready(self) -> bool:
        """True if it has vectors, initial or learnt."""
        return len(self.tables) > 0

    @property
    def signature(self) -> str:
        """Description of its loss."""
        return "half of the weighted squared error of log counts, brought to the length of the training text"

    def weights(self) -> dict[str, Tensor]:
        return {name: self.tables[name] for name in self.shapes}

    def state(self) -> dict[str, Tensor]:
        return self.tables

    def load_weights(self, tensors: Mapping[str, Tensor]) -> None:
        check_tables(tensors, self.shapes)
        self.tables = {name: tensor.clone() for name, tensor in tensors.items()}

    def resume_state(self, tensors: Mapping[str, Tensor]) -> None:
        check_tables(tensors, self.shapes | {name + _SUMS: shape for name, shape in self.shapes.items()})
        self.tables = {name: tensor.clone() for name, tensor in tensors.items()}

    def move_to(self, device: torch.device) -> None:
        """Move the tables to this device, to learn there."""
        self.tables = {name: tensor.to(device) for name, tensor in self.tables.items()}

    def material(self, tokens: np.ndarray, end: int, first: int, learning: Learning) -> CountedText:
        """Return the co-occurrences of a text, from which it learns."""
        size, window = len(self.vocabulary), self.options.window
        scale = float(self.vocabulary.counts.sum() / max(np.count_nonzero(tokens >= first), 1))
        return CountedText(tokens, end, first, size, window, learning.batch_words, scale)

    def batches(self, material: CountedText, seed: int, epoch: int, epochs: int, start: int) -> Iterator[PairBatch]:
        return material.batches(next(keys(seed, epoch, 0)), start)

    def update(self, batch: PairBatch, learning: Learning) -> Update:
        """Learn from a batch on the tables' device; the learning rate is constant, since AdaGrad's steps shrink."""
        is_on_gpu = self.tables["centres"].is_cuda
        total = self._learn_on_gpu(batch, learning) if is_on_gpu else self._learn_on_cpu(batch, learning)
        return Update(total, len(batch.counts), len(batch.counts), learning.learning_rate)

    def _learn_on_gpu(self, batch: PairBatch, learning: Learning) -> float:
        from regard.kernels.word_vectors import learn_cooccurrences

        arrays = (batch.rows, batch.columns, np.log(batch.counts), self._shares(batch.counts))
        device, programs = self.tables["centres"].device, learning.threads or side_by_side(len(self.vocabulary))
        rows, columns, logarithms, shares = (torch.from_numpy(array).to(device) for array in arrays)
        rate = learning.learning_rate
        return float(learn_cooccurrences(rows, columns, logarithms, shares, self.tables, rate, programs).sum())

    def _learn_on_cpu(self, batch: PairBatch, learning: Learning) -> float:
        from regard.kernels.glove_updates import GloVeTables, learn_pairs

        tables = GloVeTables(**{name: tensor.numpy() for name, tensor in self.tables.items()})
        logarithms, shares = np.log(batch.counts), self._shares(batch.counts)

        def learn(part: slice) -> float:
            arguments = (batch.rows[part], batch.columns[part], logarithms[part], shares[part])
            return float(learn_pairs(*arguments, tables, learning.learning_rate))

        threads = learning.threads or 1
        cuts = np.linspace(0, len(batch.counts), threads + 1).astype(int).tolist()
        parts = [slice(first, last) for first, last in pairwise(cuts)]
        if threads == 1:
            return learn(parts[0])
        with ThreadPoolExecutor(threads) as pool:
            return sum(pool.map(learn, parts))

    def _shares(self, counts: Float32[np.ndarray, " pair"]) -> Float32[np.ndarray, " pair"]:
        """Return f, the weight of each pair."""
        return np.minimum(1, (counts / np.float32(self.options.x_max)) ** np.float32(self.options.alpha))

    def loss(self, batch: PairBatch) -> tuple[float, float]:
        """Return the weighted squared error of the logarithms of some counts, and their number."""
        rows, columns = (torch.from_numpy(array).long() for array in (batch.rows, batch.columns))
        tables = {name: tensor.cpu() for name, tensor in self.weights().items()}
        guesses = (tables["centres"][rows] * tables["contexts"][columns]).sum(1)
        guesses += tables["centre_biases"][rows] + tables["context_biases"][columns]
        errors = guesses - torch.from_numpy(batch.counts).log()
        return float(0.5 * (torch.from_numpy(self._shares(batch.counts)) * errors**2).sum()), float(len(rows))

    def vectors(self, which: Which) -> Float32[Tensor, "word width"]:
        """Return a vector for each word; the authors use the sum of both, which has the direction of the mean."""
        if which == "mean":
            return (self.tables["centres"] + self.tables["contexts"]) / 2
        return self.tables[which]

    def compose(self, word: str) -> Float32[Tensor, " width"] | None:
        """Return None: a word that is not in the vocabulary has no vector."""
        return None
