"""Recurrent cells written out, so that the equations can be read, on the very weights of torch's fused modules.

Every step takes what comes in now (x), the state before (h, and c in an LSTM) and the weights, and gives the state
after and the gates it went through. W reads the input and U the state; b is the sum of torch's two biases, except in
the candidate of torch's GRU, where the bias of the state stands inside the reset gate. The matrices of the gates lie
above each other in torch's order: input, forget, candidate, output in an LSTM; reset, update, candidate in a GRU.
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
    """Vanilla and logistic cells have none: all they know goes through a matrix and tanh or σ at every step."""


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


def vanilla_step(inputs: Inputs, state: HiddenState, weights: Weights) -> tuple[HiddenState, NoGates]:
    """h' = tanh(W x + U h + b) (Elman 1990)."""
    return HiddenState((_from_input(inputs, weights) + _from_state(state, weights)).tanh()), NoGates()


def logistic_step(inputs: Inputs, state: HiddenState, weights: Weights) -> tuple[HiddenState, NoGates]:
    """h' = σ(W x + U h + b); ∂h'/∂h = diag(h'(1 − h')) U, at most ¼‖U‖ long."""
    return HiddenState((_from_input(inputs, weights) + _from_state(state, weights)).sigmoid()), NoGates()


def lstm_step(inputs: Inputs, state: LstmState, weights: Weights) -> tuple[LstmState, LstmGates]:
    """The LSTM (Hochreiter and Schmidhuber 1997) with a forget gate (Gers et al. 2000) and no peepholes.

    i = σ(Wᵢ x + Uᵢ h + bᵢ)    what is let in
    f = σ(Wf x + Uf h + bf)    what is kept
    g = tanh(Wg x + Ug h + bg)    the candidate
    o = σ(Wₒ x + Uₒ h + bₒ)    what is shown
    c' = f ⊙ c + i ⊙ g
    h' = o ⊙ tanh(c')
    """
    let_in, forget, candidate, output = (_from_input(inputs, weights) + _from_state(state, weights)).chunk(4, dim=-1)
    gates = LstmGates(let_in.sigmoid(), forget.sigmoid(), candidate.tanh(), output.sigmoid())
    cell = gates.forget * state.cell + gates.input * gates.candidate
    return LstmState(gates.output * cell.tanh(), cell), gates


def gru_step(inputs: Inputs, state: HiddenState, weights: Weights) -> tuple[HiddenState, GruGates]:
    """The GRU (Cho et al. 2014, equations 5 to 8), the reset gate applied behind the matrix as torch has it.

    r = σ(Wr x + Ur h + br)    what of the state the candidate sees
    z = σ(Wz x + Uz h + bz)    what is kept
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
    """The GRU with the reset gate before the matrix (Cho et al. 2014, equation 8), and z the share that is renewed.

    r = σ(Wr x + Ur h + br)    what of the state the candidate sees
    z = σ(Wz x + Uz h + bz)    what is renewed
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
    """Return the written-out step that one of torch's modules, or of ours, takes."""
    if getattr(module, "nonlinearity", "tanh") != "tanh" or module.proj_size:
        raise ValueError("the cells written out are those with tanh and without a projection")
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
    """The weights of a module's first layer, of the direction that reads forward or of the other."""
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
) -> tuple[LstmState, LstmGates]: ...
@overload
def unroll(
    module: nn.GRU,
    inputs: Tensor,
    lengths: Tensor | None = None,
    start: HiddenState | None = None,
    *,
    backward: bool = False,
) -> tuple[HiddenState, GruGates]: ...
@overload
def unroll(
    module: nn.RNN,
    inputs: Tensor,
    lengths: Tensor | None = None,
    start: HiddenState | None = None,
    *,
    backward: bool = False,
) -> tuple[HiddenState, NoGates]: ...
@overload
def unroll(
    module: nn.RNNBase,
    inputs: Tensor,
    lengths: Tensor | None = None,
    start: HiddenState | LstmState | None = None,
    *,
    backward: bool = False,
) -> tuple[HiddenState | LstmState, NoGates | LstmGates | GruGates]: ...
def unroll(
    module: nn.RNNBase,
    inputs: Float[Tensor, "batch time depth"],
    lengths: Int[Tensor, " batch"] | None = None,
    start: HiddenState | LstmState | None = None,
    *,
    backward: bool = False,
) -> Any:
    """The states and gates of whole rows (batch, time, width), read from the last place to the first if `backward`.

    Of each row only the first `lengths` places are read; behind them states and gates are zero.
    """
    step, weights = step_of(module), weights_of(module, backward)
    batch, time, _ = inputs.shape
    ends = torch.full((batch,), time, device=inputs.device) if lengths is None else lengths
    state: Any = zero_state(module, inputs[:, 0]) if start is None else start
    states, gates = [], []
    for place in reversed(range(time)) if backward else range(time):
        real = (place < ends)[:, None]
        after, passed = step(inputs[:, place], state, weights)
        state = type(state)(*(torch.where(real, new, old) for new, old in zip(after, state, strict=True)))
        states.append(type(state)(*(part * real for part in state)))
        gates.append(type(passed)(*(part * real for part in passed)))
    return _in_time(states, backward), _in_time(gates, backward)


def _in_time(steps: list[Any], backward: bool) -> Any:
    """One named tuple of tensors with an axis of time, from those of the steps in the order they were taken."""
    ordered = steps[::-1] if backward else steps
    return type(ordered[0])(*(torch.stack(part, dim=1) for part in zip(*ordered, strict=True)))
