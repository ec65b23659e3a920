"""The logistic recurrent layer, computed by torch's fused tanh layer in other coordinates.

    h' = σ(W x + U h + b)

Because σ(a) = (1 + tanh(a/2)) / 2, the state g = 2h − 1 is that of a tanh cell with other weights:

    g' = tanh(½W x + ¼U g + ½b + ¼U·1)

The factor ¼ before U bounds the cell: ∂h'/∂h = diag(h'(1 − h')) U has norm at most ¼‖U‖, so gradients vanish even where
U is orthogonal.
"""

from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

from regard.models.recurrent.fused import end_to_end


class Logistic(nn.RNN):
    """A layer of logistic cells with the weights and the interface of torch's vanilla layer."""

    weight_ih_l0: Tensor
    weight_hh_l0: Tensor
    bias_ih_l0: Tensor
    bias_hh_l0: Tensor

    def __init__(
        self,
        depth: int,
        width: int,
        *,
        batch_first: Literal[True] = True,
        bidirectional: bool = False,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(depth, width, batch_first=batch_first, bidirectional=bidirectional, dtype=dtype)

    def forward(self, inputs: Any, start: Tensor | None = None) -> tuple[Any, Tensor]:
        """Return the states of all places, packed if the inputs are, and the last states."""
        weights = end_to_end(self._in_tanh_coordinates())
        if not isinstance(inputs, PackedSequence):
            initial = self._begin(inputs, inputs.shape[0], start)
            outputs, final = torch.rnn_tanh(
                inputs, initial, weights, True, 1, 0.0, self.training, self.bidirectional, True
            )
            return _as_logistic(outputs), _as_logistic(final)
        rows = int(inputs.batch_sizes[0])
        initial = self.permute_hidden(self._begin(inputs.data, rows, start), inputs.sorted_indices)
        outputs, final = torch.rnn_tanh(
            inputs.data, inputs.batch_sizes, initial, weights, True, 1, 0.0, self.training, self.bidirectional
        )
        last: Tensor = self.permute_hidden(_as_logistic(final), inputs.unsorted_indices)
        return inputs._replace(data=_as_logistic(outputs)), last

    def step(self, inputs: Tensor, state: Tensor) -> Tensor:
        """Return the state after one step, for a layer that reads forward."""
        driven = nn.functional.linear(inputs, self.weight_ih_l0, self.bias_ih_l0)
        return (driven + nn.functional.linear(state, self.weight_hh_l0, self.bias_hh_l0)).sigmoid()

    def _begin(self, inputs: Tensor, rows: int, start: Tensor | None) -> Tensor:
        """Return 2h − 1 of the initial state, by default h = 0."""
        if start is None:
            return inputs.new_full((2 if self.bidirectional else 1, rows, self.hidden_size), -1.0)
        return 2 * start - 1

    def _in_tanh_coordinates(self) -> list[Tensor]:
        """Return ½W, ¼U, half the bias of the input, and half that of the state with ¼U·1, of each direction."""
        weights: list[Tensor] = []
        for direction in ("", "_reverse")[: 1 + self.bidirectional]:
            of_input, of_state, input_bias, state_bias = (
                getattr(self, f"{name}_l0{direction}") for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
            )
            weights += [of_input / 2, of_state / 4, input_bias / 2, state_bias / 2 + of_state.sum(1) / 4]
        return weights


def _as_logistic(states: Tensor) -> Tensor:
    return (1 + states) / 2
