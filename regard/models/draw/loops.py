"""Linear layers that a loop applies again and again, with one product for the gradient of their weights.

Autograd by itself multiplies and adds for each round: on a GPU many small launches, where rounds are many and batches
small. Here each round keeps its input and the gradient of its output, and one product after the last round of the
backward pass gives the same sum:

    ∂L/∂W = Σ_t ∂L/∂y_tᵀ x_t = [∂L/∂y_1; …; ∂L/∂y_T]ᵀ [x_1; …; x_T]
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn


class Rounds:
    """The rounds of a layer in one loop, and what the gradient of its weights needs of each."""

    def __init__(self, layer: nn.Linear, in_tf32: bool = False) -> None:
        self.in_tf32 = in_tf32 and layer.weight.is_cuda
        self.weight, self.bias = layer.weight.detach(), layer.bias.detach()
        self.inputs: list[Tensor] = []
        self.gradients: list[Tensor] = []

    def __call__(self, given: Float[Tensor, "batch input"]) -> Float[Tensor, "batch output"]:
        """W x + b, one round."""
        found: Tensor = _Round.apply(given, self)
        return found


def begin_rounds(layers: Sequence[nn.Linear], start: Tensor, in_tf32: bool = False) -> tuple[list[Rounds], Tensor]:
    """The rounds of these layers, and the `start` from which a loop begins; on a GPU products may be in TF32.

    All that is given to a round must depend on that `start`: that is how one knows that no round is left.
    """
    rounds = [Rounds(layer, in_tf32) for layer in layers]
    weights = [weight for layer in layers for weight in (layer.weight, layer.bias)]
    begun: Tensor = _Sum.apply(start, rounds, *weights)
    return rounds, begun


class _Round(torch.autograd.Function):
    @staticmethod
    def forward(context: Any, given: Tensor, rounds: Rounds) -> Tensor:
        context.save_for_backward(given)
        context.rounds = rounds
        with _precision(rounds.in_tf32):
            return F.linear(given, rounds.weight, rounds.bias)

    @staticmethod
    def backward(context: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        (given,), (gradient,), rounds = context.saved_tensors, gradients, context.rounds
        rounds.inputs.append(given)
        rounds.gradients.append(gradient)
        with _precision(rounds.in_tf32):
            return gradient @ rounds.weight, None


class _Sum(torch.autograd.Function):
    @staticmethod
    def forward(context: Any, start: Tensor, rounds: Sequence[Rounds], *weights: Tensor) -> Tensor:
        context.rounds = rounds
        return start.view_as(start)

    @staticmethod
    def backward(context: Any, *gradients: Tensor) -> tuple[Any, ...]:
        found: list[Tensor] = []
        for each in context.rounds:
            of_outputs = torch.cat(each.gradients)
            with _precision(each.in_tf32):
                found += [of_outputs.mT @ torch.cat(each.inputs), of_outputs.sum(dim=0)]
            each.inputs.clear(), each.gradients.clear()
        return gradients[0], None, *found


@contextmanager
def _precision(in_tf32: bool) -> Iterator[None]:
    """Let the products inside this block be in TF32, if they may; torch has one setting for all of them."""
    if not in_tf32:
        yield
        return
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("high")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)
