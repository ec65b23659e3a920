"""Written-out cells match torch's fused ones in float64 at torch's tolerance, and some answers by hand."""

import math
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from regard.models.recurrent.cells import (
    HiddenState,
    LstmState,
    Weights,
    gru_step,
    lstm_step,
    step_of,
    unroll,
    vanilla_step,
    weights_of,
    zero_state,
)

KINDS = {"vanilla": nn.RNN, "lstm": nn.LSTM, "gru": nn.GRU}
SIZES = [(1, 1, 1, 1), (3, 5, 2, 7), (8, 4, 3, 12)]  # depth, width, batch, time


def built(kind: str, depth: int, width: int, **more: Any) -> Any:
    torch.manual_seed(depth + width)
    return KINDS[kind](depth, width, batch_first=True, dtype=torch.float64, **more)


def drawn(*shape: int) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(sum(shape)))


def by_direction(outputs: Tensor, width: int, backward: bool) -> Tensor:
    return outputs[..., width:] if backward else outputs[..., :width]


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.parametrize(("depth", "width", "batch", "time"), SIZES)
def test_one_step_is_torchs_cell(kind: str, depth: int, width: int, batch: int, time: int) -> None:
    module = built(kind, depth, width)
    inputs, hidden, cell = drawn(batch, depth), drawn(batch, width), drawn(batch, width).exp()
    weights = weights_of(module)
    match kind:
        case "vanilla":
            outcome, expected = vanilla_step(inputs, HiddenState(hidden), weights)[0], (torch.rnn_tanh_cell,)
        case "gru":
            outcome, expected = gru_step(inputs, HiddenState(hidden), weights)[0], (torch.gru_cell,)
        case _:
            after, _ = lstm_step(inputs, LstmState(hidden, cell), weights)
            torch.testing.assert_close(tuple(after), torch.lstm_cell(inputs, [hidden, cell], *weights))
            return
    torch.testing.assert_close(outcome.hidden, expected[0](inputs, hidden, *weights))


@pytest.mark.parametrize("backward", [False, True], ids=["forward", "backward"])
@pytest.mark.parametrize(("depth", "width", "batch", "time"), SIZES)
def test_a_whole_sequence_is_torchs(kind: str, depth: int, width: int, batch: int, time: int, backward: bool) -> None:
    module = built(kind, depth, width, bidirectional=True)
    inputs = drawn(batch, time, depth)
    outputs, _ = module(inputs)
    states, _ = unroll(module, inputs, backward=backward)
    torch.testing.assert_close(states.hidden, by_direction(outputs, width, backward))


@pytest.mark.parametrize("backward", [False, True], ids=["forward", "backward"])
def test_rows_of_different_lengths_are_torchs_packed_ones(kind: str, backward: bool) -> None:
    module = built(kind, 3, 4, bidirectional=True)
    inputs, lengths = drawn(3, 6, 3), torch.tensor([4, 6, 1])
    packed, _ = module(pack_padded_sequence(inputs, lengths, batch_first=True, enforce_sorted=False))
    outputs, _ = pad_packed_sequence(packed, batch_first=True)
    states, gates = unroll(module, inputs, lengths, backward=backward)
    torch.testing.assert_close(states.hidden, by_direction(outputs, 4, backward))
    assert all(part[2, 1:].eq(0).all() for part in (*states, *gates))


def test_a_sequence_can_begin_from_any_state(kind: str) -> None:
    module = built(kind, 3, 4)
    inputs = drawn(2, 5, 3)
    whole, _ = unroll(module, inputs)
    middle = type(whole)(*(part[:, 1] for part in whole))
    rest, _ = unroll(module, inputs[:, 2:], start=middle)
    torch.testing.assert_close(rest.hidden, whole.hidden[:, 2:])


def test_the_memory_of_an_lstm_is_torchs() -> None:
    module = built("lstm", 3, 4)
    inputs = drawn(2, 5, 3)
    _, (hidden, cell) = module(inputs)
    states, _ = unroll(module, inputs)
    torch.testing.assert_close(states.hidden[:, -1], hidden[0])
    torch.testing.assert_close(states.cell[:, -1], cell[0])


def test_gates_make_the_states(kind: str) -> None:
    """c' = f c + i g and h' = (1 − z) n + z h, with the returned gates."""
    module = built(kind, 3, 4)
    states, gates = unroll(module, drawn(2, 5, 3))
    before, after = states.hidden[:, :-1], states.hidden[:, 1:]
    late = type(gates)(*(part[:, 1:] for part in gates))
    match kind:
        case "lstm":
            cell = late.forget * states.cell[:, :-1] + late.input * late.candidate
            torch.testing.assert_close(states.cell[:, 1:], cell)
            torch.testing.assert_close(after, late.output * cell.tanh())
        case "gru":
            torch.testing.assert_close(after, (1 - late.update) * late.candidate + late.update * before)
        case _:
            assert gates == ()


def test_cells_of_one_unit_on_paper() -> None:
    """All weights are zero except the biases: every gate is σ of its bias, for any input."""
    half, three_quarters = math.log(1), math.log(3)  # σ(0) = 1/2, σ(log 3) = 3/4
    nothing, one = torch.zeros(1, dtype=torch.float64), torch.ones(1, dtype=torch.float64)

    def weights(*biases: float) -> Weights:
        of_nothing = torch.zeros(len(biases), 1, dtype=torch.float64)
        return Weights(of_nothing, of_nothing, torch.tensor(biases, dtype=torch.float64), of_nothing[:, 0])

    state, gates = lstm_step(one, LstmState(one, 2 * one), weights(half, three_quarters, 1.0, half))
    assert (gates.input.item(), gates.forget.item(), gates.output.item()) == pytest.approx((0.5, 0.75, 0.5))
    assert state.cell.item() == pytest.approx(0.75 * 2 + 0.5 * math.tanh(1))
    assert state.hidden.item() == pytest.approx(0.5 * math.tanh(1.5 + 0.5 * math.tanh(1)))
    after, _ = gru_step(one, HiddenState(2 * one), weights(half, three_quarters, 1.0))
    assert after.hidden.item() == pytest.approx(0.25 * math.tanh(1) + 0.75 * 2)
    hidden, _ = vanilla_step(nothing, HiddenState(one), Weights(one[None], 2 * one[None], one, nothing))
    assert hidden.hidden.item() == pytest.approx(math.tanh(2 * 1 + 1))


def test_a_module_without_biases(kind: str) -> None:
    module = built(kind, 3, 4, bias=False)
    inputs = drawn(2, 5, 3)
    torch.testing.assert_close(unroll(module, inputs)[0].hidden, module(inputs)[0])


def test_nothing_is_remembered_at_the_start(kind: str) -> None:
    start = zero_state(built(kind, 3, 4), drawn(2, 3))
    assert len(start) == (2 if kind == "lstm" else 1)
    assert all(part.shape == (2, 4) and part.eq(0).all() for part in start)


def test_other_modules_are_refused() -> None:
    with pytest.raises(ValueError, match="with tanh and without a projection"):
        step_of(nn.RNN(2, 2, nonlinearity="relu"))
    with pytest.raises(ValueError, match="with tanh and without a projection"):
        step_of(nn.LSTM(2, 4, proj_size=2))
    with pytest.raises(TypeError, match=r"RNNBase is none of nn\.RNN, nn\.LSTM and nn\.GRU"):
        step_of(nn.RNNBase("GRU", 2, 2))
