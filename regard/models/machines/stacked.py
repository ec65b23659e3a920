"""Affine maps of several members of a small model that are trained side by side."""

from math import sqrt

import torch
from jaxtyping import Float
from torch import Tensor, nn

Inputs = Float[Tensor, "member row input"]
Outputs = Float[Tensor, "member row output"]


class StackedLinear(nn.Module):
    """y = x W + b, with its own W and b for each member."""

    def __init__(self, members: int, inputs: int, outputs: int, bias: bool = True) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(members, inputs, outputs))
        self.bias = nn.Parameter(torch.zeros(members, outputs)) if bias else None

    @torch.no_grad()
    def draw(self, member: int, generator: torch.Generator) -> None:
        """Initialise a member's weights as torch does for its linear maps: uniform within 1/√inputs."""
        bound = 1 / sqrt(self.weight.shape[1])
        self.weight[member].uniform_(-bound, bound, generator=generator)

    def forward(self, inputs: Inputs) -> Outputs:
        return inputs @ self.weight if self.bias is None else torch.baddbmm(self.bias[:, None], inputs, self.weight)

    def added_to(self, sums: Outputs, inputs: Inputs) -> Outputs:
        """Return sums + x W in one launch; for a map without a bias."""
        assert self.bias is None
        return torch.baddbmm(sums, inputs, self.weight)
