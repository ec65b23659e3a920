"""Recurrent layers run written out, step by step, so that their states can be changed between two steps."""

from typing import Any

import torch
from jaxtyping import Int
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pad_packed_sequence

from regard.models.recurrent.cells import Change, HiddenState, LstmState, unroll


def read_written_out(
    layer: nn.RNNBase, inputs: Tensor | PackedSequence, start: Any, changes: tuple[Change, ...]
) -> tuple[Any, Any]:
    """Return what `layer(inputs, start)` returns, with the states of each direction changed after every step."""
    if isinstance(inputs, PackedSequence):
        padded, lengths = pad_packed_sequence(inputs, batch_first=True)
        outputs, final = _read(layer, padded, lengths.to(padded.device), start, changes)
        ordered = outputs if inputs.sorted_indices is None else outputs[inputs.sorted_indices]
        places = [ordered[:rows, place] for place, rows in enumerate(inputs.batch_sizes.tolist())]
        return inputs._replace(data=torch.cat(places)), final
    lengths = torch.full((len(inputs),), inputs.shape[1], device=inputs.device)
    return _read(layer, inputs, lengths, start, changes)


def _read(
    layer: nn.RNNBase, inputs: Tensor, lengths: Int[Tensor, " batch"], start: Any, changes: tuple[Change, ...]
) -> tuple[Tensor, Any]:
    starts = start if isinstance(start, tuple) else None if start is None else (start,)
    outputs, finals = [], []
    for number, change in enumerate(changes):
        kind = LstmState if isinstance(layer, nn.LSTM) else HiddenState
        begin = None if starts is None else kind(*(part[number] for part in starts))
        states, _ = unroll(layer, inputs, lengths, begin, backward=number == 1, change=change)
        ends = torch.zeros_like(lengths) if number == 1 else lengths - 1
        rows = torch.arange(len(ends), device=ends.device)
        outputs.append(states.hidden)
        finals.append(tuple(part[rows, ends] for part in states))
    last = tuple(torch.stack(parts) for parts in zip(*finals, strict=True))
    return torch.cat(outputs, dim=-1), last if isinstance(layer, nn.LSTM) else last[0]
