"""Clockwork and delays: steps by hand, the vanilla cell as the simplest case of both, and gradients."""

from math import tanh

import pytest
import torch
from torch import Tensor

from regard.models.recurrent.cells import HiddenState, Weights, vanilla_step
from regard.models.recurrent.older_states import (
    Clockwork,
    Delays,
    LinkedLayer,
    backpropagate_links,
    unroll_links,
)


def inputs(length: int, depth: int = 3, batch: int = 2) -> Tensor:
    return torch.randn(batch, length, depth, dtype=torch.float64, generator=torch.Generator().manual_seed(1))


def plain_states(layer: LinkedLayer, given: Tensor) -> Tensor:
    """Return the states step by step, with autograd's own operations."""
    states: list[Tensor] = []
    driven, links = layer.drive(given), layer.links(given.shape[1])
    for time, count in enumerate(links.renewed):
        now = driven[time]
        for delay, matrix in zip(links.delays, layer.matrices(), strict=True):
            if time >= delay:
                now = now + states[time - delay] @ matrix.mT
        states.append(torch.cat([now.tanh()[:, :count], *([states[-1][:, count:]] if time else [])], dim=1))
    return torch.stack(states, dim=1)


def vanilla_states(layer: LinkedLayer, given: Tensor) -> Tensor:
    """Return the states of a vanilla cell with the layer's weights."""
    (of_state,), nothing = layer.matrices(), torch.zeros_like(layer.bias)
    weights, state = (
        Weights(layer.of_input, of_state, layer.bias, nothing),
        HiddenState(given.new_zeros(2, layer.width)),
    )
    states = []
    for place in range(given.shape[1]):
        state, _ = vanilla_step(given[:, place], state, weights)
        states.append(state.hidden)
    return torch.stack(states, dim=1)


def test_a_clockwork_on_paper() -> None:
    """Two modules of one unit, periods 1 and 2: the slow one rests at t = 1 and reads only itself at t = 2."""
    layer = Clockwork(1, 2, [1, 2]).double()
    with torch.no_grad():
        layer.of_input.copy_(torch.tensor([[1.0], [2.0]]))
        layer.of_states.copy_(torch.tensor([[[0.5, -1.0], [9.0, 0.25]]]))  # 9 is below the triangle and never read
        layer.bias.copy_(torch.tensor([0.1, 0.0]))
    states = layer(torch.tensor([[[0.3], [0.2], [-0.4]]], dtype=torch.float64))[0]
    fast, slow = tanh(0.3 + 0.1), tanh(0.6)
    assert states[0].tolist() == pytest.approx([fast, slow])
    fast = tanh(0.2 + 0.1 + 0.5 * fast - slow)
    assert states[1].tolist() == pytest.approx([fast, slow])
    fast, slow = tanh(-0.4 + 0.1 + 0.5 * fast - slow), tanh(-0.8 + 0.25 * slow)
    assert states[2].tolist() == pytest.approx([fast, slow])


def test_delays_on_paper() -> None:
    """One unit reads itself from one and three steps ago."""
    layer = Delays(1, 1, [1, 3]).double()
    with torch.no_grad():
        layer.of_input.fill_(1.0)
        layer.of_states.copy_(torch.tensor([[[0.5]], [[-2.0]]]))
    outputs = layer(torch.tensor([[[0.1], [0.2], [0.3], [0.4]]], dtype=torch.float64))[0, :, 0].tolist()
    first = tanh(0.1)
    second = tanh(0.2 + 0.5 * first)
    third = tanh(0.3 + 0.5 * second)
    assert outputs == pytest.approx([first, second, third, tanh(0.4 + 0.5 * third - 2 * first)])


@pytest.mark.parametrize("layer", [Clockwork(3, 4, [1]), Clockwork(3, 4, [1, 1]), Delays(3, 4, [1])])
def test_with_one_period_or_one_delay_it_is_the_vanilla_cell(layer: LinkedLayer) -> None:
    layer = layer.double()
    torch.testing.assert_close(layer(inputs(5)), vanilla_states(layer, inputs(5)))


LAYERS = [Clockwork(3, 6, [1, 2, 6]), Delays(3, 4, [1, 2, 5]), Delays(3, 4, [1, 40])]


@pytest.mark.parametrize("layer", LAYERS)
def test_gradients_are_those_of_autograd(layer: LinkedLayer) -> None:
    """Gradients of all weights and inputs, for a loss over all states."""
    layer, gradients = layer.double(), []
    for states in (layer, lambda batch: plain_states(layer, batch)):
        leaf = inputs(9).requires_grad_()
        outputs = states(leaf)
        weight = torch.arange(outputs.numel(), dtype=torch.float64).reshape(outputs.shape).cos()
        gradients.append([outputs, *torch.autograd.grad((outputs * weight).sum(), [leaf, *layer.parameters()])])
    torch.testing.assert_close(*gradients)


@pytest.mark.parametrize("layer", LAYERS[:2])
def test_gradients_are_those_of_small_differences(layer: LinkedLayer) -> None:
    layer, driven = layer.double(), torch.randn(5, 1, layer.width, dtype=torch.float64, requires_grad=True)
    links = layer.links(5)
    arguments = driven, layer.matrices()
    assert torch.autograd.gradcheck(lambda driven, matrices: unroll_links(driven, matrices, links), arguments)


def test_what_a_slow_module_has_read_stays_until_its_next_turn() -> None:
    """A gradient from t = 7 back to t = 1 passes no tanh in a module of period 8."""
    layer = Clockwork(3, 4, [1, 8]).double()
    states, links = unroll_links(layer.drive(inputs(8, batch=4)), layer.matrices(), layer.links(8)), layer.links(8)
    upstream = torch.zeros_like(states)
    upstream[-1] = torch.eye(4, dtype=torch.float64)
    gradients = backpropagate_links(states, upstream, layer.matrices(), links).of_states
    torch.testing.assert_close(gradients[1, 2:, 2:], torch.eye(2, dtype=torch.float64))


def test_what_rests_costs_nothing() -> None:
    """At t = 0 all 4 units read an input; at 1 the fast two and 4 states; at 2 all, the slow ones with 2 states."""
    assert Clockwork(3, 4, [1, 2]).multiplications(3) == 4 * 3 + (2 * 3 + 2 * 4) + (4 * 3 + 2 * 4 + 2 * 2)
    assert Delays(3, 4, [1, 2]).multiplications(3) == 4 * 3 + 4 * (3 + 4) + 4 * (3 + 2 * 4)


@pytest.mark.parametrize("layer", [Clockwork(3, 4, [2, 4]), Delays(3, 4, [1, 2])])
def test_it_learns_in_bf16_too(layer: LinkedLayer) -> None:
    """This includes a fastest module that rests at every other step."""
    with torch.autocast("cpu", torch.bfloat16):
        layer(inputs(5).float()).sum().backward()
    gradients = [weight.grad for weight in layer.parameters()]
    assert all(gradient is not None and gradient.dtype == torch.float32 for gradient in gradients)
