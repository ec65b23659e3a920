"""Linear layers that a loop applies repeatedly, with one product for the gradient of their weights.

Autograd by itself multiplies and adds once per round: many small launches on a GPU when rounds are many and batches
small. Here each round keeps its input and the gradient of its output, and one product after the last round of the
backward pass gives the same sum:

    ∂L/∂W = Σ_t ∂L/∂y_tᵀ x_t = [∂L/∂y_1; …; ∂L/∂y_T]ᵀ [x_1; …; x_T]
"""

from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from regard.kernels.tensor_float import products_in_tf32


class Rounds:
    """The rounds of one layer in a loop, with the inputs and gradients that the weight gradient needs."""

    def __init__(self, layer: nn.Linear, in_tf32: bool = False) -> None:
        self.in_tf32 = in_tf32 and layer.weight.is_cuda
        self.weight, self.bias = layer.weight.detach(), layer.bias.detach()
        self.inputs: list[Tensor] = []
        self.gradients: list[Tensor] = []

    def __call__(self, inputs: Float[Tensor, "batch input"]) -> Float[Tensor, "batch output"]:
        """Compute W x + b for one round."""
        outputs: Tensor = _Round.apply(inputs, self)
        return outputs


def begin_rounds(layers: Sequence[nn.Linear], start: Tensor, in_tf32: bool = False) -> tuple[list[Rounds], Tensor]:
    """Return the rounds of these layers, and the `start` of a loop; on a GPU products may be in TF32.

    Everything given to a round must depend on that `start`, so that its gradient comes after the last round.
    """
    rounds = [Rounds(layer, in_tf32) for layer in layers]
    weights = [weight for layer in layers for weight in (layer.weight, layer.bias)]
    tracked: Tensor = _Sum.apply(start, rounds, *weights)
    return rounds, tracked


class _Round(torch.autograd.Function):
    @staticmethod
    def forward(context: Any, inputs: Tensor, rounds: Rounds) -> Tensor:
        context.save_for_backward(inputs)
        context.rounds = rounds
        with products_in_tf32(rounds.in_tf32):
            return F.linear(inputs, rounds.weight, rounds.bias)

    @staticmethod
    def backward(context: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        (inputs,), (gradient,), rounds = context.saved_tensors, gradients, context.rounds
        rounds.inputs.append(inputs)
        rounds.gradients.append(gradient)
        with products_in_tf32(rounds.in_tf32):
            return gradient @ rounds.weight, None


class _Sum(torch.autograd.Function):
    @staticmethod
    def forward(context: Any, start: Tensor, rounds: Sequence[Rounds], *weights: Tensor) -> Tensor:
        context.rounds = rounds
        return start.view_as(start)

    @staticmethod
    def backward(context: Any, *gradients: Tensor) -> tuple[Any, ...]:
        weight_gradients: list[Tensor] = []
        for layer_rounds in context.rounds:
            output_gradients = torch.cat(layer_rounds.gradients)
            with products_in_tf32(layer_rounds.in_tf32):
                weight_gradients += [output_gradients.mT @ torch.cat(layer_rounds.inputs), output_gradients.sum(dim=0)]
            layer_rounds.inputs.clear(), layer_rounds.gradients.clear()
        return gradients[0], None, *weight_gradients
