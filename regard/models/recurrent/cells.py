"""Recurrent cells written out as equations, on the weights of torch's fused modules.

Every step takes the input (x), the previous state (h, and c in an LSTM) and the weights, and returns the new state and
the gates. W multiplies the input and U the state; b is the sum of torch's two biases, except in the candidate of
torch's GRU, where the bias of the state is inside the reset gate. The matrices of the gates are stacked in torch's
order: input, forget, candidate, output in an LSTM; reset, update, candidate in a GRU.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, overload

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from regard.models.recurrent.logistic import Logistic
from regard.models.recurrent.reset_first import ResetFirstGru

Vector = Float[Tensor, "*place width"]
Inputs = Float[Tensor, "*place depth"]


class Weights(NamedTuple):
    """The weights of one layer in one direction; each gate has `width` rows of them."""

    of_input: Float[Tensor, "row depth"]  # W
    of_state: Float[Tensor, "row width"]  # U
    input_bias: Float[Tensor, " row"]
    state_bias: Float[Tensor, " row"]


class HiddenState(NamedTuple):
    """State of vanilla and logistic cells and GRUs."""

    hidden: Vector


class LstmState(NamedTuple):
    """State of an LSTM: its output and its memory cell."""

    hidden: Vector
    cell: Vector


class NoGates(NamedTuple):
    """The gates of vanilla and logistic cells, which have none: each step is a matrix and tanh or σ."""


class LstmGates(NamedTuple):
    """Input, forget and output gates of an LSTM, and its candidate."""

    input: Vector
    forget: Vector
    candidate: Vector
    output: Vector


class GruGates(NamedTuple):
    """Reset and update gates of a GRU, and its candidate.

    The kept share is `update` in both GRUs: z in torch's, 1 − z in the one whose reset gate comes first.
    """

    reset: Vector
    update: Vector
    candidate: Vector


Step = Callable[[Tensor, Any, Weights], tuple[Any, Any]]
Change = Callable[[int, Any], Any]  # from a place and the state after it to another state


def vanilla_step(inputs: Inputs, state: HiddenState, weights: Weights) -> tuple[HiddenState, NoGates]:
    """h' = tanh(W x + U h + b) (Elman 1990)."""
    return HiddenState((_from_input(inputs, weights) + _from_state(state, weights)).tanh()), NoGates()


def logistic_step(inputs: Inputs, state: HiddenState, weights: Weights) -> tuple[HiddenState, NoGates]:
    """h' = σ(W x + U h + b); ∂h'/∂h = diag(h'(1 − h')) U, at most ¼‖U‖ long."""
    return HiddenState((_from_input(inputs, weights) + _from_state(state, weights)).sigmoid()), NoGates()


def lstm_step(inputs: Inputs, state: LstmState, weights: Weights) -> tuple[LstmState, LstmGates]:
    """The LSTM (Hochreiter and Schmidhuber 1997) with a forget gate (Gers et al. 2000) and no peepholes.

    i = σ(Wᵢ x + Uᵢ h + bᵢ)    the input gate
    f = σ(Wf x + Uf h + bf)    the forget gate
    g = tanh(Wg x + Ug h + bg)    the candidate
    o = σ(Wₒ x + Uₒ h + bₒ)    the output gate
    c' = f ⊙ c + i ⊙ g
    h' = o ⊙ tanh(c')
    """
    let_in, forget, candidate, output = (_from_input(inputs, weights) + _from_state(state, weights)).chunk(4, dim=-1)
    gates = LstmGates(let_in.sigmoid(), forget.sigmoid(), candidate.tanh(), output.sigmoid())
    cell = gates.forget * state.cell + gates.input * gates.candidate
    return LstmState(gates.output * cell.tanh(), cell), gates


def gru_step(inputs: Inputs, state: HiddenState, weights: Weights) -> tuple[HiddenState, GruGates]:
    """The GRU (Cho et al. 2014, equations 5 to 8), with the reset gate after the matrix as in torch.

    r = σ(Wr x + Ur h + br)    the part of the state that the candidate sees
    z = σ(Wz x + Uz h + bz)    the part that is kept
    n = tanh(Wn x + bn + r ⊙ (Un h + b'n))    the candidate
    h' = (1 − z) ⊙ n + z ⊙ h
    """
    reset_in, update_in, candidate_in = _from_input(inputs, weights).chunk(3, dim=-1)
    reset_back, update_back, candidate_back = _from_state(state, weights).chunk(3, dim=-1)
    reset = (reset_in + reset_back).sigmoid()
    update = (update_in + update_back).sigmoid()
    candidate = (candidate_in + reset * candidate_back).tanh()
    return HiddenState((1 - update) * candidate + update * state.hidden), GruGates(reset, update, candidate)


def reset_first_gru_step(inputs: Inputs, state: HiddenState, weights: Weights) -> tuple[HiddenState, GruGates]:
    """The GRU with the reset gate before the matrix (Cho et al. 2014, equation 8), where z is the renewed share.

    r = σ(Wr x + Ur h + br)    the part of the state that the candidate sees
    z = σ(Wz x + Uz h + bz)    the part that is renewed
    n = tanh(Wn x + Un (r ⊙ h) + bn)    the candidate
    h' = (1 − z) ⊙ h + z ⊙ n
    """
    reset_in, renewed_in, candidate_in = _from_input(inputs, weights).chunk(3, dim=-1)
    reset_weights, renewed_weights, candidate_weights = weights.of_state.chunk(3)
    reset_bias, renewed_bias, candidate_bias = weights.state_bias.chunk(3)
    reset = (reset_in + state.hidden @ reset_weights.mT + reset_bias).sigmoid()
    renewed = (renewed_in + state.hidden @ renewed_weights.mT + renewed_bias).sigmoid()
    candidate = (candidate_in + (reset * state.hidden) @ candidate_weights.mT + candidate_bias).tanh()
    after = HiddenState((1 - renewed) * state.hidden + renewed * candidate)
    return after, GruGates(reset, 1 - renewed, candidate)


def _from_input(inputs: Inputs, weights: Weights) -> Float[Tensor, "*place row"]:
    return inputs @ weights.of_input.mT + weights.input_bias


def _from_state(state: HiddenState | LstmState, weights: Weights) -> Float[Tensor, "*place row"]:
    return state.hidden @ weights.of_state.mT + weights.state_bias


def step_of(module: nn.RNNBase) -> Step:
    """Return the written-out step of one of torch's modules, or of ours."""
    if getattr(module, "nonlinearity", "tanh") != "tanh" or module.proj_size:
        raise ValueError("only cells with tanh and without a projection are written out")
    match module:
        case Logistic():
            return logistic_step
        case ResetFirstGru():
            return reset_first_gru_step
        case nn.RNN():
            return vanilla_step
        case nn.LSTM():
            return lstm_step
        case nn.GRU():
            return gru_step
    raise TypeError(f"{type(module).__name__} is none of nn.RNN, nn.LSTM and nn.GRU")


def weights_of(module: nn.RNNBase, backward: bool = False) -> Weights:
    """Return the weights of a module's first layer, in the forward or backward direction."""
    direction = "_reverse" if backward else ""
    of_input, of_state = (getattr(module, f"weight_{side}_l0{direction}") for side in ("ih", "hh"))
    if not module.bias:
        nothing = of_input.new_zeros(len(of_input))
        return Weights(of_input, of_state, nothing, nothing)
    return Weights(of_input, of_state, *(getattr(module, f"bias_{side}_l0{direction}") for side in ("ih", "hh")))


def zero_state(module: nn.RNNBase, inputs: Inputs) -> HiddenState | LstmState:
    """Return a module's state before it has read anything; `inputs` are those of one step."""
    nothing = inputs.new_zeros(*inputs.shape[:-1], module.hidden_size)
    return LstmState(nothing, nothing) if isinstance(module, nn.LSTM) else HiddenState(nothing)


@overload
def unroll(
    module: nn.LSTM,
    inputs: Tensor,
    lengths: Tensor | None = None,
    start: LstmState | None = None,
    *,
    backward: bool = False,
    change: Change | None = None,
) -> tuple[LstmState, LstmGates]: ...
@overload
def unroll(
    module: nn.GRU,
    inputs: Tensor,
    lengths: Tensor | None = None,
    start: HiddenState | None = None,
    *,
    backward: bool = False,
    change: Change | None = None,
) -> tuple[HiddenState, GruGates]: ...
@overload
def unroll(
    module: nn.RNN,
    inputs: Tensor,
    lengths: Tensor | None = None,
    start: HiddenState | None = None,
    *,
    backward: bool = False,
    change: Change | None = None,
) -> tuple[HiddenState, NoGates]: ...
@overload
def unroll(
    module: nn.RNNBase,
    inputs: Tensor,
    lengths: Tensor | None = None,
    start: HiddenState | LstmState | None = None,
    *,
    backward: bool = False,
    change: Change | None = None,
) -> tuple[HiddenState | LstmState, NoGates | LstmGates | GruGates]: ...
def unroll(
    module: nn.RNNBase,
    inputs: Float[Tensor, "batch time depth"],
    lengths: Int[Tensor, " batch"] | None = None,
    start: HiddenState | LstmState | None = None,
    *,
    backward: bool = False,
    change: Change | None = None,
) -> Any:
    """Return the states and gates of whole rows (batch, time, width), read from the last place on if `backward`.

    Only the first `lengths` places of each row are read; behind them states and gates are zero. `change` may replace
    the state after each step, given the step's place, before the next step reads it.
    """
    step, weights = step_of(module), weights_of(module, backward)
    batch, time, _ = inputs.shape
    ends = torch.full((batch,), time, device=inputs.device) if lengths is None else lengths
    state: Any = zero_state(module, inputs[:, 0]) if start is None else start
    states, gates = [], []
    for place in reversed(range(time)) if backward else range(time):
        real = (place < ends)[:, None]
        after, step_gates = step(inputs[:, place], state, weights)
        if change is not None:
            after = change(place, after)
        state = type(state)(*(torch.where(real, new, old) for new, old in zip(after, state, strict=True)))
        states.append(type(state)(*(part * real for part in state)))
        gates.append(type(step_gates)(*(part * real for part in step_gates)))
    return _in_time(states, backward), _in_time(gates, backward)


def _in_time(steps: list[Any], backward: bool) -> Any:
    """Stack the steps' named tuples into one with a time axis, in the order of places."""
    ordered = steps[::-1] if backward else steps
    return type(ordered[0])(*(torch.stack(part, dim=1) for part in zip(*ordered, strict=True)))
