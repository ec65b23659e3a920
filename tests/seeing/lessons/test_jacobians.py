"""Jacobians of recurrent steps: by hand, compared with autograd through torch's modules, and below their bound."""

import pytest
import torch
from torch import Tensor, nn

from regard.models.recurrent.layers import CELLS
from regard.seeing.lessons.jacobians import bounds_by_distance, norms_by_distance, step_jacobians, vanilla_jacobians

TIME, DEPTH, WIDTH = 6, 3, 4


def built(kind: str, seed: int = 1) -> nn.RNNBase:
    torch.manual_seed(seed)
    return CELLS[kind](DEPTH, WIDTH, batch_first=True, bidirectional=True, dtype=torch.float64)


def drawn(*shape: int) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(sum(shape)))


@pytest.fixture(params=CELLS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def whole_jacobian(module: nn.RNNBase, inputs: Tensor, steps: int) -> Tensor:
    """Return ∂ state_T / ∂ state_{T−steps} of torch's fused module, forward direction, by autograd."""
    forward = type(module)(DEPTH, WIDTH, batch_first=True, dtype=torch.float64)
    forward.load_state_dict({name: weight for name, weight in module.state_dict().items() if "reverse" not in name})

    def run(state: Tensor, inputs: Tensor) -> Tensor:
        parts = tuple(part[None, None] for part in state.chunk(2)) if isinstance(module, nn.LSTM) else state[None, None]
        final = forward(inputs[None], parts)[1]
        return torch.cat([part.flatten() for part in (final if isinstance(final, tuple) else (final,))])

    size = 2 * WIDTH if isinstance(module, nn.LSTM) else WIDTH
    middle = run(torch.zeros(size, dtype=torch.float64), inputs[: TIME - steps])
    return torch.autograd.functional.jacobian(lambda state: run(state, inputs[TIME - steps :]), middle)


@pytest.mark.parametrize("steps", [1, 3, TIME - 1])
def test_products_of_steps_are_the_whole(kind: str, steps: int) -> None:
    module, inputs = built(kind), drawn(TIME, DEPTH)
    product = torch.linalg.multi_dot([*step_jacobians(module, inputs).flip(0)[:steps], torch.eye(2 * WIDTH).double()[
        : WIDTH * (2 if kind == "lstm" else 1), : WIDTH * (2 if kind == "lstm" else 1)]])  # fmt: skip
    torch.testing.assert_close(product, whole_jacobian(module, inputs, steps))


def test_the_formula_of_the_vanilla_cell_is_autograds() -> None:
    module, inputs = built("vanilla"), drawn(TIME, DEPTH)
    jacobians = step_jacobians(module, inputs)
    torch.testing.assert_close(jacobians[-1], whole_jacobian(module, inputs, 1))
    hidden = module(inputs[None])[0][0, :, :WIDTH]
    torch.testing.assert_close(jacobians, vanilla_jacobians(hidden, module.weight_hh_l0))


def test_backward_is_forward_over_the_reversed_inputs(kind: str) -> None:
    module, inputs = built(kind), drawn(TIME, DEPTH)
    swapped = built(kind)
    weights = module.state_dict()
    swapped.load_state_dict(
        {name: weights[name.removesuffix("_reverse") if "reverse" in name else f"{name}_reverse"] for name in weights}
    )
    torch.testing.assert_close(step_jacobians(module, inputs, backward=True), step_jacobians(swapped, inputs.flip(0)))


def test_norms_by_distance_on_paper() -> None:
    """diag(2, 1) after diag(1, 3) is diag(2, 3); for the first coordinate alone the norms are 2 and 2."""
    steps = torch.stack([torch.diag(torch.tensor([1.0, 3.0])), torch.diag(torch.tensor([2.0, 1.0]))])
    assert norms_by_distance(steps) == pytest.approx([1, 2, 3])
    assert norms_by_distance(steps, slice(1)) == pytest.approx([1, 2, 2])


def test_a_cell_at_rest_reaches_its_bound() -> None:
    """Without inputs and biases h stays 0, where tanh′ = 1: ‖∂h_T/∂h_k‖ equals the bound, here 1.5^d."""
    module = nn.RNN(2, 2, batch_first=True, bias=False, dtype=torch.float64)
    with torch.no_grad():
        module.weight_hh_l0.copy_(torch.tensor([[0.0, -1.5], [1.5, 0.0]]))
    norms = norms_by_distance(step_jacobians(module, torch.zeros(4, 2, dtype=torch.float64)).detach())
    assert norms == pytest.approx([1.5**distance for distance in range(5)])
    assert bounds_by_distance(module.weight_hh_l0.detach(), 4) == pytest.approx(norms)


@pytest.mark.parametrize("seed", range(5))
def test_no_vanilla_cell_exceeds_its_bound(seed: int) -> None:
    module = built("vanilla", seed)
    with torch.no_grad():
        module.weight_hh_l0.mul_(1 + seed)
        norms = norms_by_distance(step_jacobians(module, drawn(TIME, DEPTH)))
    bounds = bounds_by_distance(module.weight_hh_l0.detach(), TIME)
    assert all(norm <= bound * (1 + 1e-12) for norm, bound in zip(norms, bounds, strict=True))


def test_the_cell_of_an_lstm_fades_by_its_forget_gate() -> None:
    """With all weights zero and σ(bias) = 3/4 the cell keeps 3/4 per step, and nothing comes from h."""
    module = nn.LSTM(1, 1, batch_first=True, dtype=torch.float64)
    with torch.no_grad():
        for weight in module.parameters():
            weight.zero_()
        module.bias_ih_l0[1] = torch.log(torch.tensor(3.0))
    steps = step_jacobians(module, torch.ones(3, 1, dtype=torch.float64)).detach()
    assert norms_by_distance(steps, slice(1, 2)) == pytest.approx([1, 0.75, 0.75**2, 0.75**3])
    assert norms_by_distance(steps, slice(1)) == pytest.approx([1, 0, 0, 0])
