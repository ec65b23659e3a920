"""The task of contextual word vectors: batches of sentences, and two language models that learn from them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Int
from torch import Tensor

from regard.base.faults import TooLong
from regard.base.figures import shorten
from regard.base.progress import Progress, Remark
from regard.data.corpora.batching import BatchPlan
from regard.data.texts.options import SpelledData
from regard.data.texts.prepare import PreparedText, check_files_of, check_validation_text, prepare_text
from regard.data.tokenisers.tokeniser import CaselessTokeniser, Tokeniser, tokenisers_in
from regard.hardware.precision import check_cell
from regard.models.cross_entropy import projected_cross_entropy
from regard.models.recurrent.bilm import Bilm
from regard.protocols import Loss, Measure, Tally, TextVectors, mean
from regard.tasks.base import Files, NetworkTask, build_network, check_size
from regard.tasks.contexts.options import ContextsRecipe
from regard.tasks.language.measures import perplexity
from regard.tasks.text import cut_words, text_vectors, words_of

MEASURED_ROWS = 32  # of a batch for measuring only


@dataclass(frozen=True)
class SentenceBatch:
    """Some sentences as tokens, without marks at their ends.

    If tokens are words that people wrote, `written` has the original words.
    """

    tokens: Int[Tensor, "batch time"]
    lengths: Int[Tensor, " batch"]  # always on the host, where recurrent layers need them
    written: Sequence[Sequence[str]] = ()

    @property
    def rows(self) -> int:
        return len(self.tokens)

    def to(self, device: torch.device) -> "SentenceBatch":
        return replace(self, tokens=self.tokens.to(device, non_blocking=True))

    def split(self, parts: int) -> list["SentenceBatch"]:
        """Return these rows in smaller batches."""
        chunks = zip(self.tokens.chunk(parts), self.lengths.chunk(parts), strict=True)
        return [SentenceBatch(tokens, lengths) for tokens, lengths in chunks]


def pad_rows(rows: Sequence[Sequence[int] | np.ndarray], pad: int) -> SentenceBatch:
    """Return rows of different lengths as one batch, on the host."""
    lengths = torch.tensor([len(row) for row in rows])
    table = np.full((len(rows), int(lengths.max())), pad, dtype=np.int64)
    for line, row in zip(table, rows, strict=True):
        line[: len(row)] = row
    return SentenceBatch(torch.from_numpy(table), lengths)


class SentenceRows:
    """The sentences of a text by number; each ends with the end token in the text."""

    def __init__(self, tokens: np.ndarray, end: int) -> None:
        self._tokens, self._ends = tokens, np.flatnonzero(tokens == end)
        self.lengths = np.diff(self._ends, prepend=-1) - 1

    def __len__(self) -> int:
        return len(self._ends)

    def __getitem__(self, number: int) -> np.ndarray:
        end = self._ends[number]
        return np.asarray(self._tokens[end - self.lengths[number] : end], np.int64)

    def shuffled(self, budget: int, seed: int, epoch: int, start: int) -> Iterator[list[np.ndarray]]:
        """Yield the rows of each batch of an epoch, with at most `budget` tokens including ends, from batch `start`
        on.
        """
        plan = BatchPlan(self.lengths, self.lengths, budget, [(0, len(self), 1.0)])
        for numbers in plan.batches(seed, epoch, start):
            yield [self[number] for number in numbers.tolist()]

    def in_order(self, start: int) -> Iterator[list[np.ndarray]]:
        """Yield all rows in order, several at a time, from batch `start` on."""
        for first in range(start * MEASURED_ROWS, len(self), MEASURED_ROWS):
            yield [self[number] for number in range(first, min(first + MEASURED_ROWS, len(self)))]


FEWEST_TOKENS = 16  # of a vocabulary whose size is not known yet
_PADDING = -100  # target that cross-entropy ignores
_SIGNED = "per token, </s> counted, unknown words as <unk>"


class Contexts(NetworkTask[dict[str, SentenceRows]]):
    """Two language models with their tokeniser, which give contextual word vectors."""

    unit = "tokens"  # the unit of losses, counted once for each direction
    MEASURES: ClassVar[tuple[str, ...]] = ("perplexity", "forward_perplexity", "backward_perplexity")

    def __init__(self, model: Bilm, tokeniser: Tokeniser, data: SpelledData) -> None:
        super().__init__(model)
        self.tokeniser = tokeniser
        self.kind, self.longest = data.tokeniser.kind, data.longest
        self._batch_tokens = 0

    # Construction

    @classmethod
    def check(cls, recipe: ContextsRecipe, device: torch.device, folder: Path | None) -> None:
        check_validation_text(recipe.data)
        check_files_of(recipe.data, folder)
        check_cell(recipe.model.cell, recipe.training.precision, device)
        check_size(recipe, FEWEST_TOKENS, 0, 1, 2)

    @classmethod
    def prepare(
        cls, recipe: ContextsRecipe, folder: Path, progress: Progress, remark: Remark, start: Files | None
    ) -> PreparedText:
        tokeniser = tokenisers_in(start, recipe.data.tokeniser.full())[0] if start else None
        return prepare_text(recipe.data, folder, progress, remark, tokeniser)

    @classmethod
    def build(cls, recipe: ContextsRecipe, files: Files) -> "Contexts":
        tokeniser, _ = tokenisers_in(files, recipe.data.tokeniser.full())
        tokeniser = CaselessTokeniser(tokeniser) if recipe.data.lower_case else tokeniser
        marks = (tokeniser.pad, tokeniser.begin, tokeniser.end)
        return cls(build_network(recipe, tokeniser.size, *marks), tokeniser, recipe.data)

    # Training and evaluation

    def learn_from(self, prepared: PreparedText, recipe: ContextsRecipe) -> None:
        self._batch_tokens = recipe.training.batch_tokens
        self._material = {split: SentenceRows(tokens, self.tokeniser.end) for split, tokens in prepared.splits.items()}

    def batches(self, split: str, seed: int, epoch: int, start: int) -> Iterator[SentenceBatch]:
        if split not in self.material:
            return
        rows = self.material[split]
        shuffled = split == "train"
        for batch in rows.shuffled(self._batch_tokens, seed, epoch, start) if shuffled else rows.in_order(start):
            yield pad_rows(batch, self.tokeniser.pad).to(self.device)

    def loss(self, batch: SentenceBatch, carry: dict[str, Tensor] | None = None) -> Loss:
        read = self.model.read(batch.tokens, batch.lengths)
        count = _count(batch)
        nats = [
            projected_cross_entropy(states.flatten(0, 1), self.model.output.weight, targets.flatten(), 0.0)
            for states, targets in zip(read.states, self._real(read.wanted), strict=True)
        ]
        named = zip(("forward", "backward"), nats, strict=True)
        tallies = {name: Tally((total.detach(), count), mean) for name, total in named}
        return Loss(nats[0] + nats[1], 2 * count, tallies)

    @torch.no_grad()
    def measure(self, batch: SentenceBatch) -> dict[str, Measure]:
        read = self.model.read(batch.tokens, batch.lengths)
        logits, targets = self.model.logits(read.states).float(), self._real(read.wanted)
        forward, backward = (
            float(F.cross_entropy(direction_logits.flatten(0, 1), right.flatten(), reduction="sum"))
            for direction_logits, right in zip(logits, targets, strict=True)
        )
        count = float(_count(batch))
        sums = {"": (forward + backward, 2 * count), "forward_": (forward, count), "backward_": (backward, count)}
        return {
            f"{way}perplexity": Measure(Tally(sum_of, perplexity), "lower", _SIGNED) for way, sum_of in sums.items()
        }

    # For people

    def read(self, inputs: Sequence[str]) -> SentenceBatch:
        """Read texts as people write them; a text longer than any training text may be is refused by its number."""
        written = [cut_words(self.kind, text) for text in inputs]
        return self._placed(self.tokeniser.encode_all(list(inputs)), written)

    def read_words(self, rows: Sequence[Sequence[str]]) -> SentenceBatch:
        """Read texts that are already split into words, one token each; words outside the vocabulary are unknown."""
        token_of: dict[str, int] = {}
        for word in {word for row in rows for word in row}:
            tokens = self.tokeniser.encode(word)
            token_of[word] = tokens[0] if len(tokens) == 1 else self.tokeniser.unknown
        return self._placed([[token_of[word] for word in row] for row in rows], rows)

    def _placed(self, rows: Sequence[Sequence[int]], written: Sequence[Sequence[str]]) -> SentenceBatch:
        for number, row in enumerate(rows):
            if len(row) > self.longest:
                raise TooLong(number, f"it has {len(row):,} tokens, but the limit is {self.longest:,}; split it.")
        return replace(pad_rows(rows, self.tokeniser.pad).to(self.device), written=written)

    @torch.no_grad()
    def embed(self, batch: SentenceBatch) -> list[TextVectors]:
        rows = zip(batch.tokens.tolist(), batch.lengths.tolist(), batch.written or [()] * batch.rows, strict=True)
        texts = [words_of(self.tokeniser, row[:length], written) for row, length, written in rows]
        return text_vectors(texts, self.model.layers(batch.tokens, batch.lengths))

    def quote(self, batch: SentenceBatch) -> str:
        return f"'{shorten(self.tokeniser.decode(batch.tokens[0, : int(batch.lengths[0])].tolist()))}'"

    def outline(self, recipe: ContextsRecipe) -> list[str]:
        return [f"{self.tokeniser.size:,} tokens in the vocabulary"]

    def facts(self) -> dict[str, Any]:
        return {"vocabulary": self.tokeniser.size, "layers": self.model.options.layers}

    def cost(self, size: int) -> dict[str, int | float]:
        """Return the cost of reading and predicting a text of `size` tokens both ways."""
        return {"multiplications": size * self.model.multiplications()}

    def _real(self, targets: Tensor) -> Tensor:
        """Return the target tokens with padding ignored."""
        return targets.masked_fill(targets == self.tokeniser.pad, _PADDING)


def _count(batch: SentenceBatch) -> int:
    """Count the tokens predicted in one direction: all of the rows, and the end of each."""
    return int(batch.lengths.sum()) + batch.rows
