"""Jacobians ∂h_t/∂h_k of recurrent states and their norms, by the distance t − k.

By the chain rule, ∂h_t/∂h_k = J_t J_{t−1} … J_{k+1}, where J_j = ∂h_j/∂h_{j−1} is the Jacobian of one step. A gradient
that travels back from t to k is multiplied by it. If its norm vanishes, nothing can be learnt from k; if it explodes,
one training step ruins the weights (Bengio et al. 1994; Pascanu et al. 2013, section 2).
"""

from math import inf

import torch
from torch import Tensor, nn
from torch.func import jacrev, vmap

from regard.models.recurrent.cells import Weights, step_of, unroll, weights_of, zero_state
from regard.models.recurrent.logistic import Logistic

STEEPEST_TANH = 1.0  # the largest value of tanh′, at zero
STEEPEST_LOGISTIC = 0.25  # the largest value of σ′


def vanilla_jacobians(hidden: Tensor, of_state: Tensor) -> Tensor:
    """Return J_t = diag(1 − h_t²) U for each state of a vanilla cell (time, width): (time, width, width).

    h_t = tanh(a_t) has tanh′(a_t) = 1 − h_t², and a_t depends on h_{t−1} only through U.
    """
    return (1 - hidden**2)[:, :, None] * of_state


def logistic_jacobians(hidden: Tensor, of_state: Tensor) -> Tensor:
    """Return J_t = diag(h_t (1 − h_t)) U for each state of a logistic cell, because σ′ = σ (1 − σ)."""
    return (hidden * (1 - hidden))[:, :, None] * of_state


def steepest(module: nn.RNNBase) -> float | None:
    """Return the largest slope of a cell without gates; None for cells with gates."""
    if isinstance(module, Logistic):
        return STEEPEST_LOGISTIC
    return STEEPEST_TANH if isinstance(module, nn.RNN) else None


def step_jacobians(module: nn.RNNBase, inputs: Tensor, backward: bool = False) -> Tensor:
    """Return the Jacobian of every step over inputs (time, depth), first step first: (time, state, state).

    The state of an LSTM is h and c concatenated. The Jacobians of vanilla and logistic cells are explicit; the others
    come from autograd. With `backward`, the first step is at the last place.
    """
    states, _ = unroll(module, inputs[None], backward=backward)
    weights = weights_of(module, backward)
    if backward:
        inputs, states = inputs.flip(0), type(states)(*(part.flip(1) for part in states))
    if isinstance(module, Logistic):
        return logistic_jacobians(states.hidden[0], weights.of_state)
    if isinstance(module, nn.RNN):
        return vanilla_jacobians(states.hidden[0], weights.of_state)
    after = torch.cat(tuple(states), dim=-1)[0]
    start = torch.cat(tuple(zero_state(module, inputs[:1])), dim=-1)
    return _autograd_jacobians(module, inputs, torch.cat([start, after[:-1]]), weights)


def _autograd_jacobians(module: nn.RNNBase, inputs: Tensor, before: Tensor, weights: Weights) -> Tensor:
    step, kind = step_of(module), type(zero_state(module, inputs[0]))

    def after(inputs: Tensor, before: Tensor) -> Tensor:
        state, _ = step(inputs, kind(*before.chunk(len(kind._fields))), weights)
        return torch.cat(tuple(state))

    return vmap(jacrev(after, argnums=1))(inputs, before)


def norms_by_distance(jacobians: Tensor, part: slice = slice(None)) -> list[float]:
    """Return the spectral norm ‖∂h_T/∂h_{T−d}‖₂ for the last state T and d = 0, 1, …, T; at d = 0 it is one.

    `part` chooses coordinates: those of h in the state of an LSTM give ∂h_T/∂h_k with c_k fixed.
    """
    product = torch.eye(jacobians.shape[-1], dtype=jacobians.dtype, device=jacobians.device)
    norms = [1.0]
    for jacobian in jacobians.flip(0):
        product = product @ jacobian
        norms.append(float(torch.linalg.matrix_norm(product[part, part], ord=2)))
    return norms


def bounds_by_distance(of_state: Tensor, length: int, slope: float = STEEPEST_TANH) -> list[float]:
    """Return (slope · ‖U‖₂)^d, an upper bound of ‖∂h_t/∂h_{t−d}‖₂ without gates (Pascanu et al. 2013, eqs. 6–7).

    The slope is max |tanh′| = 1 for a vanilla cell and max σ′ = ¼ for a logistic one; it bounds the norm of each factor
    diag(slopes) U of the product. Below one the gradient must vanish; above one it may explode, but may still vanish
    where the function is flat.
    """
    longest = slope * float(torch.linalg.matrix_norm(of_state, ord=2))
    return [_power(longest, distance) for distance in range(length + 1)]


def _power(base: float, exponent: int) -> float:
    try:
        return base**exponent
    except OverflowError:
        return inf
