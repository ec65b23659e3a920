"""Networks that compute with rounded weights and states, as 8-bit engines do, and that learn in spite of it.

`round_network` changes how a network's linear layers and embeddings compute, and nothing else: its weights stay as they
are, and what is saved is an ordinary model. The scheme is that of CTranslate2's int8, which rounds numbers in rows:

    scale = 127 / max |row|,  whole = round(row · scale),  row ≈ whole / scale,

one row of a matrix for each output, one row of states for each place. A product is that of the whole numbers, divided
by both scales. In int4, weights are rounded in groups of 32 inputs, to −7 … 7; states stay 8-bit.

Rounding has no slope, so gradients pass as if it were not there (Bengio et al. 2013, straight-through).
"""

from typing import Any, Literal, NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from regard.models.parts import Embedding

Scheme = Literal["int8", "int4"]
LARGEST = {"int8": 127, "int4": 7}  # whole number
GROUP = 32  # weights that share a scale in int4


class Wholes(NamedTuple):
    """Whole numbers as floats, and what each row or group was multiplied by before it was rounded."""

    wholes: Float[Tensor, "*rows number"]
    scales: Float[Tensor, "*rows 1"]

    @property
    def rounded(self) -> Float[Tensor, "*rows number"]:
        """The numbers that the whole numbers stand for."""
        return self.wholes / self.scales


def round_rows(rows: Float[Tensor, "*rows number"], largest: int = 127) -> Wholes:
    """Round each row with its own scale, to whole numbers up to `largest`."""
    most = rows.abs().amax(-1, keepdim=True)
    least = largest / torch.finfo(rows.dtype).max  # of a row whose scale is a number
    scales = largest / most.masked_fill(most == 0, float(largest)).clamp(min=least)
    return Wholes((rows * scales).round(), scales)


def round_weights(weight: Float[Tensor, "*rows number"], scheme: Scheme) -> Float[Tensor, "*rows number"]:
    """Return a matrix, or rows of an embedding, as an engine that stores it in this scheme computes with it."""
    if scheme == "int8":
        return round_rows(weight).rounded
    missing = -weight.shape[-1] % GROUP
    groups = F.pad(weight, (0, missing)).unflatten(-1, (-1, GROUP))
    return round_rows(groups, LARGEST["int4"]).rounded.flatten(-2)[..., : weight.shape[-1]]


def straight_through(numbers: Tensor, rounded: Tensor) -> Tensor:
    """Return the rounded numbers, with gradients as if they had not been rounded."""
    return numbers + (rounded - numbers).detach() if numbers.requires_grad else rounded


def round_states(states: Float[Tensor, "*place width"]) -> Float[Tensor, "*place width"]:
    """Return states as they enter a product; states that were rounded before do not change."""
    exact = states.float() if states.dtype in (torch.bfloat16, torch.float16) else states
    return straight_through(exact, round_rows(exact.detach()).rounded)


class RoundedLinear(nn.Linear):
    """A linear layer that multiplies whole numbers."""

    scheme: Scheme = "int8"

    def forward(self, states: Float[Tensor, "*place in"]) -> Float[Tensor, "*place out"]:
        product = _Product.apply(states, self.weight, self.scheme)
        return product if self.bias is None else product + self.bias.to(product.dtype)


class RoundedEmbedding(Embedding):
    """Token vectors that are rounded as they are looked up, each as a row of its own."""

    scheme: Scheme = "int8"

    def forward(self, tokens: Int[Tensor, "batch time"]) -> Float[Tensor, "batch time width"]:
        rows = F.embedding(tokens, self.weight, padding_idx=self.pad)
        return straight_through(rows, round_weights(rows.detach(), self.scheme)) * self.weight.shape[1] ** 0.5


def round_network(network: nn.Module, scheme: Scheme) -> None:
    """Let the linear layers and embeddings of a network compute rounded from now on."""
    for module in network.modules():
        # Another class on the same weights: the names of weights, and all references to the module, stay valid.
        for plain, rounded in ((nn.Linear, RoundedLinear), (Embedding, RoundedEmbedding)):
            if type(module) in (plain, rounded):
                module.__class__ = rounded
                object.__setattr__(module, "scheme", scheme)


class _Product(torch.autograd.Function):
    """States times the transpose of a matrix, both rounded. Whole numbers up to 127 are exact even in bf16."""

    @staticmethod
    def forward(ctx: Any, states: Tensor, weight: Tensor, scheme: Scheme) -> Tensor:
        kind = states.device.type
        dtype = torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else states.dtype
        exact = torch.promote_types(states.dtype, torch.float32)
        left = round_rows(states.to(exact))
        if scheme == "int8":
            wholes, scales = round_rows(weight.to(exact))
        else:
            wholes, scales = round_weights(weight.to(exact), scheme), weight.new_ones(len(weight), 1)
        matrix = wholes.to(dtype)
        with torch.autocast(kind, enabled=False):
            product = F.linear(left.wholes.to(dtype), matrix)
        if any(ctx.needs_input_grad):
            ctx.save_for_backward(left.wholes.to(torch.int8), left.scales, matrix, scales)
            ctx.dtypes = states.dtype, weight.dtype
        return (product / (left.scales * scales.mT)).to(dtype)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, Tensor | None, None]:
        wholes, left_scales, matrix, scales = ctx.saved_tensors
        (gradient,) = gradients
        of_states = of_weight = None
        if ctx.needs_input_grad[0]:
            of_states = ((gradient / scales.mT).to(matrix.dtype) @ matrix).to(ctx.dtypes[0])
        if ctx.needs_input_grad[1]:
            scaled = (gradient / left_scales).to(matrix.dtype).flatten(0, -2)
            of_weight = (scaled.mT @ wholes.to(matrix.dtype).flatten(0, -2)).to(ctx.dtypes[1])
        return of_states, of_weight, None
