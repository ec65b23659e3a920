"""Sequence networks: refusals, outputs, and no influence of later steps on earlier outputs."""

from typing import Any

import pytest
import torch
from torch import nn

from regard.base.faults import Fault
from regard.base.recipe import check
from regard.models.sequences.decoder import DecoderOptions, DecoderSequence
from regard.models.sequences.recurrent import RecurrentOptions, RecurrentSequence
from regard.models.sequences.shape import SequenceNetwork, SequenceShape

EACH = SequenceShape(length=7, depth=3, outputs=2, at_each_step=True)
LAST = EACH._replace(at_each_step=False)
SMALL: dict[str, dict[str, Any]] = {
    "vanilla": {},
    "lstm": {"layers": 2},
    "gru": {"orthogonal": False},
    "clockwork": {"periods": [1, 2, 4], "layers": 2},
    "delays": {"delays": [1, 3]},
}


def network(kind: str, shape: SequenceShape) -> nn.Module:
    torch.manual_seed(1)
    if kind == "decoder":
        return DecoderSequence(DecoderOptions(width=8, layers=2, heads=2, feed_forward=6), shape)
    return RecurrentSequence(RecurrentOptions(cell=kind, width=6, **SMALL[kind]), shape)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", [*SMALL, "decoder"])
def test_the_last_output_is_the_last_of_all_and_later_steps_change_no_earlier_one(kind: str) -> None:
    every_step, last = network(kind, EACH).eval(), network(kind, LAST).eval()
    assert isinstance(every_step, SequenceNetwork)
    inputs = torch.randn(2, 7, 3)
    outputs = every_step(inputs)
    assert outputs.shape == (2, 7, 2)
    torch.testing.assert_close(last(inputs), outputs[:, -1])
    changed = inputs.clone()
    changed[:, 4:] += 1
    torch.testing.assert_close(every_step(changed)[:, :4], outputs[:, :4])
    assert not torch.allclose(every_step(changed)[:, 4:], outputs[:, 4:])


@pytest.mark.parametrize("cell", ["lstm", "gru", "gru-reset-first"])
@torch.no_grad()
def test_gates_that_remember_start_with_every_time_scale(cell: Any) -> None:
    """Without input a unit keeps 1 − 1 / (1 + u) of its state a step, where u is between 1 and T − 1."""
    torch.manual_seed(1)
    made = RecurrentSequence(RecurrentOptions(cell=cell, width=400, remembers=101), EACH)
    layer: Any = made.stack.layers[0]  # type: ignore[index]
    layer.weight_ih_l0.zero_()
    layer.weight_hh_l0.zero_()
    held = torch.full((1, 1, 400), 0.5)
    _, state = layer(torch.zeros(1, 1, 3), (torch.zeros_like(held), held) if cell == "lstm" else held)
    kept = (state[1] if cell == "lstm" else state).flatten() / 0.5
    steps = kept / (1 - kept)
    assert 1 <= steps.min() < 3
    assert 97 < steps.max() <= 100.1
    assert 45 < steps.mean() < 56


def test_what_a_sequence_costs() -> None:
    """An LSTM of width 2 over 3 numbers: 4 gates of 2 · (3 + 2) per step, and 2 · 2 for every output."""
    lstm = RecurrentSequence(RecurrentOptions(width=2), EACH)
    assert lstm.multiplications(5) == 5 * (4 * 2 * 5 + 4)
    decoder = DecoderSequence(DecoderOptions(width=2, layers=1, heads=1, feed_forward=3), LAST)
    # W 6, attention 4 · 4, feed-forward 12 at each step; 2 · 2 for each pair of steps; one output
    assert decoder.multiplications(5) == 5 * (6 + 16 + 12) + 25 * 4 + 4


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"periods": [1, 3]}, "periods is for cell = 'clockwork', but cell is 'lstm'"),
        (
            {"cell": "clockwork", "orthogonal": False},
            "orthogonal is for cell = 'vanilla, lstm, gru, logistic",
        ),
        ({"cell": "vanilla", "remembers": 9}, "remembers is for cell = 'lstm, gru, gru-reset-first', but cell is 'v"),
        ({"cell": "clockwork", "periods": [2, 3], "width": 4}, "each to be a multiple of the one before it"),
        ({"cell": "clockwork", "periods": [1, 2, 4], "width": 4}, "width 4 cannot be shared out among 3 modules"),
        ({"cell": "delays", "delays": [2, 3]}, "expected 1 and then larger ones"),
        ({"cell": "delays", "delays": [1, 5, 5]}, "expected 1 and then larger ones"),
    ],
)
def test_what_fits_no_cell_is_refused(table: dict[str, Any], words: str) -> None:
    with pytest.raises(Fault, match=words):
        check(RecurrentOptions, table, "model")


def test_heads_that_do_not_share_a_width_are_refused() -> None:
    with pytest.raises(Fault, match="cannot be shared out among 3 heads"):
        check(DecoderOptions, {"width": 8, "heads": 3}, "model")
