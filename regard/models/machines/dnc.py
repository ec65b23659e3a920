"""The differentiable neural computer (Graves et al. 2016): writes to free slots and reads in the order of writing."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from jaxtyping import Float
from pydantic import Field
from torch import Tensor

from regard.models.machines.addressing import (
    Addresses,
    Links,
    Memory,
    allocate,
    by_content,
    erase_and_add,
    link,
    one_plus,
    use,
)
from regard.models.machines.controllers import ControllerKind
from regard.models.machines.machine import Machine, MachineOptions, name_heads

MODES = 3  # ways to read: what was written before the last read slot, by content, what was written after it


class DNCOptions(MachineOptions):
    """Options of a differentiable neural computer."""

    controller: ControllerKind = Field("lstm", description="Controller: 'lstm' or 'feed-forward'.")


class DNCState(NamedTuple):
    """The memory, the usage of each slot, the order of writing, and the last addresses of the heads."""

    memory: Memory
    usage: Float[Tensor, "row slot"]
    precedence: Float[Tensor, "row slot"]
    links: Links
    wrote: Float[Tensor, "row 1 slot"]
    read: Addresses


class DNC(Machine[DNCState]):
    """One head writes, by content or to free slots; then heads read, by content or in the order of writing.

    The memory is written before it is read. It starts with zeros, and no initial state is learnt.
    """

    def __init__(self, options: DNCOptions, inputs: int, outputs: int, seeds: Sequence[int] = (0,)) -> None:
        heads, depth = options.read_heads, options.depth
        # keys and strengths of reading, then of writing, erase, add, free gates, allocation and write gate, modes
        parts = [heads * depth, heads, depth, 1, depth, depth, heads, 1, 1, heads * MODES]
        super().__init__(options, options.controller, (inputs, outputs), sum(parts), seeds)
        self.options, self._parts = options, parts

    def start(self, rows: int, slots: int, like: Tensor) -> DNCState:
        return DNCState(
            like.new_zeros(rows, slots, self.options.depth),
            like.new_zeros(rows, slots),
            like.new_zeros(rows, slots),
            like.new_zeros(rows, slots, slots),
            like.new_zeros(rows, 1, slots),
            like.new_zeros(rows, self.options.read_heads, slots),
        )

    def access(
        self, parameters: Float[Tensor, "row parameter"], state: DNCState
    ) -> tuple[Float[Tensor, "row head depth"], DNCState]:
        keys, strengths, key, strength, erase, add, free, allocating, writing, modes = parameters.split(
            self._parts, dim=-1
        )
        usage = use(state.usage, state.wrote.squeeze(1), state.read, free.sigmoid())
        content_address = by_content(key.unsqueeze(1), one_plus(strength), state.memory).squeeze(1)
        share = allocating.sigmoid()
        wrote = writing.sigmoid() * (share * allocate(usage) + (1 - share) * content_address)
        wrote = self.edited(wrote.unsqueeze(1), self.options.read_heads).squeeze(1)
        memory = erase_and_add(state.memory, wrote.unsqueeze(1), erase.sigmoid().unsqueeze(1), add.unsqueeze(1))
        links, precedence = link(state.links, state.precedence, wrote)
        backward, forward = state.read @ links, state.read @ links.transpose(1, 2)
        content = by_content(keys.unflatten(1, (-1, self.options.depth)), one_plus(strengths), memory)
        before, same, after = modes.unflatten(1, (-1, MODES)).softmax(dim=-1).unsqueeze(-2).unbind(-1)
        read = self.edited(before * backward + same * content + after * forward)
        return read @ memory, DNCState(memory, usage, precedence, links, wrote.unsqueeze(1), read)

    def addresses(self, state: DNCState) -> Addresses:
        return torch.cat([state.read, state.wrote], dim=1)

    @property
    def head_names(self) -> list[str]:
        return name_heads(read=self.options.read_heads, write=1)

    def memory_multiplications(self) -> int:
        """Return the cost of an NTM plus three products per pair of slots and two more for each head."""
        slots, depth, heads = self.options.slots, self.options.depth, self.options.read_heads
        return slots * ((2 * heads + 6) * depth + (3 + 2 * heads) * slots)
