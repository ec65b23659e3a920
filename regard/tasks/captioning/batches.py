"""Batches of pictures and captions; their order depends only on seed and epoch."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Int
from torch import Tensor

from regard.data.captions.prepare import PreparedCaptions
from regard.data.tokenisers.symbols import BEGIN, END, PAD
from regard.tasks.held_batch import HeldBatch

MEASURED_ROWS = 200  # of a batch for measuring only
ROOM = 4  # captions are padded to a multiple of this many words, so that there are few shapes of batches


@dataclass(frozen=True)
class CaptionBatch(HeldBatch):
    """Features of pictures, and a caption of each as tokens: words, the end token, then padding.

    Pictures that people ask about have empty captions. Features are whole numbers as stored, or floats.
    """

    features: Tensor  # (row, place, width)
    tokens: Int[Tensor, "row time"]
    names: tuple[str, ...]
    count: int  # tokens, including ends
    pictures: tuple[np.ndarray | None, ...] = ()  # ([frame,] height, width, 3) from 0 to 1, if people ask about them

    @property
    def rows(self) -> int:
        return len(self.features)

    @property
    def real(self) -> Bool[Tensor, "row time"]:
        """True where a token is not padding."""
        return self.tokens != PAD

    @property
    def inputs(self) -> Int[Tensor, "row time"]:
        """The token before each token to write."""
        begin = torch.full_like(self.tokens[:, :1], BEGIN)
        return torch.cat([begin, self.tokens[:, :-1]], dim=1)

    def split(self, parts: int) -> list["CaptionBatch"]:
        """Split the rows into `parts` smaller batches."""
        return [self.of_rows(rows.tolist()) for rows in torch.arange(self.rows).chunk(parts)]

    def of_rows(self, rows: Sequence[int]) -> "CaptionBatch":
        """Return some of the rows."""
        chosen = list(rows)
        tokens, names = self.tokens[chosen], tuple(self.names[row] for row in chosen)
        pictures = tuple(self.pictures[row] for row in chosen) if self.pictures else ()
        return CaptionBatch(self.features[chosen], tokens, names, int((tokens != PAD).sum()), pictures)

    def writing(self, written: Sequence[Sequence[int]]) -> "CaptionBatch":
        """Return the pictures with these captions, given as tokens without their ends."""
        tokens = pad_captions(written, max(map(len, written), default=0) + 1)
        return replace(self, tokens=tokens.to(self.tokens.device), count=int((tokens != PAD).sum()))

    # For captured passes

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        return self.features, self.tokens

    def holding(self, tensors: tuple[Tensor, ...]) -> "CaptionBatch":
        features, tokens = tensors
        return replace(self, features=features, tokens=tokens)


@dataclass(frozen=True)
class PictureReferences:
    """Some pictures without captions, and the captions that people wrote for each."""

    pictures: CaptionBatch
    references: tuple[tuple[str, ...], ...]

    @property
    def rows(self) -> int:
        return self.pictures.rows

    def to(self, device: torch.device) -> "PictureReferences":
        """Copy the batch to a device."""
        return replace(self, pictures=self.pictures.to(device))

    def split(self, parts: int) -> list["PictureReferences"]:
        """Split the rows into `parts` smaller batches."""
        chunks = (rows.tolist() for rows in torch.arange(self.rows).chunk(parts))
        return [
            PictureReferences(self.pictures.of_rows(rows), tuple(self.references[row] for row in rows))
            for rows in chunks
        ]


def pad_captions(captions: Sequence[Sequence[int]], length: int) -> Int[Tensor, "row time"]:
    """Return captions with an end token each, padded to one length."""
    tokens = np.full((len(captions), length), PAD)
    for row, caption in enumerate(captions):
        tokens[row, : len(caption)] = caption
        tokens[row, len(caption)] = END
    return torch.from_numpy(tokens)


class _Example(NamedTuple):
    """One caption: the row of its picture's features, that picture's name, and its tokens."""

    row: int
    name: str
    tokens: list[int]


@dataclass(frozen=True)
class CaptionSource:
    """The captions of a split."""

    prepared: PreparedCaptions
    split: str

    @cached_property
    def examples(self) -> list[_Example]:
        """All captions that are not too long, in the order of the pictures."""
        first, longest = self.prepared.first_of(self.split), self.prepared.options.longest
        encode = self.prepared.tokeniser.encode
        encoded = (
            _Example(first + place, picture.name, encode(caption))
            for place, picture in enumerate(self.prepared.splits[self.split])
            for caption in picture.captions
        )
        return [example for example in encoded if len(example.tokens) <= longest]

    def batches(self, rows: int, seed: int, epoch: int, start: int) -> Iterator[CaptionBatch]:
        """Yield the batches of an epoch from number `start` on, on the host.

        For training, captions of similar length are batched together, regrouped and reordered in every epoch.
        """
        if self.split == "train":
            groups = self._shuffled_groups(rows, seed, epoch)
        else:
            every = np.arange(len(self.examples))
            groups = [every[first : first + rows] for first in range(0, len(every), rows)]
        for group in groups[start:]:
            yield self._batch([self.examples[place] for place in group])

    def _shuffled_groups(self, rows: int, seed: int, epoch: int) -> list[np.ndarray]:
        chance = np.random.default_rng([seed, epoch])
        order = chance.permutation(len(self.examples))
        rooms = np.array([_room(len(self.examples[place].tokens) + 1) for place in order])
        groups = []
        for room in np.unique(rooms):
            places = order[rooms == room]
            groups += [places[first : first + rows] for first in range(0, len(places), rows)]
        return [groups[place] for place in chance.permutation(len(groups))]

    def _batch(self, examples: Sequence[_Example]) -> CaptionBatch:
        features = torch.from_numpy(self.prepared.features[[example.row for example in examples]])
        longest = max(len(example.tokens) for example in examples) + 1
        tokens = pad_captions([example.tokens for example in examples], _room(longest))
        names = tuple(example.name for example in examples)
        return CaptionBatch(features, tokens, names, sum(len(example.tokens) + 1 for example in examples))

    def pictures(self, rows: int) -> Iterator[CaptionBatch]:
        """Yield every picture once, without captions."""
        first, pictures = self.prepared.first_of(self.split), self.prepared.splits[self.split]
        for begin in range(0, len(pictures), rows):
            names = [picture.name for picture in pictures[begin : begin + rows]]
            features = self.prepared.features[first + begin : first + begin + len(names)]
            yield picture_batch(torch.from_numpy(np.array(features)), names)

    def shuffled_pictures(self, rows: int, seed: int, epoch: int, start: int) -> Iterator[PictureReferences]:
        """Yield every picture once, in a new order in every epoch, with its human captions."""
        first, pictures = self.prepared.first_of(self.split), self.prepared.splits[self.split]
        order = np.random.default_rng([seed, epoch]).permutation(len(pictures))
        for begin in range(start * rows, len(order), rows):
            chosen = order[begin : begin + rows]
            features = torch.from_numpy(self.prepared.features[first + chosen])
            batch = picture_batch(features, [pictures[place].name for place in chosen])
            yield PictureReferences(batch, tuple(tuple(pictures[place].captions) for place in chosen))

    def features_of(self, name: str) -> np.ndarray:
        """Return the features (place, width) of a picture of this split."""
        place = [picture.name for picture in self.prepared.splits[self.split]].index(name)
        return np.array(self.prepared.features[self.prepared.first_of(self.split) + place])

    def references(self) -> list[list[str]]:
        """Return the human captions of every picture."""
        return [picture.captions for picture in self.prepared.splits[self.split]]


def picture_batch(features: Tensor, names: Sequence[str], pictures: Sequence[np.ndarray | None] = ()) -> CaptionBatch:
    """Return a batch of pictures without captions."""
    return CaptionBatch(features, pad_captions([[]] * len(names), 1), tuple(names), len(names), tuple(pictures))


def _room(length: int) -> int:
    return -(-length // ROOM) * ROOM
