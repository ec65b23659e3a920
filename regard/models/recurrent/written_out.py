"""Recurrent layers that run written out, step by step, so that their states can be edited between two steps.

The units of a state are those of the layer's output, in both directions side by side, and then those of the memory cell
in the same order, if the cell is an LSTM.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pad_packed_sequence

from regard.attention.editing import edited_units, is_edited, place_of_step
from regard.models.recurrent.cells import Change, HiddenState, LstmState, unroll


def read_written_out(layer: nn.RNNBase, inputs: Tensor | PackedSequence, start: Any = None) -> tuple[Any, Any]:
    """Return what `layer(inputs, start)` returns, with every state edited before the next step reads it."""
    first = 0 if start is None else place_of_step(layer, "state")
    changes = [partial(_edit_direction, layer, first, direction) for direction in range(1 + layer.bidirectional)]
    return unroll_directions(layer, inputs, start, changes)


def edit_step(module: nn.Module, state: tuple[Float[Tensor, "row width"], ...]) -> tuple[Tensor, ...]:
    """Return the state after one step, h or h and c, as edited."""
    if not is_edited(module, "state"):
        return state
    place = place_of_step(module, "state")
    return edited_units(module, "state", torch.cat(state, dim=-1)[:, None], place)[:, 0].split(
        [part.shape[-1] for part in state], dim=-1
    )


def _edit_direction(layer: nn.RNNBase, first: int, direction: int, place: int, state: Any) -> Any:
    """Return the state of one direction as edited; the units of the other direction are not there."""
    directions = 1 + layer.bidirectional
    whole = torch.stack(tuple(state), dim=1)[:, :, None].expand(-1, -1, directions, -1)  # (row, part, direction, unit)
    edited = edited_units(layer, "state", whole.flatten(1)[:, None], first + place)
    return type(state)(*edited.view(whole.shape)[:, :, direction].unbind(1))


def unroll_directions(
    layer: nn.RNNBase, inputs: Tensor | PackedSequence, start: Any, changes: Sequence[Change]
) -> tuple[Any, Any]:
    """Return what `layer(inputs, start)` returns, with the states of each direction changed after every step."""
    if isinstance(inputs, PackedSequence):
        padded, lengths = pad_packed_sequence(inputs, batch_first=True)
        outputs, final = _unroll(layer, padded, lengths.to(padded.device), start, changes)
        ordered = outputs if inputs.sorted_indices is None else outputs[inputs.sorted_indices]
        places = [ordered[:rows, place] for place, rows in enumerate(inputs.batch_sizes.tolist())]
        return inputs._replace(data=torch.cat(places)), final
    lengths = torch.full((len(inputs),), inputs.shape[1], device=inputs.device)
    return _unroll(layer, inputs, lengths, start, changes)


def _unroll(
    layer: nn.RNNBase, inputs: Tensor, lengths: Int[Tensor, " batch"], start: Any, changes: Sequence[Change]
) -> tuple[Tensor, Any]:
    kind = LstmState if isinstance(layer, nn.LSTM) else HiddenState
    starts = start if isinstance(start, tuple) else None if start is None else (start,)
    rows, outputs, finals = torch.arange(len(lengths), device=lengths.device), [], []
    for direction, change in enumerate(changes):
        begin = None if starts is None else kind(*(part[direction] for part in starts))
        states, _ = unroll(layer, inputs, lengths, begin, backward=direction == 1, change=change)
        ends = torch.zeros_like(lengths) if direction == 1 else lengths - 1
        outputs.append(states.hidden)
        finals.append(tuple(part[rows, ends] for part in states))
    last = tuple(torch.stack(parts) for parts in zip(*finals, strict=True))
    return torch.cat(outputs, dim=-1), last if isinstance(layer, nn.LSTM) else last[0]
