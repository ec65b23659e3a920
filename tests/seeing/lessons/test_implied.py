"""The attention that a GRU implies: by hand, as attention, and recombined into torch's GRU output."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.overrides import TorchFunctionMode
from untrained import untrained

from regard.base.faults import Fault
from regard.models.recurrent.cells import HiddenState, unroll
from regard.models.recurrent.implied import implied_weights, mean_weights, recombine
from regard.models.recurrent.reset_first import ResetFirstGru
from regard.seeing.lessons.implied import START, implied_matrices

TEXT = "Ana reads a green book."


def test_weights_on_paper() -> None:
    """Gates 1/2, 1/4: the first state is half start, half n₁; the second 1/8 start, 1/8 n₁ and 3/4 n₂."""
    update = torch.tensor([[[0.5], [0.25]]])
    assert implied_weights(update)[0, :, :, 0].tolist() == [[0.5, 0.5, 0], [0.125, 0.125, 0.75]]
    assert implied_weights(update, backward=True)[0, :, :, 0].tolist() == [[0.5, 0.375, 0.125], [0, 0.75, 0.25]]


@pytest.mark.parametrize("backward", [False, True], ids=["forward", "backward"])
@pytest.mark.parametrize("kind", [nn.GRU, ResetFirstGru], ids=["torch's", "reset first"])
@pytest.mark.parametrize(("batch", "time", "width"), [(1, 1, 1), (2, 7, 5)])
def test_recombined_they_are_the_states_of_the_gru(
    batch: int, time: int, width: int, kind: type[nn.GRU], backward: bool
) -> None:
    torch.manual_seed(time)
    gru = kind(3, width, batch_first=True, bidirectional=True, dtype=torch.float64)
    inputs = torch.randn(batch, time, 3, dtype=torch.float64)
    starts = torch.randn(2, batch, width, dtype=torch.float64)
    outputs, _ = gru(inputs, starts)
    start = starts[int(backward)]
    _, gates = unroll(gru, inputs, start=HiddenState(start), backward=backward)
    weights = implied_weights(gates.update, backward)
    result = recombine(weights, gates.candidate, start, backward)
    torch.testing.assert_close(result, outputs[..., width:] if backward else outputs[..., :width])
    torch.testing.assert_close(weights.sum(dim=2), torch.ones_like(weights[:, :, 0]))
    assert weights.ge(0).all()
    unread = torch.ones(time, time + 1).triu(2).bool()  # a state holds nothing of later inputs
    assert weights[:, unread.flip(0, 1) if backward else unread].eq(0).all()


@pytest.mark.parametrize("backward", [False, True], ids=["forward", "backward"])
def test_the_mean_is_taken_row_by_row(backward: bool) -> None:
    update = torch.rand(2, 9, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    torch.testing.assert_close(mean_weights(update, backward), implied_weights(update, backward).mean(dim=-1))


def test_a_long_text_takes_little_memory() -> None:
    """No tensor is larger than one row of weights, or than all their means."""
    sizes: list[int] = []

    class Sizes(TorchFunctionMode):
        def __torch_function__(self, function: Any, types: Any, given: Any = (), named: Any = None) -> Any:
            result = function(*given, **(named or {}))
            if isinstance(result, torch.Tensor):
                sizes.append(result.numel())
            return result

    with Sizes():
        mean_weights(torch.full((1, 60, 40), 0.5), backward=True)
    assert max(sizes) == 61 * 60


def test_matrices_of_a_model(tmp_path: Path) -> None:
    model = untrained(tmp_path, cell="gru", decoder="bahdanau")
    forward, backward, learnt = implied_matrices(model, TEXT, "Ana lê.")
    words = ["Ana", "reads", "a", "green", "book", ".", "</s>"]
    assert forward.rows == backward.rows == words
    assert forward.columns == [START, *words]
    assert backward.columns == [*words, START]
    assert learnt.rows == ["Ana", "lê", ".", "</s>"]
    for matrix in (forward, backward, learnt):
        np.testing.assert_allclose(matrix.weights.sum(axis=1), 1)
    assert not np.triu(forward.weights, 2).any()
    assert not np.tril(backward.weights, -1).any()


def test_a_matrix_is_the_mean_over_the_units(tmp_path: Path) -> None:
    """The first state of the lowest layer has 1 − z of its own candidate."""
    model = untrained(tmp_path, cell="gru", bidirectional=False)
    network = model.task.model
    embedded = network.source_embedding(model.task.read([TEXT]).source).double()
    _, gates = unroll(network.encoder.layers[0].double(), embedded)
    forward, learnt = implied_matrices(untrained(tmp_path, cell="gru", bidirectional=False), TEXT, "Ana")
    assert forward.weights[0, 1] == pytest.approx(1 - gates.update[0, 0].mean().item())
    assert learnt.title == "learnt by the decoder"


def test_layers_can_be_chosen_and_a_bottleneck_learnt_nothing(tmp_path: Path) -> None:
    model = untrained(tmp_path, cell="gru", decoder="bottleneck", encoder_layers=2, bidirectional=False)
    (first,) = implied_matrices(model, TEXT, "Ana")
    (second,) = implied_matrices(model, TEXT, "Ana", layer=2)
    assert not np.allclose(first.weights, second.weights)
    with pytest.raises(Fault, match="has 2 recurrent layers; there is no layer 3"):
        implied_matrices(model, TEXT, "Ana", layer=3)


def test_other_cells_and_families_are_refused(tmp_path: Path) -> None:
    for cell in ("lstm", "vanilla"):
        with pytest.raises(Fault, match=f"cells of this model are {cell}; `regard show implied` needs a seq2seq of"):
            implied_matrices(untrained(tmp_path / cell, cell=cell), TEXT)
    with pytest.raises(Fault, match="transformer has no recurrent layers; `regard show implied` needs"):
        implied_matrices(untrained(tmp_path / "transformer", "transformer"), TEXT)
