"""Recurrent layers over a long sequence: any cell, clockwork, or connections from older states.

h_t = layers(x_t, h_{t−1}, …),   y_t = V h_t + c

All cells are one family, so that a recipe can compare them by `model.cell` alone.
"""

from itertools import pairwise
from typing import Literal, get_args

import torch
from jaxtyping import Float
from pydantic import Field, model_validator
from torch import Tensor, nn

from regard.base.recipe import Options
from regard.models.bounds import LONGEST, MOST_LAYERS, WIDEST
from regard.models.cell_names import CellName
from regard.models.recurrent.layers import GATES, Stack
from regard.models.recurrent.older_states import Clockwork, Delays, LinkedLayer
from regard.models.sequences.shape import Sequences, SequenceShape

_CELLS_OF = {  # cells that an option belongs to
    "periods": ("clockwork",),
    "delays": ("delays",),
    "orthogonal": get_args(CellName),
    "remembers": ("lstm", "gru", "gru-reset-first"),
}


class RecurrentOptions(Options):
    """Options of recurrent layers over long sequences."""

    cell: Literal[CellName, "clockwork", "delays"] = Field(
        "lstm", description="Recurrent cell of all layers; delays is vanilla with connections from older states."
    )
    width: int = Field(128, ge=1, le=WIDEST, description="Width of the states.")
    layers: int = Field(1, ge=1, le=MOST_LAYERS, description="Number of layers.")
    periods: list[int] = Field(
        [1, 2, 4, 8, 16, 32, 64, 128],
        min_length=1,
        max_length=64,
        description="Clockwork: periods of the modules, which share the width; each a multiple of the one before.",
    )
    delays: list[int] = Field(
        [1, 2, 4, 8, 16, 32],
        min_length=1,
        max_length=64,
        description="Delays: how many steps back a step reads states, in ascending order starting with 1.",
    )
    orthogonal: bool = Field(
        True,
        description="All other cells: start with orthogonal state-to-state matrices and an open forget gate; otherwise "
        "with torch's defaults.",
    )
    remembers: int = Field(
        0,
        ge=0,
        le=LONGEST,
        description="LSTM and GRU: start with gates that forget within 2 to this many steps, as long as the longest "
        "dependence (chrono initialisation); 0: with gates alike.",
    )

    @property
    def idle(self) -> tuple[str, ...]:
        return tuple(name for name, cells in _CELLS_OF.items() if self.cell not in cells)

    @model_validator(mode="after")
    def _check_effect(self) -> "RecurrentOptions":
        """Refuse options that would do nothing: two variants that differ in one would be the same."""
        for name in self.idle:
            if getattr(self, name) != type(self).model_fields[name].default:
                raise ValueError(f"{name} is for cell = '{', '.join(_CELLS_OF[name])}', but cell is '{self.cell}'")
        return self

    @model_validator(mode="after")
    def _check_periods(self) -> "RecurrentOptions":
        steps = [1, *self.periods]
        if any(not 1 <= after <= LONGEST or after % before for before, after in pairwise(steps)):
            raise ValueError(f"periods are {self.periods}, expected each to be a multiple of the one before it")
        if self.cell == "clockwork" and self.width % len(self.periods):
            raise ValueError(f"width {self.width} cannot be shared out among {len(self.periods)} modules")
        return self

    @model_validator(mode="after")
    def _check_delays(self) -> "RecurrentOptions":
        ascending = all(before < after <= LONGEST for before, after in pairwise(self.delays))
        if self.delays[0] != 1 or not ascending:
            raise ValueError(f"delays are {self.delays}, expected 1 and then larger ones in ascending order")
        return self


class RecurrentSequence(nn.Module):
    """Network from numbers to numbers, at every step or from the state after the last."""

    def __init__(self, options: RecurrentOptions, shape: SequenceShape) -> None:
        super().__init__()
        self.options, self.shape = options, shape
        self.stack = _stack(options, shape.depth)
        self.out = nn.Linear(options.width, shape.outputs)

    def states(self, inputs: Sequences) -> Float[Tensor, "batch time width"]:
        """Return the states of the last layer at all steps."""
        return self.stack(inputs)[0] if isinstance(self.stack, Stack) else self.stack(inputs)

    def forward(self, inputs: Sequences) -> Float[Tensor, "batch *step output"]:
        states = self.states(inputs)
        return self.out(states if self.shape.at_each_step else states[:, -1])

    def multiplications(self, length: int) -> int:
        """Return the multiplications for a sequence of this length; clockwork modules rest most of the time."""
        outputs = self.out.weight.numel() * (length if self.shape.at_each_step else 1)
        if not isinstance(self.stack, Stack):
            layers = (layer for layer in self.stack if isinstance(layer, LinkedLayer))
            return outputs + sum(layer.multiplications(length) for layer in layers)
        befores = [self.shape.depth, *[self.options.width] * (self.options.layers - 1)]
        inside = sum(self.options.width * (before + self.options.width) for before in befores)
        return outputs + length * GATES[self.options.cell] * inside


def _stack(options: RecurrentOptions, depth: int) -> Stack | nn.Sequential:
    befores = [depth, *[options.width] * (options.layers - 1)]
    match options.cell:
        case "clockwork":
            return nn.Sequential(*(Clockwork(before, options.width, options.periods) for before in befores))
        case "delays":
            return nn.Sequential(*(Delays(before, options.width, options.delays) for before in befores))
    stack = Stack(options.cell, depth, options.width, options.layers, orthogonal=options.orthogonal)
    if options.remembers:
        for layer in stack.layers:
            _spread_gates(layer, options.cell, options.remembers)
    return stack


@torch.no_grad()
def _spread_gates(layer: nn.Module, cell: str, longest: int) -> None:
    """Chrono initialisation (Tallec and Ollivier 2018, section 2): units forget at different speeds, within u steps.

    b_f = log u and b_i = −b_f in an LSTM with u ~ U(1, T − 1), and the same for the part that a GRU keeps.
    """
    bias = dict(layer.named_parameters())["bias_ih_l0"]
    dict(layer.named_parameters())["bias_hh_l0"].zero_()
    parts = bias.zero_().chunk(GATES[cell])
    spread = torch.empty_like(parts[1]).uniform_(1, max(2, longest - 1)).log()
    match cell:
        case "lstm":  # torch's order: input, forget, cell, output
            parts[1].copy_(spread)
            parts[0].copy_(-spread)
        case "gru":  # reset, update (the part that is kept), candidate
            parts[1].copy_(spread)
        case "gru-reset-first":  # its second gate is the part that is renewed
            parts[1].copy_(-spread)
