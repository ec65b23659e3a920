"""Pairs packed end to end in tensors of a fixed shape, so that a GPU can replay a pass for each batch."""

from dataclasses import dataclass, replace
from typing import NamedTuple

import torch
from jaxtyping import Int
from torch import Tensor

from regard.models.transformer.packing import PackedSentences
from regard.tasks.translation.batches import PairBatch

NOTHING = -1  # target of padding
SMALLEST_ROOM = 16  # smallest size of the attention kernel
SIZES = 16  # number of sizes, up to the capacity, that batches are padded to
MOST = 2  # times the capacity that is still packed; resampled text may be longer than planned


class PackedPairs(NamedTuple):
    """The sources, the target tokens to read, and the token to predict after each."""

    source: PackedSentences
    target: PackedSentences
    wanted: Int[Tensor, " target_token"]

    def twice(self) -> "PackedPairs":
        """Return every sentence twice: first all of them, then all of them again."""
        return PackedPairs(_twice(self.source), _twice(self.target), torch.cat([self.wanted, self.wanted]))


@dataclass(frozen=True)
class PackedBatch:
    """Packed pairs on the device of a model, padded to a fixed number of tokens and sentences.

    Padding makes sentences of its own, after the real ones. `rows`, `tokens` and `pairs`, which stay on the host, count
    only the real ones.
    """

    pairs: PairBatch
    packed: PackedPairs
    room: int  # a power of two, no smaller than the longest sentence
    capacity: int  # tokens of a side in a large batch; sizes are sixteenths of it

    @property
    def rows(self) -> int:
        return self.pairs.rows

    @property
    def tokens(self) -> int:
        return self.pairs.tokens

    @property
    def count(self) -> int:
        """Number of target tokens, over which the loss is summed."""
        return self.tokens

    @property
    def tensors(self) -> PackedPairs:
        """Tensors that differ between batches of the same shape."""
        return self.packed

    def holding(self, tensors: PackedPairs) -> "PackedBatch":
        """Copy the batch into other memory."""
        return replace(self, packed=tensors)

    def twice(self) -> "PackedBatch":
        """Return every pair twice, as `PairBatch.twice` does."""
        return self.holding(self.packed.twice())

    def split(self, parts: int) -> list["PackedBatch"]:
        """Split the rows into `parts` smaller batches."""
        return [_pack_pairs(part, self.capacity, self.packed.wanted.device) for part in self.pairs.split(parts)]


def pack(pairs: PairBatch, capacity: int, device: torch.device) -> PackedBatch | None:
    """Pack pairs, which are on the host, on a device; return None if a side is far beyond the capacity."""
    if max(len(pairs.source_places), pairs.tokens) > MOST * capacity:
        return None
    return _pack_pairs(pairs, capacity, device)


def _pack_pairs(pairs: PairBatch, capacity: int, device: torch.device) -> PackedBatch:
    counts = len(pairs.source_places), pairs.tokens
    room = max(SMALLEST_ROOM, _power_of_two(max(pairs.source.shape[1], pairs.target.shape[1])))
    sizes = [_round_up(count, capacity) for count in counts]
    spare = [size - count for size, count in zip(sizes, counts, strict=True)]
    sentences = _power_of_two(pairs.rows + -(-max(spare) // room))
    source = _sentences(pairs.source, pairs.source_lengths, pairs.source_places, (sizes[0], sentences, room))
    target = _sentences(pairs.inputs, pairs.target_lengths, pairs.places, (sizes[1], sentences, room))
    targets = torch.full((sizes[1],), NOTHING)
    targets[: pairs.tokens] = pairs.target.flatten()[pairs.places]
    return PackedBatch(pairs, _move(PackedPairs(source, target, targets), device), room, capacity)


def _round_up(count: int, capacity: int) -> int:
    """Round up to one of a few sizes: fewer sizes mean more padding, more sizes more passes to capture."""
    step = -(-capacity // SIZES)
    return max(1, -(-count // step)) * step


def _fill(lengths: Tensor, spare: int, room: int, sentences: int) -> Tensor:
    """Return the lengths of `sentences` sentences, which also take up all the spare tokens."""
    filled = torch.zeros(sentences, dtype=torch.long)
    filled[: len(lengths)] = lengths
    whole, rest = divmod(spare, room)
    filled[len(lengths) : len(lengths) + whole] = room
    if rest:
        filled[len(lengths) + whole] = rest
    return filled


def _sentences(table: Tensor, lengths: Tensor, places: Tensor, sizes: tuple[int, int, int]) -> PackedSentences:
    """Return the rows of a padded table end to end, padded to a size and a number of sentences."""
    size, sentences, room = sizes
    filled = _fill(lengths, size - len(places), room, sentences)
    offsets = torch.zeros(sentences + 1, dtype=torch.long)
    torch.cumsum(filled, 0, out=offsets[1:])
    tokens = torch.zeros(size, dtype=torch.long)
    tokens[: len(places)] = table.flatten()[places]
    positions = torch.arange(size) - offsets[:-1].repeat_interleave(filled)
    positions[len(places) :] = 0  # a model may have fewer positions than padding makes sentences long
    return PackedSentences(tokens, positions, offsets)


def _twice(sentences: PackedSentences) -> PackedSentences:
    tokens, places, offsets = sentences
    again = offsets[1:] + len(tokens)
    return PackedSentences(torch.cat([tokens, tokens]), torch.cat([places, places]), torch.cat([offsets, again]))


def _move(packed: PackedPairs, device: torch.device) -> PackedPairs:
    """Move everything in one copy."""
    if device.type == "cpu":
        return packed
    parts = [*packed.source, *packed.target, packed.wanted]
    whole = torch.cat(parts).pin_memory().to(device, non_blocking=True).split([len(part) for part in parts])
    return PackedPairs(PackedSentences(*whole[:3]), PackedSentences(*whole[3:6]), whole[6])


def _power_of_two(number: int) -> int:
    """Return the smallest power of two that is no smaller."""
    return 1 << max(0, number - 1).bit_length()
