"""A small convolutional net for pictures, the baseline for glimpses.

It sees the whole picture, so its cost grows with the picture.
"""

import math
from itertools import pairwise

import torch
from jaxtyping import Float
from pydantic import Field, model_validator
from torch import Tensor, nn

from regard.attention.glimpses import Pictures
from regard.base.recipe import Options
from regard.models.bounds import WIDEST
from regard.models.picture_network import PictureNetwork


class ConvNetOptions(Options):
    """Convolutions of stride 2, each with a rectifier, then two linear layers."""

    channels: list[int] = Field([8, 16, 32], min_length=1, max_length=8, description="Filters of each convolution.")
    kernel: int = Field(5, ge=1, le=31, description="Side of a filter in pixels; odd.")
    width: int = Field(256, ge=1, le=WIDEST, description="Units between the convolutions and the classes.")
    dropout: float = Field(0.0, ge=0, lt=1, description="Dropout on these units.")

    @model_validator(mode="after")
    def _check(self) -> "ConvNetOptions":
        if self.kernel % 2 == 0:
            raise ValueError(f"kernel is {self.kernel}, expected an odd number")
        if any(not 1 <= count <= WIDEST for count in self.channels):
            raise ValueError(f"channels are {self.channels}, expected numbers from 1 to {WIDEST}")
        return self


class ConvNet(PictureNetwork):
    """log softmax(Linear(Rect(Linear(…Rect(Conv(x))…)))); each convolution halves the sides of its input."""

    def __init__(self, options: ConvNetOptions, classes: int, height: int, width: int) -> None:
        super().__init__()
        self.options, self.classes = options, classes
        layers: list[nn.Module] = []
        for before, after in pairwise([1, *options.channels]):
            layers += [nn.Conv2d(before, after, options.kernel, stride=2, padding=options.kernel // 2), nn.ReLU()]
        self.convolutions = nn.Sequential(*layers)
        rows, columns = _halve([height, width], len(options.channels))
        self.hidden = nn.Linear(options.channels[-1] * rows * columns, options.width)
        self.dropout = nn.Dropout(options.dropout)
        self.action = nn.Linear(options.width, classes)

    def answer(self, pictures: Pictures) -> Float[Tensor, "batch class"]:
        """Return the log-probabilities of the classes."""
        features = self.convolutions(pictures.unsqueeze(1)).flatten(1)
        return torch.log_softmax(self.action(self.dropout(torch.relu(self.hidden(features)))), dim=-1)

    def multiplications(self, height: int, width: int) -> int:
        """Return the multiplications for one picture of this size."""
        total = 0
        for number, (before, after) in enumerate(pairwise([1, *self.options.channels]), start=1):
            rows, columns = _halve([height, width], number)
            total += rows * columns * after * before * self.options.kernel**2
        return total + self.options.width * (rows * columns * after + self.classes)


def _halve(sides: list[int], times: int) -> list[int]:
    """Halve the sides `times` times, rounding up."""
    return [math.ceil(side / 2**times) for side in sides]
