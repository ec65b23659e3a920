"""A plain LSTM, the baseline for machines with a memory."""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from pydantic import Field
from torch import Tensor, nn

from regard.attention.editing import standing
from regard.base.recipe import Options
from regard.models.machines.controllers import Given, LstmController
from regard.models.machines.machine import OUTPUTS, count_weights, draw_stacked
from regard.models.machines.stacked import StackedLinear


class LstmOptions(Options):
    """Options of an LSTM; the sizes are those of Graves et al. 2014, table 3."""

    layers: int = Field(3, ge=1, le=64, description="Number of layers.")
    width: int = Field(256, ge=1, le=2**14, description="Width of every layer.")


class Lstm(nn.Module):
    """Layers of LSTM, and a linear map of the last one; several members may be trained side by side."""

    outputs_lack_places = OUTPUTS
    slots: int = 0  # it has no memory
    head_names: Sequence[str] = ()

    def __init__(self, options: LstmOptions, inputs: int, outputs: int, seeds: Sequence[int] = (0,)) -> None:
        super().__init__()
        self.options = options
        self.layers = LstmController(len(seeds), inputs, 0, options.width, options.layers)
        self.output = StackedLinear(len(seeds), options.width, outputs)
        draw_stacked(self, seeds)

    def multiplications(self) -> int:
        """Return the multiplications of one step of one row."""
        return count_weights(self) + 3 * self.options.layers * self.options.width

    @property
    def dtype(self) -> torch.dtype:
        return self.output.weight.dtype

    def forward(self, inputs: Given, slots: None = None) -> Float[Tensor, "member row step output"]:
        """Return the logits of every step; it has no slots."""
        prepared = self.layers.prepare(inputs)
        state, thoughts = self.layers.start(inputs), []
        for number, step in enumerate(prepared.unbind(2)):
            with standing(number):
                hidden, state = self.layers(step, None, state)
            thoughts.append(hidden)
        return self.output(torch.stack(thoughts, dim=2).flatten(1, 2)).unflatten(1, inputs.shape[1:3])
