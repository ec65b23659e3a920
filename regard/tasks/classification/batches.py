"""Batches of labelled texts; their order depends only on seed and epoch."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor

from regard.data.labelled.prepare import LabelledTexts
from regard.models.text.texts import TextRows

_POOL = 20  # batches within which texts are grouped by length


@dataclass(frozen=True)
class LabelledBatch:
    """Some texts with the numbers of their classes; `inputs` are the texts as people wrote them, if they did."""

    texts: TextRows
    labels: Int[Tensor, " batch"]
    inputs: Sequence[str] = ()

    @property
    def rows(self) -> int:
        return len(self.labels)

    def to(self, device: torch.device) -> "LabelledBatch":
        """Copy the batch to a device."""
        if device.type == "cpu":
            return self
        texts = self.texts.change(lambda tensor: tensor.to(device, non_blocking=True))
        return replace(self, texts=texts, labels=self.labels.to(device, non_blocking=True))

    def split(self, parts: int) -> list["LabelledBatch"]:
        """Split the rows into `parts` smaller batches."""
        return [self._rows(rows) for rows in torch.arange(self.rows).chunk(parts)]

    def _rows(self, rows: Int[Tensor, " row"]) -> "LabelledBatch":
        chosen = slice(int(rows[0]), int(rows[-1]) + 1)
        return LabelledBatch(self.texts.change(lambda tensor: tensor[chosen]), self.labels[chosen], self.inputs[chosen])


def text_batches(
    texts: LabelledTexts, pad: int, batch: int, chance: Sequence[int] | None, start: int
) -> Iterator[LabelledBatch]:
    """Yield the batches of an epoch from number `start` on, on the host.

    With `chance`, batches are random, with texts of similar length together; without, texts keep their order.
    """
    for rows in _groups(texts.lengths, batch, chance)[start:]:
        inputs, labels = TextRows(*padded([texts.text(row) for row in rows], pad)), torch.from_numpy(texts.labels[rows])
        if len(texts.aspects):
            aspects, places = [texts.aspect(row) for row in rows], texts.aspect_places[rows]
            inputs = with_aspects(inputs, aspects, places, pad)
        yield LabelledBatch(inputs, labels)


def with_aspects(
    texts: TextRows, aspects: Sequence[Sequence[int] | np.ndarray], places: Sequence[int] | np.ndarray, pad: int
) -> TextRows:
    """Return the texts with an aspect each, which begins at one of its places, or with a second text."""
    tokens, lengths = padded(aspects, pad)
    return texts._replace(aspects=tokens, aspect_lengths=lengths, aspect_places=torch.as_tensor(places))


def _groups(lengths: np.ndarray, batch: int, chance: Sequence[int] | None) -> list[np.ndarray]:
    """Return the rows of each batch."""
    if chance is None:
        return [np.arange(first, min(first + batch, len(lengths))) for first in range(0, len(lengths), batch)]
    draws = np.random.default_rng(chance)
    rows, groups = draws.permutation(len(lengths)), []
    for first in range(0, len(rows), batch * _POOL):
        pool = rows[first : first + batch * _POOL]
        pool = pool[np.argsort(lengths[pool], kind="stable")]
        groups += [pool[place : place + batch] for place in range(0, len(pool), batch)]
    return [groups[place] for place in draws.permutation(len(groups))]


def padded(rows: Sequence[Sequence[int] | np.ndarray], pad: int) -> tuple[Tensor, Tensor]:
    """Return rows of tokens as one tensor (batch, time), and their lengths."""
    lengths = [len(row) for row in rows]
    tokens = np.full((len(rows), max(lengths)), pad, dtype=np.int64)
    for number, row in enumerate(rows):
        tokens[number, : lengths[number]] = row
    return torch.from_numpy(tokens), torch.tensor(lengths)
