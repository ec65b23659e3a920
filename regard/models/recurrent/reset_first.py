"""The GRU with the reset gate before the matrix, for which torch has no fused layer.

    r = σ(Wr x + Ur h + br)
    z = σ(Wz x + Uz h + bz)
    n = tanh(Wn x + Un (r ⊙ h) + bn)
    h' = (1 − z) ⊙ h + z ⊙ n

torch has r ⊙ (Un h) in the candidate (equal only where r is the same in all units), and its z is the share that is
kept; here z is the share that is renewed. The sign of z is a convention: −Wz, −Uz and −bz turn one into the other.
"""

from collections.abc import Sequence
from typing import Any, Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence


class ResetFirstGru(nn.GRU):
    """A layer of such cells with the weights and the interface of torch's GRU, computed step by step."""

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
        if not isinstance(inputs, PackedSequence):
            times = inputs.transpose(0, 1)
            states, final = self._read(times.flatten(0, 1), [inputs.shape[0]] * inputs.shape[1], start)
            return states.unflatten(0, times.shape[:2]).transpose(0, 1), final
        if start is not None:
            start = self.permute_hidden(start, inputs.sorted_indices)
        states, final = self._read(inputs.data, inputs.batch_sizes.tolist(), start)
        return inputs._replace(data=states), self.permute_hidden(final, inputs.unsorted_indices)

    def step(self, inputs: Tensor, state: Tensor) -> Tensor:
        """Return the state after one step, for a layer that reads forward."""
        return self._step(F.linear(inputs, self.weight_ih_l0, self.bias_ih_l0), state, "")

    def _read(self, inputs: Tensor, rows: Sequence[int], start: Tensor | None) -> tuple[Tensor, Tensor]:
        """Return the states of packed places with all directions side by side, and each direction's last states."""
        states, finals = [], []
        for number, direction in enumerate(("", "_reverse")[: 1 + self.bidirectional]):
            driven = F.linear(inputs, self._weight("weight_ih", direction), self._weight("bias_ih", direction))
            state = driven.new_zeros(rows[0], self.hidden_size) if start is None else start[number]
            steps, final = self._one_way(driven.split(list(rows)), state, direction)
            states.append(torch.cat(steps))
            finals.append(final)
        return torch.cat(states, dim=-1), torch.stack(finals)

    def _one_way(self, driven: Sequence[Tensor], state: Tensor, direction: str) -> tuple[list[Tensor], Tensor]:
        """Return the states of each step in order of place, and the last state of each row; longer rows come first."""
        steps = []
        for inputs in reversed(driven) if direction else driven:
            after = self._step(inputs, state[: len(inputs)], direction)
            state = after if len(inputs) == len(state) else torch.cat([after, state[len(inputs) :]])
            steps.append(after)
        return steps[::-1] if direction else steps, state

    def _step(self, driven: Tensor, state: Tensor, direction: str) -> Tensor:
        """Return the state after a step; `driven` is the contribution of the inputs to gates and candidate."""
        width = self.hidden_size
        of_state, bias = self._weight("weight_hh", direction), self._weight("bias_hh", direction)
        gates = (driven[:, : 2 * width] + F.linear(state, of_state[: 2 * width], bias[: 2 * width])).sigmoid()
        reset, renewed = gates.chunk(2, dim=-1)
        candidate = (driven[:, 2 * width :] + F.linear(reset * state, of_state[2 * width :], bias[2 * width :])).tanh()
        return (1 - renewed) * state + renewed * candidate

    def _weight(self, name: str, direction: str) -> Tensor:
        weight: Tensor = getattr(self, f"{name}_l0{direction}")
        return weight
