"""Recurrent stacks compared with torch's own, on whole inputs, on rows of different lengths, and step by step."""

import pytest
import torch
from torch import nn

from regard.models.recurrent.layers import CELLS, Stack


@pytest.fixture(params=CELLS)
def cell(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def build(cell: str, **more: object) -> Stack:
    torch.manual_seed(0)
    return Stack(cell, 5, 8, 2, **more).double().eval()


def inputs() -> torch.Tensor:
    return torch.randn(3, 6, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("cell", ["vanilla", "lstm", "gru"])  # torch has no others
def test_two_layers_are_torchs_two_layers(cell: str) -> None:
    ours = build(cell)
    theirs = CELLS[cell](5, 8, num_layers=2, batch_first=True, dtype=torch.float64)
    with torch.no_grad():
        for number, layer in enumerate(ours.layers):
            for name, weight in layer.named_parameters():
                getattr(theirs, name.replace("l0", f"l{number}")).copy_(weight)
    outputs, finals = ours(inputs())
    expected, last = theirs(inputs())
    torch.testing.assert_close(outputs, expected)
    top = last[0][1] if cell == "lstm" else last[1]
    torch.testing.assert_close(finals[-1][0], top)


@pytest.mark.parametrize("residual", [False, True])
def test_step_by_step_is_whole(cell: str, residual: bool) -> None:
    stack = build(cell, residual=residual)
    whole, finals = stack(inputs())
    states = [tuple(torch.zeros(3, 8, dtype=torch.float64) for _ in final) for final in finals]
    for place in range(6):
        output, states = stack.step(inputs()[:, place], states)
        torch.testing.assert_close(output, whole[:, place])
    torch.testing.assert_close(states, finals)
    later, _ = stack(inputs()[:, 2:], stack(inputs()[:, :2])[1])
    torch.testing.assert_close(later, whole[:, 2:])


@pytest.mark.parametrize("bidirectional", [False, True])
def test_padding_is_read_from_neither_end(cell: str, bidirectional: bool) -> None:
    stack, lengths = build(cell, bidirectional=bidirectional), torch.tensor([6, 2, 4])
    together, last = stack.read(inputs(), lengths)
    for row, length in enumerate(lengths.tolist()):
        alone, state = stack.read(inputs()[row : row + 1, :length], lengths[row : row + 1])
        torch.testing.assert_close(together[row, :length], alone[0])
        torch.testing.assert_close(last[row], state[0])
    torch.testing.assert_close(stack.last(inputs(), lengths), last)
    behind = together[torch.arange(3), lengths - 1]
    torch.testing.assert_close(last[:, :4], behind[:, :4])  # forwards: after the last token
    if bidirectional:
        torch.testing.assert_close(last[:, 4:], together[:, 0, 4:])  # backwards: at the first


def test_a_residual_connection_adds_what_went_in(cell: str) -> None:
    plain, residual = build(cell), build(cell, residual=True)
    first, _ = residual.layers[0](inputs())
    above, _ = residual.layers[1](first)
    torch.testing.assert_close(residual(inputs())[0], first + above)
    torch.testing.assert_close(plain(inputs())[0], above)


def test_dropout_falls_between_layers_alone() -> None:
    torch.manual_seed(0)
    one, two = Stack("gru", 5, 8, 1, dropout=0.5), Stack("gru", 5, 8, 2, dropout=0.5)
    some = torch.randn(2, 3, 5)
    assert torch.equal(one(some)[0], one(some)[0])
    assert not torch.allclose(two(some)[0], two(some)[0])
    torch.testing.assert_close(two.eval()(some)[0], two(some)[0])


def test_recurrent_matrices_begin_orthogonal_and_forget_gates_open() -> None:
    layer = build("lstm").layers[0]
    assert isinstance(layer, nn.LSTM)
    for gate in layer.weight_hh_l0.chunk(4):
        torch.testing.assert_close(gate @ gate.T, torch.eye(8, dtype=torch.float64), atol=1e-6, rtol=0)
    assert layer.bias_ih_l0.chunk(4)[1].tolist() == [1.0] * 8
    assert not layer.bias_hh_l0.any()


@pytest.mark.parametrize("bidirectional", [False, True])
def test_weights_are_dropped_from_state_to_state(cell: str, bidirectional: bool) -> None:
    stack = build(cell, weight_drop=0.5, bidirectional=bidirectional).train()
    assert not torch.allclose(stack(inputs())[0], stack(inputs())[0])
    torch.testing.assert_close(stack.eval()(inputs())[0], build(cell, bidirectional=bidirectional)(inputs())[0])
