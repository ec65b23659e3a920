"""A Transformer that writes into caches of a fixed length, so that all its steps have the same shape.

A GPU can then replay the step as one graph, without launching some two hundred kernels. Three things make this
possible, all of them explicit state, like the growing caches of `transformer.py`:

- the caches have room for `length` places from the start, and a step writes into them *in place*, at a place counted on
  the device. So a step uses up the reserved state it is given, and only the returned state is valid;
- the rows of one sentence (a beam) share one cache, which holds what every row wrote at every place. A small table,
  `writers`, says which row wrote which row's past. A search that moves rows only moves that table, never the caches;
- to the attention the rows of a sentence are just more queries, and -inf rules out what belongs to other rows.
"""

from functools import cache
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from regard.attention.heads import Cache
from regard.attention.masks import Lengths
from regard.attention.positions import Learned, Sinusoidal, alibi_slopes, sinusoids
from regard.models.transformer.network import DecoderBlock, Memory, Transformer

NOBODY = -1  # in `writers`, for places that are not written yet
NOWHERE = float("-inf")


class Reserved(NamedTuple):
    """Reserved memory of a sentence: the encoder's output, the caches of its rows, and how far they are written."""

    memory: Memory
    source: Float[Tensor, "sentence 1 1 source"]  # added to the scores of the source: -inf at its padding
    caches: list[Cache]  # of each block, keys and values (sentence, head, place · row, depth)
    place: Int[Tensor, " sentence"]  # place of the next token, the same for all


Writers = Int[Tensor, "row length"]  # for each row and place, the row of its sentence that wrote it


def reserve(memory: Memory, copies: int, length: int) -> tuple[Reserved, Writers]:
    """Reserve room for `length` tokens in each of `copies` rows per sentence."""
    keys, lengths = memory.blocks[0].keys, memory.lengths
    real = Lengths(lengths).as_tensor(1, keys.shape[2], keys.device)
    source = torch.zeros(real.shape, dtype=keys.dtype, device=keys.device).masked_fill(~real, NOWHERE)
    caches = [Cache(*(room_like(tensor, copies * length) for tensor in block)) for block in memory.blocks]
    writers = torch.full((len(lengths) * copies, length), NOBODY, device=keys.device)
    return Reserved(memory, source, caches, torch.zeros_like(lengths, dtype=torch.long)), writers


def extend(reserved: Reserved, writers: Writers, length: int) -> tuple[Reserved, Int[Tensor, "row longer"]]:
    """Extend the room to `length` tokens in total."""
    copies, more = len(writers) // len(reserved.place), length - writers.shape[1]
    room = copies * more
    caches = [
        Cache(*(torch.cat([tensor, room_like(tensor, room)], dim=2) for tensor in block)) for block in reserved.caches
    ]
    return reserved._replace(caches=caches), nn.functional.pad(writers, (0, more), value=NOBODY)


def write(
    network: Transformer, tokens: Int[Tensor, " row"], reserved: Reserved, writers: Writers
) -> tuple[Float[Tensor, "row width"], Reserved, Writers]:
    """Return the states of one more token in each row; the caches are written in place and returned."""
    sentences, length = len(reserved.place), writers.shape[1]
    copies, place = len(tokens) // sentences, reserved.place[:1]
    row_numbers = torch.arange(copies, device=tokens.device).repeat(sentences)
    writers = writers.index_copy(1, place, row_numbers[:, None])
    embedded = network.target_embedding(tokens.view(sentences, copies))
    states = _add_place(network.target_places, embedded, place, length)
    bias = own_past(writers.view(sentences, copies, length), states.dtype)
    if network.options.positions == "alibi":
        distance = place - torch.arange(length, device=place.device).repeat_interleave(copies)
        bias = bias - slopes_on(network.options.decoder_heads or network.options.heads, place.device) * distance.abs()
        bias = bias.to(states.dtype)
    for number, block in enumerate(network.decoder):
        assert isinstance(block, DecoderBlock)
        states = _through(block, states, number, reserved, bias)
    out = reserved._replace(place=reserved.place + 1)
    return network.decoder_norm(states).flatten(0, 1), out, writers


def _through(
    block: DecoderBlock,
    states: Float[Tensor, "sentence copy width"],
    number: int,
    reserved: Reserved,
    bias: Float[Tensor, "sentence head copy key"],
) -> Float[Tensor, "sentence copy width"]:
    places = reserved.place[:1].expand(states.shape[1])
    cache, memory = reserved.caches[number], reserved.memory.blocks[number]

    def look_back(states: Tensor) -> Tensor:
        for whole, new in zip(cache, block.self_look.remember(states, places), strict=True):
            # (sentence, head, place, row, depth): the new keys of all rows are adjacent.
            by_place = whole.unflatten(2, (-1, states.shape[1]))
            by_place.index_copy_(2, reserved.place[:1], new.unsqueeze(2))
        return block.self_look.look_with(states, cache, bias, places)

    states = block.around_self(states, look_back)
    states = block.around_cross(states, lambda s: block.cross.look_with(s, memory, reserved.source, places))
    return block.around_feed_forward(states, block.feed_forward)


def own_past(writers: Int[Tensor, "sentence copy length"], dtype: torch.dtype) -> Float[Tensor, "sentence 1 copy key"]:
    """Return the bias on a sentence's keys (place · row): -inf except where a row's own past was written."""
    rows = torch.arange(writers.shape[1], device=writers.device)
    allowed = (writers[..., None] == rows).flatten(2)[:, None]
    return torch.zeros(allowed.shape, dtype=dtype, device=writers.device).masked_fill(~allowed, NOWHERE)


def _add_place(
    places: nn.Module, embedded: Float[Tensor, "sentence copy width"], place: Int[Tensor, "1"], length: int
) -> Float[Tensor, "sentence copy width"]:
    """Add the position of one place, which is counted on the device."""
    match places:
        case Sinusoidal():
            table = _table(length, embedded.shape[-1], embedded.dtype, embedded.device)
            return embedded + table.index_select(0, place)
        case Learned():
            return embedded + places.places.weight.index_select(0, place)
    return embedded


@cache
@torch.inference_mode(False)
def _table(length: int, width: int, dtype: torch.dtype, device: torch.device) -> Float[Tensor, "length width"]:
    """Return the sinusoids of all places: a table for each of a few lengths, for lookups in a captured step."""
    return sinusoids(torch.arange(length, device=device), width).to(dtype)


@cache
@torch.inference_mode(False)
def slopes_on(heads: int, device: torch.device) -> Float[Tensor, "head 1 1"]:
    """Return ALiBi's slopes on the device, since a captured step cannot copy from the host."""
    return alibi_slopes(heads).to(device)[:, None, None]


def room_like(like: Float[Tensor, "sentence head key depth"], keys: int) -> Float[Tensor, "sentence head keys depth"]:
    """Return room for `keys` keys or values, as zeros: entries ruled out by -inf still count 0 · value, never NaN."""
    sentences, heads, _, depth = like.shape
    return like.new_zeros(sentences, heads, keys, depth)
