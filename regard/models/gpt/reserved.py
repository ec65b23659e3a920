"""A decoder-only Transformer that writes into caches of a fixed length, so that all its steps have the same shape.

As in `regard.models.transformer.reserved`, rows of one prompt share a cache that steps write into in place, a table
says which row wrote which row's past, and -inf rules out what belongs to other rows. The prompt's keys and values stand
before everything written, flush right; the first step reads its last token.
"""

from typing import NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor

from regard.attention.heads import Cache
from regard.models.gpt import memory as remembered
from regard.models.gpt.network import GPT, Block
from regard.models.language import Memory
from regard.models.transformer.reserved import NOBODY, NOWHERE, Writers, own_past, room_like, slopes_on

SHORT = 64  # prompts up to this length are padded to a multiple of 16, longer ones to a multiple of 64


class Reserved(NamedTuple):
    """Reserved memory of prompts: the caches of their rows, their lengths, and how far they are written."""

    caches: list[Cache]  # of each block, keys and values (prompt, head, prompt's places, then place · row, depth)
    barred: Float[Tensor, "prompt 1 1 place"]  # added to the scores of the prompt's places: -inf for padding
    lengths: Int[Tensor, " prompt"]  # real places of the prompt
    last: Int[Tensor, " prompt"]  # the prompt's last token, which the first step reads
    place: Int[Tensor, " prompt"]  # number of tokens written, the same for all


def started(network: GPT, memory: Memory, last: Int[Tensor, " prompt"]) -> Reserved:
    """Return the memory of the prompts with no room reserved yet; prompts are padded to one of a few lengths."""
    columns, rows = remembered.columns(memory), remembered.rows(memory)
    missing = -columns % (16 if columns <= SHORT else 64) if columns else 16
    lengths = remembered.lengths_of(memory)
    places = torch.arange(columns + missing, device=last.device)
    barred = torch.zeros(rows, columns + missing, dtype=network.embedding.weight.dtype, device=last.device)
    barred = barred.masked_fill(places < (columns + missing - lengths)[:, None], NOWHERE)
    caches = [remembered.cache_of(memory, number) for number in range(network.options.layers)]
    caches = [Cache(*(F.pad(tensor, (0, 0, missing, 0)) for tensor in cache)) for cache in caches]
    return Reserved(caches, barred[:, None, None], lengths, last, torch.zeros_like(lengths))


def reserve(reserved: Reserved, copies: int, length: int) -> tuple[Reserved, Writers]:
    """Reserve room for `length` tokens in each of `copies` rows per prompt."""
    writers = torch.full((len(reserved.place) * copies, length), NOBODY, device=reserved.place.device)
    return _with_room(reserved, copies * length), writers


def extend(reserved: Reserved, writers: Writers, length: int) -> tuple[Reserved, Int[Tensor, "row longer"]]:
    """Extend the room to `length` tokens in total."""
    copies, more = len(writers) // len(reserved.place), length - writers.shape[1]
    return _with_room(reserved, copies * more), F.pad(writers, (0, more), value=NOBODY)


def _with_room(reserved: Reserved, keys: int) -> Reserved:
    caches = [Cache(*(torch.cat([tensor, room_like(tensor, keys)], dim=2) for tensor in c)) for c in reserved.caches]
    return reserved._replace(caches=caches)


def write(
    network: GPT, tokens: Int[Tensor, " row"], reserved: Reserved, writers: Writers
) -> tuple[Float[Tensor, "row width"], Reserved, Writers]:
    """Return the states of one more token in each row; the caches are written in place and returned."""
    prompts, length = len(reserved.place), writers.shape[1]
    copies, place = len(tokens) // prompts, reserved.place[:1]
    tokens = torch.where(place == 0, reserved.last.repeat_interleave(copies), tokens).view(prompts, copies)
    writers = writers.index_copy(1, place, torch.arange(copies, device=tokens.device).repeat(prompts)[:, None])
    # Finished rows may move past the last place, where nobody looks at them.
    places = (reserved.lengths[:, None] + place).clamp(max=network.context - 1).expand(prompts, copies)
    states = network.places(network.embedding(tokens), places)
    before = reserved.barred.expand(-1, -1, copies, -1)
    bias = torch.cat([before, own_past(writers.view(prompts, copies, length), states.dtype)], dim=-1)
    if network.options.positions == "alibi":
        bias = bias - _penalties(network, reserved, copies, length).to(bias.dtype)
    for block, cache in zip(network.blocks, reserved.caches, strict=True):
        assert isinstance(block, Block)
        states = _through(block, states, cache, bias, places, reserved)
    return network.norm(states).flatten(0, 1), reserved._replace(place=reserved.place + 1), writers


def _through(
    block: Block,
    states: Float[Tensor, "prompt copy width"],
    cache: Cache,
    bias: Float[Tensor, "prompt head copy key"],
    places: Int[Tensor, "prompt copy"],
    reserved: Reserved,
) -> Float[Tensor, "prompt copy width"]:
    first = reserved.barred.shape[-1]

    def look(states: Tensor) -> Tensor:
        for whole, new in zip(cache, block.look_back.remember(states, places), strict=True):
            # (prompt, head, place, row, depth): the new keys of all rows are adjacent.
            by_place = whole[:, :, first:].unflatten(2, (-1, states.shape[1]))
            by_place.index_copy_(2, reserved.place[:1], new.unsqueeze(2))
        return block.look_back.look_with(states, cache, bias, places)

    states = block.around_look(states, look)
    return block.around_feed_forward(states, block.feed_forward)


def _penalties(network: GPT, reserved: Reserved, copies: int, length: int) -> Float[Tensor, "1 head 1 key"]:
    """Return ALiBi's penalties, by each key's distance from the token read; prompts end just before place 0."""
    device, before = reserved.place.device, reserved.barred.shape[-1]
    written = torch.arange(length, device=device).repeat_interleave(copies)
    keys = torch.cat([torch.arange(-before, 0, device=device), written])
    distance = (reserved.place[:1] - keys).abs()
    return (slopes_on(network.options.heads, device) * distance)[None]
