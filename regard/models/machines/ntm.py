"""The neural Turing machine (Graves et al. 2014): heads that find slots by content, and move from slot to slot."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

import torch.nn.functional as F
from jaxtyping import Float
from pydantic import Field, model_validator
from torch import Tensor

from regard.models.machines.addressing import (
    Addresses,
    Memory,
    bound_gradient,
    by_content,
    erase_and_add,
    interpolate,
    move,
    one_plus,
    sharpen,
    shift,
)
from regard.models.machines.controllers import ControllerKind
from regard.models.machines.machine import Machine, MachineOptions, name_heads

EMPTY = 1e-6  # initial value of every number in the memory (Collier and Beel 2018, section 3.1)


class NTMOptions(MachineOptions):
    """Options of a neural Turing machine; the sizes are those of Graves et al. 2014 for copying."""

    write_heads: int = Field(1, ge=1, le=64, description="Number of write heads.")
    controller: ControllerKind = Field("lstm", description="Controller: 'lstm' or 'feed-forward'.")
    reach: int = Field(1, ge=1, le=512, description="Slots that a head may move in one step, either way.")
    moves: Literal["probabilities", "number"] = Field(
        "probabilities",
        description="How a head moves: each move has its probability, or one number from -reach to reach is the move, "
        "and a fraction is shared by two slots. So moves can grow with a number in the input, as sorting needs.",
    )
    move_gradient: float = Field(
        0.0,
        ge=0,
        description="With moves = number: the largest gradient of a move in training, in nats of a sequence per slot; "
        "larger ones are cut. 0: none is cut.",
    )

    @property
    def adjustable(self) -> frozenset[str]:
        return super().adjustable | ({"reach"} if self.moves == "number" else set())

    @model_validator(mode="after")
    def _check_reach(self) -> "NTMOptions":
        if 2 * self.reach >= self.slots:
            raise ValueError(f"reach = {self.reach} would go around a memory of {self.slots} slots")
        return self


class NTMState(NamedTuple):
    """The memory, and the last address of each head: first read heads, then write heads."""

    memory: Memory
    addresses: Addresses


class NTM(Machine[NTMState]):
    """All heads address and read the memory from before the step; then the write heads change it.

    The memory starts constant and small, which Collier and Beel 2018 found to learn fastest and most reliably. Unlike
    theirs, every head starts at the first slot, and no initial state is learnt.
    """

    def __init__(self, options: NTMOptions, inputs: int, outputs: int, seeds: Sequence[int] = (0,)) -> None:
        heads, depth, writers = options.read_heads + options.write_heads, options.depth, options.write_heads
        moves = 1 if options.moves == "number" else 2 * options.reach + 1
        parts = [heads * depth, heads, heads, heads * moves, heads, *[writers * depth] * 2]
        super().__init__(options, options.controller, (inputs, outputs), sum(parts), seeds)
        self.options, self._parts = options, parts

    def start(self, rows: int, slots: int, like: Tensor) -> NTMState:
        memory = like.new_full((rows, slots, self.options.depth), EMPTY)
        addresses = like.new_zeros(rows, self.options.read_heads + self.options.write_heads, slots)
        addresses[..., 0] = 1.0
        return NTMState(memory, addresses)

    def access(
        self, parameters: Float[Tensor, "row parameter"], state: NTMState
    ) -> tuple[Float[Tensor, "row head depth"], NTMState]:
        depth, readers = self.options.depth, self.options.read_heads
        keys, strengths, gates, moves, powers, erase, add = parameters.split(self._parts, dim=-1)
        content = by_content(keys.tanh().unflatten(1, (-1, depth)), F.softplus(strengths), state.memory)
        moved = self._move(interpolate(gates.sigmoid(), content, state.addresses), moves)
        addresses = self.edited(sharpen(moved, one_plus(powers)))
        read = addresses[:, :readers] @ state.memory
        erased, added = erase.sigmoid().unflatten(1, (-1, depth)), add.tanh().unflatten(1, (-1, depth))
        return read, NTMState(erase_and_add(state.memory, addresses[:, readers:], erased, added), addresses)

    def _move(self, addresses: Addresses, moves: Float[Tensor, "row move"]) -> Addresses:
        reach, bound = self.options.reach, self.options.move_gradient
        if self.options.moves == "number":
            slots = reach * moves.tanh()
            return move(addresses, bound_gradient(slots, bound) if self.training and bound else slots)
        return shift(addresses, moves.unflatten(1, (-1, 2 * reach + 1)).softmax(dim=-1))

    def addresses(self, state: NTMState) -> Addresses:
        return state.addresses

    @property
    def head_names(self) -> list[str]:
        return name_heads(read=self.options.read_heads, write=self.options.write_heads)

    def memory_multiplications(self) -> int:
        """Return the cost of cosines per head, one sum per read head, two products per write head, and addressing."""
        options = self.options
        heads = options.read_heads + options.write_heads
        whole = heads + 1 + options.read_heads + 3 * options.write_heads
        moves = 2 if options.moves == "number" else 2 * options.reach + 1
        return options.slots * (whole * options.depth + heads * (moves + 4))
