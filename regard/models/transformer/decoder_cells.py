"""Recurrent cells that replace the decoder's self-attention: an SSRU, or a GRU.

Each is called as cell(states, state, first) with the state before the place `first`, None for the beginning, and
returns its outputs and the state after the last place. The state has one vector a row, however long the output is.
"""

from typing import Literal, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, nn

from regard.attention.editing import edited_units, is_edited

Inputs = Float[Tensor, "row time width"]
CellState = Float[Tensor, "row width"]


class CellPast(NamedTuple):
    """The memory of a recurrent cell of the places before."""

    state: CellState
    places: Float[Tensor, "row place 0"]  # without numbers: it counts places without asking the device for a number

    @classmethod
    def after(cls, state: CellState, count: int) -> "CellPast":
        """Return the past after `count` places."""
        return cls(state, state.new_empty(len(state), count, 0))

    @property
    def length(self) -> int:
        """Number of places before."""
        return self.places.shape[1]


class SSRU(nn.Module):
    """The simpler simple recurrent unit (Kim et al. 2019, "From Research to Production and Back", section 3).

    f_t = σ(W_f x_t + b_f),  c_t = f_t ⊙ c_{t−1} + (1 − f_t) ⊙ W x_t,  o_t = ReLU(c_t), with c_0 = 0.
    """

    edits = ("state",)  # parts that `editing` can change

    def __init__(self, width: int) -> None:
        super().__init__()
        self.to_gate_and_input = nn.Linear(width, 2 * width, bias=False)  # W_f above W: one product
        self.gate_bias = nn.Parameter(torch.zeros(width))
        for part in self.to_gate_and_input.weight.chunk(2):
            nn.init.xavier_uniform_(part)

    def forward(self, states: Inputs, state: CellState | None, first: int) -> tuple[Inputs, CellState]:
        projected = self.to_gate_and_input(states)
        # A long product of gates would lose too much in bf16.
        exact = projected.to(torch.promote_types(projected.dtype, torch.float32))
        gates, inputs = exact.chunk(2, dim=-1)
        gates = torch.sigmoid(gates + self.gate_bias)
        if state is None:
            state = inputs.new_zeros(len(inputs), inputs.shape[-1])
        added = (1 - gates) * inputs
        from regard.models.recurrent.scanning import linear_scan  # decoders with self-attention do without it

        if is_edited(self, "state"):
            memory = self._loop(gates, added, state, first)
        else:
            memory = linear_scan(gates, added, state)
        return torch.relu(memory).to(projected.dtype), memory[:, -1]

    def _loop(self, gates: Inputs, added: Inputs, state: CellState, first: int) -> Inputs:
        """Return the states of all places, each edited before the next one reads it."""
        states = []
        for place in range(gates.shape[1]):
            state = gates[:, place] * state + added[:, place]
            state = edited_units(self, "state", state[:, None], first + place)[:, 0]
            states.append(state)
        return torch.stack(states, dim=1)


class GRUCell(nn.Module):
    """A GRU layer over the places (Cho et al. 2014, in cuDNN's variant)."""

    def __init__(self, width: int) -> None:
        super().__init__()
        from regard.models.recurrent.layers import Stack  # other decoders do without it

        self.stack = Stack("gru", width, width, 1)

    def forward(self, states: Inputs, state: CellState | None, first: int) -> tuple[Inputs, CellState]:
        outputs, after = self.stack(states, None if state is None else [(state,)])
        return outputs, after[0][0]


def decoder_cell(name: Literal["attention", "ssru", "gru"], width: int) -> SSRU | GRUCell:
    """Build the cell of a decoder block."""
    return SSRU(width) if name == "ssru" else GRUCell(width)
