"""Controllers of a machine: an LSTM or a feed-forward layer that reads the input and the last memory read."""

from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn

from regard.attention.editing import edited_units, is_edited, place_of_step
from regard.models.machines.stacked import StackedLinear

ControllerKind = Literal["lstm", "feed-forward"]
Given = Float[Tensor, "member row step input"]
Prepared = Float[Tensor, "member row step sum"]
Remembered = list[Float[Tensor, "member row width"]]


class LstmLayer(StackedLinear):
    """The recurrent map of an LSTM layer, whose state can be edited: the units of h, then those of c."""

    edits = ("state",)

    def edited(
        self, hidden: Float[Tensor, "member row width"], cell: Float[Tensor, "member row width"]
    ) -> tuple[Tensor, Tensor]:
        """Return h and c after a step as edited, in all members alike."""
        if not is_edited(self, "state"):
            return hidden, cell
        step, states = place_of_step(self, "state"), torch.cat([hidden, cell], dim=-1)
        members = [edited_units(self, "state", member[:, None], step)[:, 0] for member in states]
        hidden, cell = torch.stack(members).chunk(2, dim=-1)
        return hidden, cell


class LstmController(nn.Module):
    """Layers of LSTM (Hochreiter and Schmidhuber 1997, with the forget gate of Gers et al. 2000):

        i, f, o, u = W [x, r, h] + b,  c ← σ(f) c + σ(i) tanh(u),  h ← σ(o) tanh(c)

    The first layer gets the input x and the last read r, each further layer the h of the layer below.
    """

    def __init__(self, members: int, inputs: int, reads: int, width: int, layers: int = 1) -> None:
        super().__init__()
        self.width, self.layers = width, layers
        below = [reads, *[width] * (layers - 1)]
        self.given = StackedLinear(members, inputs, 4 * width)
        self.recurrent = nn.ModuleList(
            LstmLayer(members, depth + width, 4 * width, bias=layer > 0) for layer, depth in enumerate(below)
        )

    def prepare(self, inputs: Given) -> Prepared:
        """Return the contribution of all steps' inputs to the first layer, in one multiplication."""
        return self.given(inputs.flatten(1, 2)).unflatten(1, inputs.shape[1:3])

    def start(self, inputs: Given) -> Remembered:
        """Return the initial h and c of each layer, all zeros."""
        return [inputs.new_zeros(*inputs.shape[:2], self.width) for _ in range(2 * self.layers)]

    def forward(
        self,
        prepared: Float[Tensor, "member row sum"],
        reads: Float[Tensor, "member row read"] | None,
        state: Remembered,
    ) -> tuple[Float[Tensor, "member row width"], Remembered]:
        """Return the output of one step, and the new state."""
        below, states = reads, list[Tensor]()
        for layer, recurrent in enumerate(self.recurrent):
            assert isinstance(recurrent, LstmLayer)
            hidden, cell = state[2 * layer : 2 * layer + 2]
            inputs = hidden if below is None else torch.cat([below, hidden], dim=-1)
            sums = recurrent(inputs) if layer else recurrent.added_to(prepared, inputs)
            gates, update = sums[..., : 3 * self.width].sigmoid(), sums[..., 3 * self.width :].tanh()
            enter, keep, leave = gates.chunk(3, dim=-1)
            cell = torch.addcmul(keep * cell, enter, update)
            below, cell = recurrent.edited(leave * cell.tanh(), cell)
            states += [below, cell]
        return states[-2], states


class FeedForwardController(nn.Module):
    """h = tanh(W [x, r] + b): it remembers nothing, so everything that lasts is in the memory."""

    def __init__(self, members: int, inputs: int, reads: int, width: int) -> None:
        super().__init__()
        self.width = width
        self.given = StackedLinear(members, inputs, width)
        self.recurrent = StackedLinear(members, reads, width, bias=False)

    def prepare(self, inputs: Given) -> Prepared:
        return self.given(inputs.flatten(1, 2)).unflatten(1, inputs.shape[1:3])

    def start(self, inputs: Given) -> Remembered:
        return []

    def forward(
        self,
        prepared: Float[Tensor, "member row width"],
        reads: Float[Tensor, "member row read"],
        state: Remembered,
    ) -> tuple[Float[Tensor, "member row width"], Remembered]:
        return self.recurrent.added_to(prepared, reads).tanh(), state


Controller = LstmController | FeedForwardController


def build_controller(kind: ControllerKind, members: int, inputs: int, reads: int, width: int) -> Controller:
    """Build the controller of a machine that reads `reads` numbers of its memory at each step."""
    if kind == "lstm":
        return LstmController(members, inputs, reads, width)
    return FeedForwardController(members, inputs, reads, width)
