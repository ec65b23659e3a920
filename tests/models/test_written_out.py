"""Layers that run written out match the fused ones in float64, and a changed state reaches all later steps."""

from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from regard.models.recurrent.layers import CELLS
from regard.models.recurrent.written_out import unroll_directions

DEPTH, WIDTH, TIME = 3, 4, 5


def drawn(*shape: int) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(sum(shape)))


def built(cell: str, bidirectional: bool) -> Any:
    torch.manual_seed(7)
    layer: Any = CELLS[cell](DEPTH, WIDTH, batch_first=True, bidirectional=bidirectional, dtype=torch.float64)
    return layer


def unchanged(place: int, state: Any) -> Any:
    return state


@pytest.mark.parametrize("begins", [False, True], ids=["from zero", "from a state"])
@pytest.mark.parametrize("bidirectional", [False, True], ids=["one way", "both ways"])
@pytest.mark.parametrize("cell", CELLS)
def test_without_changes_it_is_the_fused_layer(cell: str, bidirectional: bool, begins: bool) -> None:
    layer, inputs, directions = built(cell, bidirectional), drawn(3, TIME, DEPTH), 1 + bidirectional
    parts = [drawn(directions, 3, WIDTH) + number for number in range(2 if cell == "lstm" else 1)]
    start = None if not begins else tuple(parts) if cell == "lstm" else parts[0]
    outcome = unroll_directions(layer, inputs, start, [unchanged] * directions)
    torch.testing.assert_close(outcome, layer(inputs, start))


@pytest.mark.parametrize("bidirectional", [False, True], ids=["one way", "both ways"])
@pytest.mark.parametrize("cell", CELLS)
def test_packed_rows_stay_packed(cell: str, bidirectional: bool) -> None:
    layer = built(cell, bidirectional)
    packed = pack_padded_sequence(drawn(3, TIME, DEPTH), torch.tensor([2, 5, 2]), True, enforce_sorted=False)
    outputs, final = unroll_directions(layer, packed, None, [unchanged] * (1 + bidirectional))
    expected, expected_final = layer(packed)
    torch.testing.assert_close(outputs.data, expected.data)
    torch.testing.assert_close(final, expected_final)
    assert torch.equal(outputs.batch_sizes, expected.batch_sizes)
    torch.testing.assert_close(pad_packed_sequence(outputs, True), pad_packed_sequence(expected, True))


@pytest.mark.parametrize("cell", CELLS)
def test_a_state_of_zeros_begins_anew(cell: str) -> None:
    layer, inputs = built(cell, bidirectional=True), drawn(2, TIME, DEPTH)

    def forget(place: int, state: Any) -> Any:
        return type(state)(*(part * (place != 2) for part in state))

    outputs, _ = unroll_directions(layer, inputs, None, [forget, forget])
    after, before = layer(inputs[:, 3:])[0], layer(inputs[:, :2])[0]
    torch.testing.assert_close(outputs[:, 3:, :WIDTH], after[..., :WIDTH])  # forward: what follows place 2
    torch.testing.assert_close(outputs[:, :2, WIDTH:], before[..., WIDTH:])  # backward: what precedes it
    assert outputs[:, 2].eq(0).all()
