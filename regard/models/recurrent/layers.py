"""Recurrent layers of any cell, stacked, read whole or one step at a time.

The layers are torch's fused ones, and two of our own for cells that torch does not have;
`regard/models/recurrent/cells.py` writes out the same equations on the same weights.
"""

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.func import functional_call
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence
from torch.overrides import handle_torch_function, has_torch_function_variadic

from regard.attention.editing import is_edited
from regard.models.recurrent.dropout import LockedDropout
from regard.models.recurrent.fused import end_to_end
from regard.models.recurrent.logistic import Logistic
from regard.models.recurrent.reset_first import ResetFirstGru
from regard.models.recurrent.written_out import edit_step, read_written_out

# State of a layer between two steps: (h,), and for an LSTM (h, c); each of shape (row, width).
Hidden = tuple[Tensor, ...]

CELLS: dict[str, type[nn.RNN] | type[nn.LSTM] | type[nn.GRU]] = {
    "vanilla": nn.RNN,
    "logistic": Logistic,
    "lstm": nn.LSTM,
    "gru": nn.GRU,
    "gru-reset-first": ResetFirstGru,
}
GATES = {"vanilla": 1, "logistic": 1, "lstm": 4, "gru": 3, "gru-reset-first": 3}
# The functions behind torch's modules, which take the weights as arguments.
_FUSED: dict[str, Callable[..., Any]] = {"vanilla": torch.rnn_tanh, "lstm": torch.lstm, "gru": torch.gru}


class Stack(nn.Module):
    """Recurrent layers with dropout between them and, if `residual`, residual connections around all but the first.

    A bidirectional layer of `width` is two layers of half the width side by side. With `locked`, a row has one dropout
    mask for all time steps, and is never packed. `weight_drop` is the share of the state-to-state weights that are
    dropped in training, the same ones at all time steps (Merity et al. 2018, section 2).
    """

    def __init__(
        self,
        cell: str,
        depth: int,
        width: int,
        layers: int,
        *,
        dropout: float = 0.0,
        residual: bool = False,
        bidirectional: bool = False,
        locked: bool = False,
        weight_drop: float = 0.0,
        last_width: int | None = None,
        orthogonal: bool = True,
    ) -> None:
        super().__init__()
        self.cell, self.residual, self.bidirectional = cell, residual, bidirectional
        self.dropout = LockedDropout(dropout) if locked else nn.Dropout(dropout)
        self.weight_drop = weight_drop
        widths = [*[width] * (layers - 1), width if last_width is None else last_width]
        directions = 2 if bidirectional else 1
        self.layers = nn.ModuleList(
            CELLS[cell](before, size // directions, batch_first=True, bidirectional=bidirectional)
            for before, size in zip([depth, *widths], widths, strict=False)
        )
        if orthogonal:  # otherwise torch's defaults
            for layer in self.layers:
                _initialise(layer, GATES[cell])

    def forward(
        self, inputs: Float[Tensor, "batch time depth"], states: list[Hidden] | None = None
    ) -> tuple[Float[Tensor, "batch time width"], list[Hidden]]:
        """Return the outputs of all steps, and the layers' states after the last; without `states`, start from zero."""
        finals = []
        for number, layer in enumerate(self.layers):
            start = None if states is None else self._for_layer(states[number])
            outputs, final = self._read(layer, self._between(inputs, number), start)
            finals.append(self._from_layer(final))
            inputs = self._around(inputs, outputs, number)
        return inputs, finals

    def _read(self, layer: Any, inputs: Tensor, start: Tensor | Hidden | None) -> tuple[Tensor, Any]:
        """Run a layer, in training with some of its weights dropped."""
        if not self.weight_drop or not self.training:
            return _run(layer, inputs, start)
        dropped = {name: self._drop(name, weight) for name, weight in layer.named_parameters()}
        if self.cell not in _FUSED:
            return functional_call(layer, dropped, (inputs, start))
        weights = end_to_end(list(dropped.values()))
        if start is None:
            nothing = inputs.new_zeros(2 if self.bidirectional else 1, len(inputs), layer.hidden_size)
            start = (nothing, nothing) if self.cell == "lstm" else nothing
        outputs, *final = _FUSED[self.cell](inputs, start, weights, True, 1, 0.0, True, self.bidirectional, True)
        return outputs, tuple(final) if self.cell == "lstm" else final[0]

    def _drop(self, name: str, weight: Tensor) -> Tensor:
        return F.dropout(weight, self.weight_drop) if name.startswith("weight_hh") else weight

    def read(
        self, inputs: Float[Tensor, "batch time depth"], lengths: Int[Tensor, " batch"]
    ) -> tuple[Float[Tensor, "batch time width"], Float[Tensor, "batch width"]]:
        """Return the outputs for rows of different lengths, without reading padding, and the top layer's last h."""
        outputs, last = self._pack(inputs, lengths)
        return _padded(outputs[-1], inputs), last

    def read_layers(
        self, inputs: Float[Tensor, "batch time depth"], lengths: Int[Tensor, " batch"]
    ) -> list[Float[Tensor, "batch time width"]]:
        """Return the outputs of every layer for such rows, the lowest first."""
        return [_padded(outputs, inputs) for outputs in self._pack(inputs, lengths)[0]]

    def last(
        self, inputs: Float[Tensor, "batch time depth"], lengths: Int[Tensor, " batch"]
    ) -> Float[Tensor, "batch width"]:
        """Return only the top layer's last h, as `read` does."""
        return self._pack(inputs, lengths)[1]

    def _pack(self, inputs: Tensor, lengths: Tensor) -> tuple[list[PackedSequence], Tensor]:
        """Return the outputs of every layer, and the top layer's last h."""
        # torch needs the lengths of packed rows on the host
        packed = pack_padded_sequence(inputs, lengths.cpu(), batch_first=True, enforce_sorted=False)
        layers = []
        for number, layer in enumerate(self.layers):
            outputs, final = _run(layer, packed._replace(data=self._between(packed.data, number)))
            packed = packed._replace(data=self._around(packed.data, outputs.data, number))
            layers.append(packed)
        top = final[0] if self.cell == "lstm" else final
        return layers, top.transpose(0, 1).flatten(1)  # the two directions side by side

    def step(
        self, inputs: Float[Tensor, "row depth"], states: list[Hidden]
    ) -> tuple[Float[Tensor, "row width"], list[Hidden]]:
        """Run one step of every layer, by torch's fused cells on the layers' weights."""
        after = []
        for number, (layer, state) in enumerate(zip(self.layers, states, strict=True)):
            after.append(self._cell(layer, self._between(inputs, number), state))
            inputs = self._around(inputs, after[-1][0], number)
        return inputs, after

    def _cell(self, layer: Any, inputs: Tensor, state: Hidden) -> Hidden:
        return edit_step(layer, self._fused_cell(layer, inputs, state))

    def _fused_cell(self, layer: Any, inputs: Tensor, state: Hidden) -> Hidden:
        if self.cell not in _FUSED:
            return (layer.step(inputs, state[0]),)
        weights = (layer.weight_ih_l0, layer.weight_hh_l0, layer.bias_ih_l0, layer.bias_hh_l0)
        match self.cell:
            case "lstm":
                return torch.lstm_cell(inputs, list(state), *weights)
            case "gru":
                return (torch.gru_cell(inputs, state[0], *weights),)
        return (torch.rnn_tanh_cell(inputs, state[0], *weights),)

    def _between(self, inputs: Tensor, number: int) -> Tensor:
        return self.dropout(inputs) if number else inputs

    def _around(self, inputs: Tensor, outputs: Tensor, number: int) -> Tensor:
        return inputs + outputs if self.residual and number else outputs

    def _for_layer(self, state: Hidden) -> Tensor | Hidden:
        """Add a leading axis of one layer, as torch's layers take it."""
        tensors = tuple(tensor[None].contiguous() for tensor in state)
        return tensors if self.cell == "lstm" else tensors[0]

    def _from_layer(self, final: Any) -> Hidden:
        """Put the directions of a layer, which torch returns on the first axis, side by side."""
        tensors = final if self.cell == "lstm" else (final,)
        return tuple(tensor.transpose(0, 1).flatten(1) for tensor in tensors)


def _run(layer: Any, inputs: Any, start: Any = None) -> tuple[Any, Any]:
    """Run a layer: fused, or written out while its states are edited."""
    return read_written_out(layer, inputs, start) if is_edited(layer, "state") else layer(inputs, start)


def _padded(outputs: PackedSequence, inputs: Tensor) -> Tensor:
    """Return the outputs of packed rows as a table with as many places as the inputs."""
    return pad_packed_sequence(outputs, batch_first=True, total_length=inputs.shape[1])[0]


def orthogonal_(weight: Tensor) -> Tensor:
    """As in nn.init, but asks torch function modes first, as most functions there do, because it takes long."""
    if has_torch_function_variadic(weight):
        result: Tensor = handle_torch_function(orthogonal_, (weight,), weight)
        return result
    return nn.init.orthogonal_(weight)


def _initialise(layer: nn.Module, gates: int) -> None:
    """Use orthogonal recurrent matrices, which neither stretch nor shrink, and a forget gate that starts open."""
    for name, weight in layer.named_parameters():
        if name.startswith("bias"):
            nn.init.zeros_(weight)
            if gates == GATES["lstm"] and name.startswith("bias_ih"):
                with torch.no_grad():
                    weight.chunk(gates)[1].fill_(1.0)  # torch's order: input, forget, cell, output
        else:
            fill = orthogonal_ if name.startswith("weight_hh") else nn.init.xavier_uniform_
            for part in weight.chunk(gates):
                fill(part)
