"""Resample the tokens of a corpus in every epoch, in worker processes if there are any."""

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice

import numpy as np

from regard.base.processes import cores
from regard.base.worker_pool import LastingWorkers
from regard.data.corpora.shards import SIDES, Pairs
from regard.data.tokenisers.tokeniser import Tokeniser

Rows = list[np.ndarray]  # the tokens of some sentences

_PIECE = 128  # rows tokenised at once: some milliseconds of work
_MOST_WORKERS = 12  # each takes 100 to 200 MB, and this many handle a million tokens per second


@dataclass(frozen=True)
class SampledPiece:
    """Some rows of a batch, to be tokenised for this seed and epoch."""

    seed: int
    epoch: int
    rows: np.ndarray


@dataclass(frozen=True)
class Flat:
    """The tokens of some sentences in one array, which is faster to send than many, and the length of each."""

    tokens: np.ndarray
    lengths: np.ndarray

    @classmethod
    def of(cls, sentences: list[list[int]]) -> "Flat":
        return cls(np.fromiter(chain.from_iterable(sentences), np.int32), np.array([*map(len, sentences)], np.int64))

    def rows(self) -> Rows:
        return np.split(self.tokens, np.cumsum(self.lengths)[:-1])


@dataclass(frozen=True)
class PairCutter:
    """Tokenises both sides of pairs at random, as a pure function of (seed, epoch, row, side).

    A sentence that would have more than `longest` tokens keeps its prepared tokens. A tag stays before its source.
    """

    pairs: Pairs
    source: Tokeniser
    target: Tokeniser
    longest: int

    def __call__(self, piece: SampledPiece) -> tuple[Flat, Flat]:
        self.pairs.check_lengths()
        source, target = (
            Flat.of([self._cut(number, row, piece) for row in piece.rows.tolist()]) for number in range(len(SIDES))
        )
        return source, target

    def _cut(self, number: int, row: int, piece: SampledPiece) -> list[int]:
        side, tokeniser = SIDES[number], (self.source, self.target)[number]
        prepared = self.pairs.tokens(side, row)
        tag = prepared[:1].tolist() if len(prepared) and prepared[0] == tokeniser.begin else []
        tokens = [*tag, *tokeniser.sample(self.pairs.text(side, row), (piece.seed, piece.epoch, row, number))]
        return tokens if len(tokens) <= self.longest else prepared.tolist()


class SampledPairs:
    """Batches of pairs with resampled tokens; `workers` processes make the next ones while the current one is used.

    The number of workers only affects speed; with 0 this process does the work itself.
    """

    def __init__(self, cutter: PairCutter, workers: int) -> None:
        self.workers = workers
        self._cutter = cutter
        self._lasting = LastingWorkers[SampledPiece, tuple[Flat, Flat]](cutter, workers)

    def batches(self, batches: Iterable[np.ndarray], seed: int, epoch: int) -> Iterator[tuple[Rows, Rows]]:
        """Yield the tokens of both sides for each batch of rows, in order."""
        counts: deque[int] = deque()  # number of pieces of each batch that was handed out

        def pieces() -> Iterator[SampledPiece]:
            for rows in batches:
                parts = np.array_split(rows, -(-len(rows) // _PIECE))
                counts.append(len(parts))
                yield from (SampledPiece(seed, epoch, part) for part in parts)

        results = self._lasting.map(pieces()) if self.workers else map(self._cutter, pieces())
        for first in results:
            sources, targets = zip(first, *islice(results, counts.popleft() - 1), strict=True)
            yield [*chain.from_iterable(map(Flat.rows, sources))], [*chain.from_iterable(map(Flat.rows, targets))]


def workers_beside_gpu() -> int:
    """Return how many processes should tokenise for a GPU: all cores but one, up to a useful limit."""
    return min(cores() - 1, _MOST_WORKERS)
