"""Building blocks that several models share."""

from collections.abc import Callable, Sequence
from functools import partial

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": F.relu,
    "gelu": F.gelu,
    "gelu-tanh": partial(F.gelu, approximate="tanh"),
    "swish": F.silu,
}


class Embedding(nn.Module):
    """Token vectors of variance 1/width, scaled by √width on the way in (Vaswani et al. 2017, section 3.4)."""

    def __init__(self, tokens: int, width: int, pad: int | None) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(tokens, width))
        nn.init.normal_(self.weight, std=width**-0.5)
        self.pad = pad

    def forward(self, tokens: Int[Tensor, "batch time"]) -> Float[Tensor, "batch time width"]:
        return F.embedding(tokens, self.weight, padding_idx=self.pad) * self.weight.shape[1] ** 0.5


class FeedForward(nn.Module):
    """FFN(x) = W₂ activation(W₁ x + b₁) + b₂, the same at every place (Vaswani et al. 2017, equation 2)."""

    def __init__(self, width: int, hidden: int, activation: str, dropout: float) -> None:
        super().__init__()
        self.inner, self.outer = nn.Linear(width, hidden), nn.Linear(hidden, width)
        self.activation, self.dropout = ACTIVATIONS[activation], nn.Dropout(dropout)
        for linear in (self.inner, self.outer):
            nn.init.xavier_uniform_(linear.weight)
            nn.init.zeros_(linear.bias)

    def forward(self, states: Float[Tensor, "batch time width"]) -> Float[Tensor, "batch time width"]:
        return self.outer(self.dropout(self.activation(self.inner(states))))


class Residual(nn.Module):
    """Dropout, residual and layer norm around a sublayer: after it as published, or before it."""

    def __init__(self, width: int, dropout: float, norm: str) -> None:
        super().__init__()
        self.norm, self.dropout, self.before = nn.LayerNorm(width), nn.Dropout(dropout), norm == "before"

    def forward(
        self, states: Float[Tensor, "batch time width"], sublayer: Callable[[Tensor], Tensor]
    ) -> Float[Tensor, "batch time width"]:
        if self.before:
            return states + self.dropout(sublayer(self.norm(states)))
        return self.norm(states + self.dropout(sublayer(states)))


def choose_by(logits: Float[Tensor, "row choice"], chance: Float[Tensor, " row"]) -> Int[Tensor, " row"]:
    """Return the choice in whose interval each chance falls; the softmax of the logits divides 0 to 1."""
    shares = F.softmax(logits.double(), dim=-1).cumsum(dim=-1)
    return (shares < chance.unsqueeze(-1)).sum(dim=-1).clamp(max=logits.shape[-1] - 1)


def count_matrix_weights(*parts: nn.Module) -> int:
    """Count the weights in matrices and filters of these parts: the multiplications of one vector."""
    return sum(weight.numel() for part in parts for weight in part.parameters() if weight.dim() > 1)


@torch.no_grad()
def draw_members(seeds: Sequence[int], *draws: Callable[[int, torch.Generator], None]) -> None:
    """Let each of `draws` fill the weights of every member, given its number and a generator with its seed."""
    for member, seed in enumerate(seeds):
        generator = torch.Generator().manual_seed(seed)
        for draw in draws:
            draw(member, generator)
