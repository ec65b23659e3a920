"""Words in their contexts: sentences for batches, two language models to learn from them, vectors for people."""

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
from regard.data.texts.prepare import PreparedText, check_files_of, prepare_text
from regard.data.tokenisers.tokeniser import CaselessTokeniser, Tokeniser, tokenisers_in
from regard.hardware.precision import check_cell
from regard.models.cross_entropy import projected_cross_entropy
from regard.models.recurrent.bilm import Bilm
from regard.protocols import Loss, Measure, Tally, TextVectors, mean
from regard.tasks.base import Files, NetworkTask, build_network, check_size
from regard.tasks.contexts.options import ContextsRecipe
from regard.tasks.language.measures import perplexity
from regard.tasks.text import cut_words, text_vectors, words_of

MEASURED_ROWS = 32  # of a batch that is only measured


@dataclass(frozen=True)
class SentenceBatch:
    """Some sentences as tokens, without marks at their ends.

    Where tokens are words and people wrote them, `written` has them as they did.
    """

    tokens: Int[Tensor, "batch time"]
    lengths: Int[Tensor, " batch"]  # on the host wherever the rest is: recurrent layers must know them there
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
    """Rows of different lengths as one batch, on the host."""
    lengths = torch.tensor([len(row) for row in rows])
    table = np.full((len(rows), int(lengths.max())), pad, dtype=np.int64)
    for line, row in zip(table, rows, strict=True):
        line[: len(row)] = row
    return SentenceBatch(torch.from_numpy(table), lengths)


class SentenceRows:
    """The sentences of a text that ends each of them with the end token, by their numbers."""

    def __init__(self, tokens: np.ndarray, end: int) -> None:
        self._tokens, self._ends = tokens, np.flatnonzero(tokens == end)
        self.lengths = np.diff(self._ends, prepend=-1) - 1

    def __len__(self) -> int:
        return len(self._ends)

    def __getitem__(self, number: int) -> np.ndarray:
        end = self._ends[number]
        return np.asarray(self._tokens[end - self.lengths[number] : end], np.int64)

    def shuffled(self, budget: int, seed: int, epoch: int, start: int) -> Iterator[list[np.ndarray]]:
        """The rows of each batch of an epoch, of at most so many tokens with the end of each, from batch `start` on."""
        plan = BatchPlan(self.lengths, self.lengths, budget, [(0, len(self), 1.0)])
        for numbers in plan.batches(seed, epoch, start):
            yield [self[number] for number in numbers.tolist()]

    def in_order(self, start: int) -> Iterator[list[np.ndarray]]:
        """All rows, some at a time, from batch `start` on."""
        for first in range(start * MEASURED_ROWS, len(self), MEASURED_ROWS):
            yield [self[number] for number in range(first, min(first + MEASURED_ROWS, len(self)))]


FEWEST_TOKENS = 16  # that a vocabulary has, before it is known how many
_PADDING = -100  # where cross-entropies want nothing
_SIGNED = "per token, </s> counted, unknown words as <unk>"


class Contexts(NetworkTask[dict[str, SentenceRows]]):
    """Two language models with their tokeniser, and the vectors that they have for words in their contexts."""

    unit = "tokens"  # that losses are counted in, once for each direction
    MEASURES: ClassVar[tuple[str, ...]] = ("perplexity", "forward_perplexity", "backward_perplexity")

    def __init__(self, model: Bilm, tokeniser: Tokeniser, data: SpelledData) -> None:
        super().__init__(model)
        self.tokeniser = tokeniser
        self.kind, self.longest = data.tokeniser.kind, data.longest
        self._batch_tokens = 0

    # How it comes to be

    @classmethod
    def check(cls, recipe: ContextsRecipe, device: torch.device, folder: Path | None) -> None:
        check_files_of(recipe.data, folder)
        check_cell(recipe.model.cell, recipe.training.precision, device)
        check_size(recipe, FEWEST_TOKENS, 0, 1, 2)

    @classmethod
    def prepare(
        cls, recipe: ContextsRecipe, folder: Path, progress: Progress, remark: Remark, start: Files | None
    ) -> PreparedText:
        given = tokenisers_in(start, recipe.data.tokeniser.full())[0] if start else None
        return prepare_text(recipe.data, folder, progress, remark, given)

    @classmethod
    def build(cls, recipe: ContextsRecipe, files: Files) -> "Contexts":
        tokeniser, _ = tokenisers_in(files, recipe.data.tokeniser.full())
        tokeniser = CaselessTokeniser(tokeniser) if recipe.data.lower_case else tokeniser
        marks = (tokeniser.pad, tokeniser.begin, tokeniser.end)
        return cls(build_network(recipe, tokeniser.size, *marks), tokeniser, recipe.data)

    # What the trainer and the evaluator ask for

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
            projected_cross_entropy(states.flatten(0, 1), self.model.output.weight, wanted.flatten(), 0.0)
            for states, wanted in zip(read.states, self._real(read.wanted), strict=True)
        ]
        named = zip(("forward", "backward"), nats, strict=True)
        tallies = {name: Tally((each.detach(), count), mean) for name, each in named}
        return Loss(nats[0] + nats[1], 2 * count, tallies)

    @torch.no_grad()
    def measure(self, batch: SentenceBatch) -> dict[str, Measure]:
        read = self.model.read(batch.tokens, batch.lengths)
        logits, wanted = self.model.logits(read.states).float(), self._real(read.wanted)
        forward, backward = (
            float(F.cross_entropy(each.flatten(0, 1), right.flatten(), reduction="sum"))
            for each, right in zip(logits, wanted, strict=True)
        )
        count = float(_count(batch))
        sums = {"": (forward + backward, 2 * count), "forward_": (forward, count), "backward_": (backward, count)}
        return {
            f"{way}perplexity": Measure(Tally(sum_of, perplexity), "lower", _SIGNED) for way, sum_of in sums.items()
        }

    # What people see

    def read(self, inputs: Sequence[str]) -> SentenceBatch:
        """Texts as people write them; one longer than any that may be learnt from is refused by its number."""
        written = [cut_words(self.kind, text) for text in inputs]
        return self._placed(self.tokeniser.encode_all(list(inputs)), written)

    def read_words(self, rows: Sequence[Sequence[str]]) -> SentenceBatch:
        """Texts that are cut into words already, a token for each; what is no word of the vocabulary is unknown."""
        found: dict[str, int] = {}
        for word in {word for row in rows for word in row}:
            tokens = self.tokeniser.encode(word)
            found[word] = tokens[0] if len(tokens) == 1 else self.tokeniser.unknown
        return self._placed([[found[word] for word in row] for row in rows], rows)

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

    def _real(self, wanted: Tensor) -> Tensor:
        """The tokens that are wanted, padding left out."""
        return wanted.masked_fill(wanted == self.tokeniser.pad, _PADDING)


def _count(batch: SentenceBatch) -> int:
    """The tokens that are predicted one way: all of the rows, and the end of each."""
    return int(batch.lengths.sum()) + batch.rows
