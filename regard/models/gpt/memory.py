"""Memory of a decoder-only Transformer: keys and values of all blocks, and their tokens.

Rows that have read fewer tokens stand flush right, padded with zeros on the left, and `lengths` holds the real places
of each; without it all places are real. So a new place is behind the others in every row.
"""

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor

from regard.attention.heads import Cache
from regard.models.language import Memory

TOKENS, LENGTHS = "tokens", "lengths"


def begin(empty: Float[Tensor, "row head 0 depth"], layers: int) -> Memory:
    """Return the memory before any token; `empty` holds keys and values of no places."""
    tokens = torch.zeros(len(empty), 0, dtype=torch.long, device=empty.device)
    return {TOKENS: tokens} | {name: empty for number in range(layers) for name in _names(number)}


def columns(memory: Memory) -> int:
    """Return the places of the longest row."""
    return memory[TOKENS].shape[1]


def rows(memory: Memory) -> int:
    return len(memory[TOKENS])


def cache_of(memory: Memory, number: int) -> Cache:
    """Return the keys and values of one block."""
    return Cache(*(memory[name] for name in _names(number)))


def extend(memory: Memory, caches: Sequence[Cache], tokens: Int[Tensor, "row time"]) -> Memory:
    """Return the memory after more tokens, with the grown caches of the blocks."""
    grown = {TOKENS: torch.cat([memory[TOKENS], tokens], dim=1)}
    for number, cache in enumerate(caches):
        grown |= dict(zip(_names(number), cache, strict=True))
    return grown | ({LENGTHS: memory[LENGTHS] + tokens.shape[1]} if LENGTHS in memory else {})


def cut(memory: Memory, count: int) -> Memory:
    """Return the memory without the last `count` tokens that every row has read; `count` is not 0."""
    shorter = {name: tensor if name == LENGTHS else _without_last(tensor, count) for name, tensor in memory.items()}
    return shorter | ({LENGTHS: memory[LENGTHS] - count} if LENGTHS in memory else {})


def _without_last(tensor: Tensor, count: int) -> Tensor:
    return tensor[:, :-count] if tensor.dim() == 2 else tensor[:, :, :-count]


def select(memory: Memory, chosen: Int[Tensor, " chosen"]) -> Memory:
    """Select rows, in this order."""
    return {name: tensor.index_select(0, chosen) for name, tensor in memory.items()}


def join(memories: Sequence[Memory]) -> Memory:
    """Join the rows of several memories, padded on the left to the longest."""
    lengths = torch.cat([lengths_of(memory) for memory in memories])
    widest = int(lengths.max())
    joined = {
        name: torch.cat([_flush_right(memory[name], widest) for memory in memories])
        for name in memories[0]
        if name != LENGTHS
    }
    return joined if bool((lengths == widest).all()) else joined | {LENGTHS: lengths}


def lengths_of(memory: Memory) -> Int[Tensor, " row"]:
    """Return the number of real places in each row."""
    tokens = memory[TOKENS]
    return memory[LENGTHS] if LENGTHS in memory else torch.full((len(tokens),), tokens.shape[1], device=tokens.device)


def _flush_right(tensor: Tensor, wide: int) -> Tensor:
    """Pad or cut a tensor on the left to `wide` places, which are its last axis except depth."""
    is_tokens = tensor.dim() == 2
    missing = wide - tensor.shape[1 if is_tokens else 2]
    return F.pad(tensor, (missing, 0) if is_tokens else (0, 0, missing, 0))


def _names(number: int) -> tuple[str, str]:
    return f"layer{number + 1}.keys", f"layer{number + 1}.values"
