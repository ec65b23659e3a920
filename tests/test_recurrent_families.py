"""Every family with recurrent layers builds with the cells that torch lacks, and learns with them."""

from pathlib import Path
from typing import Any

import pytest
import torch
from toys import open_toy

from regard.models.recurrent.layers import CELLS
from regard.runs.train import train

FURTHER = ("logistic", "gru-reset-first")  # the toys have the others
TEXTS = ("seq2seq", "online", "ctc-text", "transducer-text", "hred", "rnn", "rnnlm", "bilm")
OTHERS = ("recurrent", "ctc", "online-sounds", "transducer", "sketch-rnn")
PERIODS = [1, 2, 4, 8, 16, 32, 64, 128]  # for a clockwork, otherwise the toy's cell


# Families build their layers from one table, so in turn each tries one cell, and the others in long runs.
EACH_WITH_ONE = [
    pytest.param(toy, cell, marks=[pytest.mark.long] if (number + place) % len(FURTHER) else [])
    for number, toy in enumerate([*TEXTS, *OTHERS])
    for place, cell in enumerate(FURTHER)
]


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("toy", "cell"), EACH_WITH_ONE)
@pytest.mark.usefixtures("no_curves")
def test_each_learns_with_any_cell(tmp_path: Path, toy: str, cell: str) -> None:
    model: dict[str, Any] = {"cell": cell} | ({"periods": PERIODS} if toy == "recurrent" else {})
    run = open_toy(toy, tmp_path, **model)
    before = {name: weight.clone() for name, weight in _recurrent_weights(run, cell).items()}
    train(run, [])
    after = _recurrent_weights(run, cell)
    assert before.keys() == after.keys() != set()
    for name, weight in after.items():
        assert weight.isfinite().all(), name
        assert not torch.equal(weight, before[name]), name


def _recurrent_weights(run: Any, cell: str) -> dict[str, torch.Tensor]:
    """Return the state-to-state matrices of all layers with this cell."""
    layers = {name: part for name, part in run.task.named_modules() if isinstance(part, CELLS[cell])}
    return {name: part.weight_hh_l0.detach() for name, part in layers.items()}
