"""Cells that torch lacks, compared in float64 with their equations written out here."""

import pytest
import torch
from torch import Tensor
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from regard.models.recurrent.cells import logistic_step, reset_first_gru_step, step_of, unroll
from regard.models.recurrent.layers import CELLS
from regard.models.recurrent.logistic import Logistic
from regard.models.recurrent.reset_first import ResetFirstGru
from regard.seeing.lessons.jacobians import (
    STEEPEST_LOGISTIC,
    bounds_by_distance,
    norms_by_distance,
    step_jacobians,
)

DEPTH, WIDTH, TIME = 3, 4, 6
FURTHER = {"logistic": Logistic, "gru-reset-first": ResetFirstGru}


@pytest.fixture(params=FURTHER)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def built(kind: str, **more: bool) -> Logistic | ResetFirstGru:
    torch.manual_seed(3)
    return FURTHER[kind](DEPTH, WIDTH, dtype=torch.float64, **more)


def drawn(*shape: int) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(sum(shape)))


def logistic_by_hand(module: Logistic, inputs: Tensor, state: Tensor) -> Tensor:
    """σ(W x + U h + b), where the bias is the sum of torch's two."""
    bias = module.bias_ih_l0 + module.bias_hh_l0
    return 1 / (1 + torch.exp(-(inputs @ module.weight_ih_l0.T + state @ module.weight_hh_l0.T + bias)))


def gru_by_hand(module: ResetFirstGru, inputs: Tensor, state: Tensor) -> Tensor:
    """Candidate tanh(W x + U (r ⊙ h) + b), mixed as (1 − z) h + z times the candidate."""
    (w_r, w_z, w_n), (u_r, u_z, u_n) = module.weight_ih_l0.chunk(3), module.weight_hh_l0.chunk(3)
    b_r, b_z, b_n = (module.bias_ih_l0 + module.bias_hh_l0).chunk(3)
    reset = torch.sigmoid(inputs @ w_r.T + state @ u_r.T + b_r)
    renewed = torch.sigmoid(inputs @ w_z.T + state @ u_z.T + b_z)
    candidate = torch.tanh(inputs @ w_n.T + (reset * state) @ u_n.T + b_n)
    return (1 - renewed) * state + renewed * candidate


BY_HAND = {"logistic": logistic_by_hand, "gru-reset-first": gru_by_hand}


def test_a_whole_sequence_is_the_printed_formula(kind: str) -> None:
    module, inputs, state = built(kind), drawn(2, TIME, DEPTH), torch.zeros(2, WIDTH, dtype=torch.float64)
    outputs, final = module(inputs)
    for place in range(TIME):
        assert torch.allclose(module.step(inputs[:, place], state), BY_HAND[kind](module, inputs[:, place], state))
        state = BY_HAND[kind](module, inputs[:, place], state)
        torch.testing.assert_close(outputs[:, place], state)
    torch.testing.assert_close(final[0], state)


@pytest.mark.parametrize("backward", [False, True], ids=["forward", "backward"])
def test_written_out_it_is_the_layer_in_rows_of_different_lengths(kind: str, backward: bool) -> None:
    module, inputs, lengths = built(kind, bidirectional=True), drawn(3, TIME, DEPTH), torch.tensor([4, TIME, 1])
    packed, final = module(pack_padded_sequence(inputs, lengths, batch_first=True, enforce_sorted=False))
    outputs, _ = pad_packed_sequence(packed, batch_first=True)
    states, _ = unroll(module, inputs, lengths, backward=backward)
    half = outputs[..., WIDTH:] if backward else outputs[..., :WIDTH]
    torch.testing.assert_close(states.hidden, half)
    last = half[:, 0] if backward else half[torch.arange(3), lengths - 1]
    torch.testing.assert_close(final[int(backward)], last)


def test_a_packed_row_can_begin_from_any_state(kind: str) -> None:
    module, inputs, lengths = built(kind, bidirectional=True), drawn(3, TIME, DEPTH), torch.tensor([2, TIME, 5])
    start = drawn(2, 3, WIDTH).sigmoid()
    packed, _ = module(pack_padded_sequence(inputs, lengths, batch_first=True, enforce_sorted=False), start)
    together, _ = pad_packed_sequence(packed, batch_first=True)
    for row, length in enumerate(lengths.tolist()):
        alone, _ = module(inputs[row : row + 1, :length], start[:, row : row + 1])
        torch.testing.assert_close(together[row, :length], alone[0])


@pytest.mark.one_in(2)
def test_gradients_are_those_of_finite_differences(kind: str) -> None:
    module, inputs = built(kind, bidirectional=True), drawn(2, 3, DEPTH).requires_grad_()
    names = [name for name, _ in module.named_parameters()]
    weights = [weight.detach().requires_grad_() for weight in module.parameters()]

    def outputs(inputs: Tensor, *weights: Tensor) -> Tensor:
        named = dict(zip(names, weights, strict=True))
        return torch.func.functional_call(module, named, (inputs,))[0]

    assert torch.autograd.gradcheck(outputs, (inputs, *weights))


def test_each_has_its_own_step() -> None:
    assert step_of(built("logistic")) is logistic_step
    assert step_of(built("gru-reset-first")) is reset_first_gru_step


def test_the_two_grus_differ_only_by_where_the_reset_gate_stands_and_by_the_sign_of_z() -> None:
    """With one unit r ⊙ (U h) is U (r ⊙ h), so −Wz, −Uz and −bz turn our GRU into torch's."""
    torch.manual_seed(1)
    ours, theirs = ResetFirstGru(DEPTH, 1, dtype=torch.float64), CELLS["gru"](DEPTH, 1, dtype=torch.float64)
    theirs.batch_first = True
    weights = {name: weight.clone() for name, weight in ours.state_dict().items()}
    weights["bias_ih_l0"] += weights["bias_hh_l0"]  # torch's state bias is inside the reset gate
    weights["bias_hh_l0"] *= 0
    for weight in weights.values():
        weight[1] *= -1
    theirs.load_state_dict(weights)
    torch.testing.assert_close(ours(drawn(2, TIME, DEPTH))[0], theirs(drawn(2, TIME, DEPTH))[0])
    wide = built("gru-reset-first")
    with_reset_last = CELLS["gru"](DEPTH, WIDTH, batch_first=True, dtype=torch.float64)
    weights = {name: torch.cat([r, -z, n]) for name, (r, z, n) in _thirds(wide)}
    with_reset_last.load_state_dict(weights)
    assert not torch.allclose(wide(drawn(2, TIME, DEPTH))[0], with_reset_last(drawn(2, TIME, DEPTH))[0])


def _thirds(module: ResetFirstGru) -> list[tuple[str, tuple[Tensor, ...]]]:
    return [(name, weight.detach().chunk(3)) for name, weight in module.named_parameters()]


def test_the_jacobian_of_a_logistic_step_is_autograds() -> None:
    module, inputs = built("logistic"), drawn(TIME, DEPTH)
    before = unroll(module, inputs[None])[0].hidden[0, -2]
    expected = torch.func.jacrev(lambda state: logistic_by_hand(module, inputs[-1], state))(before)
    torch.testing.assert_close(step_jacobians(module, inputs)[-1], expected)


@pytest.mark.parametrize("gain", [1.0, 3.9, 12.0])
def test_a_logistic_gradient_is_under_a_quarter_of_the_norm_of_u(gain: float) -> None:
    """With an orthogonal U, whose norm is one, a gradient is therefore at most 4⁻ᵈ after d steps."""
    module = built("logistic")
    with torch.no_grad():
        torch.nn.init.orthogonal_(module.weight_hh_l0).mul_(gain)
        norms = norms_by_distance(step_jacobians(module, drawn(TIME, DEPTH)))
    bounds = bounds_by_distance(module.weight_hh_l0.detach(), TIME, STEEPEST_LOGISTIC)
    assert bounds == pytest.approx([(gain / 4) ** distance for distance in range(TIME + 1)])
    assert all(norm <= bound * (1 + 1e-12) for norm, bound in zip(norms, bounds, strict=True))


def test_a_logistic_cell_at_a_half_reaches_its_bound() -> None:
    """Where W x + U h + b = 0, σ′ = ¼: with b = −½ U·1 and no inputs, h = ½ is a fixed point."""
    module = built("logistic")
    with torch.no_grad():
        torch.nn.init.orthogonal_(module.weight_hh_l0)
        module.weight_ih_l0.zero_()
        module.bias_hh_l0.zero_()
        module.bias_ih_l0.copy_(-module.weight_hh_l0.sum(1) / 2)
        half = torch.full((1, WIDTH), 0.5, dtype=torch.float64)
        jacobian = torch.func.jacrev(lambda state: module.step(drawn(1, DEPTH), state)[0])(half)[:, 0]
    assert float(torch.linalg.matrix_norm(jacobian, ord=2)) == pytest.approx(0.25)
