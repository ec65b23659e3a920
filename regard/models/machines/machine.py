"""Base of all machines with a memory: a controller, heads that address the memory, and a loop over the steps."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Generic, TypeVar

import torch
import torch.nn.functional as F
from jaxtyping import Float
from pydantic import Field
from torch import Tensor, nn

from regard.attention.editing import edited_weights, is_edited, place_of_step, standing
from regard.attention.watch import is_watched, note
from regard.base.recipe import Options
from regard.models.machines.addressing import Addresses
from regard.models.machines.controllers import ControllerKind, Given, build_controller
from regard.models.machines.stacked import StackedLinear
from regard.models.parts import draw_members

State = TypeVar("State")
OUTPUTS = "inside this model an output has the axes member, row and unit"


class MachineOptions(Options):
    """Options that machines with a memory share."""

    slots: int = Field(128, ge=2, le=2**20, description="Slots of the memory.")
    depth: int = Field(20, ge=1, le=4096, description="Numbers per slot.")
    read_heads: int = Field(1, ge=1, le=64, description="Number of read heads.")
    width: int = Field(100, ge=1, le=2**14, description="Width of the controller.")

    @property
    def adjustable(self) -> frozenset[str]:
        """Options that may change while the weights stay."""
        return frozenset({"slots"})


class Heads(StackedLinear):
    """Map from the controller to the parameters of the heads: keys, gates, vectors to write."""

    looks_from, looks_at = "steps", "slots"
    edits = ("weights",)


class Machine(nn.Module, ABC, Generic[State]):
    """A controller that gets x_t and the last read, controls the heads, and gives the output:

        h_t = controller(x_t, r_{t−1}),  r_t = read by heads with parameters W_h h_t + b_h,  y_t = W_y [h_t, r_t] + b_y

    Several members, each with its own weights and memory, may be trained side by side. Tensors of the memory hold the
    members' rows one after another. Nothing that is learnt depends on the number of slots. An edit holds for all
    members.
    """

    outputs_lack_places = OUTPUTS

    def __init__(
        self,
        options: MachineOptions,
        kind: ControllerKind,
        sizes: tuple[int, int],  # of an input and of an output
        parameters: int,  # of all heads
        seeds: Sequence[int],
    ) -> None:
        super().__init__()
        members, (inputs, outputs) = len(seeds), sizes
        reads = options.read_heads * options.depth
        self.controller = build_controller(kind, members, inputs, reads, options.width)
        self.heads = Heads(members, options.width, parameters)
        self.output = StackedLinear(members, options.width + reads, outputs)
        draw_stacked(self, seeds)
        self.slots = options.slots

    @abstractmethod
    def start(self, rows: int, slots: int, like: Tensor) -> State:
        """Return a memory of `slots` slots before the first step, with the dtype and device of `like`."""

    @abstractmethod
    def access(
        self, parameters: Float[Tensor, "row parameter"], state: State
    ) -> tuple[Float[Tensor, "row head depth"], State]:
        """Return what the heads read in one step, and the memory after it."""

    @abstractmethod
    def addresses(self, state: State) -> Addresses:
        """Return the last addresses of the read heads, then of the write heads."""

    @property
    @abstractmethod
    def head_names(self) -> list[str]:
        """Names of the heads."""

    @abstractmethod
    def memory_multiplications(self) -> int:
        """Return the multiplications in and around the memory for one step of one row."""

    def multiplications(self) -> int:
        """Return the multiplications of one step of one row."""
        return count_weights(self) + self.memory_multiplications()

    @property
    def dtype(self) -> torch.dtype:
        return self.output.weight.dtype

    def forward(self, inputs: Given, slots: int | None = None) -> Float[Tensor, "member row step output"]:
        """Return the logits of every step; `slots` may set another memory size."""
        members, rows = inputs.shape[:2]
        prepared = self.controller.prepare(inputs)
        remembered = self.controller.start(inputs)
        state = self.start(members * rows, slots or self.slots, inputs)
        reads = inputs.new_zeros(members, rows, self.output.weight.shape[1] - self.controller.width)
        thoughts, looks, watched = [], [], is_watched(self.heads)
        for number, step in enumerate(prepared.unbind(2)):
            with standing(number):
                hidden, remembered = self.controller(step, reads, remembered)
                read, state = self.access(self.heads(hidden).flatten(0, 1), state)
            reads = read.flatten(1).unflatten(0, (members, rows))
            thoughts.append(torch.cat([hidden, reads], dim=-1))
            if watched:
                looks.append(self.addresses(state)[:rows].detach())  # the first member stands for all
        if watched:
            note(self.heads, self.heads.looks_from, self.heads.looks_at, torch.stack(looks, dim=2))
        return self.output(torch.stack(thoughts, dim=2).flatten(1, 2)).unflatten(1, inputs.shape[1:3])

    def edited(self, addresses: Addresses, first_head: int = 0) -> Addresses:
        """Return the addresses of some heads as edited; `first_head` is the number of the first of them."""
        if not is_edited(self.heads, "weights"):
            return addresses
        step = place_of_step(self.heads, "weights")
        others = first_head, len(self.head_names) - first_head - addresses.shape[1]
        all_heads = F.pad(addresses, (0, 0, *others)).unflatten(0, (len(self.output.weight), -1))
        edited = torch.cat([edited_weights(self.heads, member.unsqueeze(2), None, step) for member in all_heads])
        return edited[:, first_head : first_head + addresses.shape[1], 0]


def draw_stacked(network: nn.Module, seeds: Sequence[int]) -> None:
    """Initialise every affine map of every member."""
    draw_members(seeds, *(part.draw for part in network.modules() if isinstance(part, StackedLinear)))


def name_heads(**counts: int) -> list[str]:
    """Name heads by what they do, with a number where several do the same."""
    return [f"{name} {number + 1}" if count > 1 else name for name, count in counts.items() for number in range(count)]


def count_weights(network: nn.Module) -> int:
    """Return the number of weights that one member multiplies by in each step."""
    return sum(part.weight[0].numel() for part in network.modules() if isinstance(part, StackedLinear))
