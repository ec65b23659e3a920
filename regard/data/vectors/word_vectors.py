"""Words with a vector each, and the words nearest to a vector."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from regard.base.faults import Fault


@dataclass(frozen=True, eq=False)
class WordVectors:
    """Distinct words, most frequent first as in files, and their float32 vectors (word, width) in one matrix.

    The matrix may be a memory-mapped file: nothing here copies or changes it.
    """

    words: list[str]
    matrix: np.ndarray

    def __post_init__(self) -> None:
        if self.matrix.ndim != 2 or self.matrix.dtype != np.float32:
            raise ValueError(f"The matrix must be float32 (word, width), not {self.matrix.dtype} {self.matrix.shape}.")
        if len(self.words) != len(self.matrix):
            raise ValueError(
                f"Every word needs one vector: there are {len(self.words)} words and {len(self.matrix)} vectors."
            )
        if not self.matrix.size:
            raise Fault("There are no word vectors: at least one word and one number for it are needed.")
        if len(self.numbers) != len(self.words):
            repeated = next(word for number, word in enumerate(self.words) if self.numbers[word] != number)
            raise Fault(f"The word '{repeated}' has two vectors; keep one.")

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: object) -> bool:
        return word in self.numbers

    def __getitem__(self, word: str) -> np.ndarray:
        """Return the vector of a word (width); raise KeyError if it has none."""
        return self.matrix[self.numbers[word]]

    @property
    def width(self) -> int:
        """Number of values in a vector."""
        return self.matrix.shape[1]

    @cached_property
    def numbers(self) -> dict[str, int]:
        """Row of each word."""
        return {word: number for number, word in enumerate(self.words)}

    @cached_property
    def lengths(self) -> np.ndarray:
        """Euclidean length of each vector (word); 1 for a vector of zeros, whose cosines are then 0."""
        lengths = np.sqrt(np.einsum("ij,ij->i", self.matrix, self.matrix))
        return np.where(lengths > 0, lengths, np.float32(1))

    def first(self, count: int | None) -> "WordVectors":
        """Return only the most frequent words; None means all."""
        return self if count is None else WordVectors(self.words[:count], self.matrix[:count])

    def units(self, rows: np.ndarray | slice) -> np.ndarray:
        """Return some of the vectors (row, width), each divided by its length."""
        return self.matrix[rows] / self.lengths[rows, None]

    def cosines(self, queries: np.ndarray) -> np.ndarray:
        """Return the cosine between each of some vectors (query, width) and every word: (query, word)."""
        lengths = np.linalg.norm(queries, axis=1, keepdims=True)
        units = (queries / np.where(lengths > 0, lengths, 1)).astype(np.float32)
        return units @ self.matrix.T / self.lengths
