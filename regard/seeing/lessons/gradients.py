"""Vanishing and exploding gradients: lines for cells with random weights over random inputs."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import NamedTuple

import torch
from torch import Tensor, nn

from regard.loading import Loaded
from regard.models.recurrent.cells import Weights, unroll, weights_of
from regard.models.recurrent.layers import CELLS, GATES
from regard.models.recurrent.logistic import Logistic
from regard.models.recurrent.older_states import Clockwork, Delays, LinkedLayer, backpropagate_links
from regard.models.recurrent.reset_first import ResetFirstGru
from regard.seeing.lessons.jacobians import bounds_by_distance, norms_by_distance, steepest, step_jacobians
from regard.seeing.lessons.reading import read
from regard.viewing.canvas import show_word
from regard.viewing.lessons import Lesson, LessonPanel, Line


class VanillaGradients(NamedTuple):
    """The gradients of a loss with respect to all parts of a vanilla cell; torch's two biases share one."""

    of_input: Tensor  # ∂L/∂W
    of_state: Tensor  # ∂L/∂U
    bias: Tensor  # ∂L/∂b
    inputs: Tensor  # ∂L/∂x (batch, time, depth)
    start: Tensor  # ∂L/∂h_0 (batch, width)


def backpropagate(
    inputs: Tensor, start: Tensor, hidden: Tensor, upstream: Tensor, weights: Weights
) -> VanillaGradients:
    """Return all gradients of a loss L over h_k = tanh(a_k), a_k = W x_k + U h_{k−1} + b (Werbos 1990).

    `upstream` (batch, time, width) is the direct gradient of L with respect to each state, without the path through
    later states. With δ_k = ∂L/∂a_k, from the last step to the first,

    δ_k = (upstream_k + Uᵀ δ_{k+1}) ⊙ (1 − h_k²)

    ∂L/∂W = Σ δ_k x_kᵀ    ∂L/∂U = Σ δ_k h_{k−1}ᵀ    ∂L/∂b = Σ δ_k    ∂L/∂x_k = Wᵀ δ_k    ∂L/∂h_0 = Uᵀ δ_1
    """
    from_later = torch.zeros_like(start)
    deltas = []
    for place in reversed(range(hidden.shape[1])):
        delta = (upstream[:, place] + from_later) * (1 - hidden[:, place] ** 2)
        from_later = delta @ weights.of_state
        deltas.append(delta)
    delta = torch.stack(deltas[::-1], dim=1)
    before = torch.cat([start[:, None], hidden[:, :-1]], dim=1)
    return VanillaGradients(
        of_input=torch.einsum("bti,btj->ij", delta, inputs),
        of_state=torch.einsum("bti,btj->ij", delta, before),
        bias=delta.sum(dim=(0, 1)),
        inputs=delta @ weights.of_input,
        start=from_later,
    )


def norm_of(gradients: Sequence[Tensor]) -> Tensor:
    """Return ‖g‖, with all gradients taken as one long vector."""
    return torch.stack([gradient.norm() for gradient in gradients]).norm()


def clip(gradients: Sequence[Tensor], max_norm: float) -> list[Tensor]:
    """Return min(1, max_norm/‖g‖) · g: a shorter step in the same direction (Pascanu et al. 2013, algorithm 1).

    This bounds exploding gradients. It cannot bring back vanished ones.
    """
    norm = norm_of(gradients)
    if norm <= max_norm:
        return list(gradients)
    return [gradient * (max_norm / norm) for gradient in gradients]


NEEDED = "`regard show gradients --model` needs a seq2seq"
NAMES = {
    "vanilla": "vanilla",
    "lstm": "LSTM",
    "gru": "GRU",
    "clockwork": "clockwork",
    "delays": "delays",
    "logistic": "logistic",
    "gru-reset-first": "GRU, reset first",
}
ENCODERS = {
    nn.RNN: "A vanilla encoder",
    Logistic: "A logistic encoder",
    nn.LSTM: "An LSTM encoder",
    nn.GRU: "A GRU encoder",
    ResetFirstGru: "A GRU encoder, reset first",
}
PERIODS, DELAYS = (
    (1, 2, 4, 8, 16, 32, 64, 128),
    (1, 2, 4, 8, 16, 32),
)  # the defaults of `model.periods` and `model.delays`
BOUND = ", bound"  # suffix of a line's name
DISTANCE = "distance in steps, d"
NORM = "‖∂h(T) / ∂h(T−d)‖"
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True)
class Experiment:
    """Settings of an experiment; the same settings give the same numbers."""

    length: int = 50
    width: int = 32
    seed: int = 1
    gain: float = 1.0  # factor of U
    orthogonal: bool = False  # orthogonal U; otherwise drawn uniformly, as in torch
    keep: float = 1.0  # bias of an LSTM's forget gate and a GRU's update gate
    input_scale: float = 1.0  # standard deviation of the inputs


def build_cell(kind: str, experiment: Experiment) -> nn.RNNBase:
    """Return a float64 module with random weights for the experiment; biases are zero except for `keep`."""
    generator, width = torch.Generator().manual_seed(experiment.seed), experiment.width
    module = CELLS[kind](width, width, batch_first=True, dtype=torch.float64)
    weights, gates = weights_of(module), GATES[kind]
    with torch.no_grad():
        for matrix in (weights.of_input, weights.of_state):
            matrix.uniform_(-(width**-0.5), width**-0.5, generator=generator)
        for block in weights.of_state.chunk(gates):
            if experiment.orthogonal:
                nn.init.orthogonal_(block, generator=generator)
            block.mul_(experiment.gain)
        for bias in (weights.input_bias, weights.state_bias):
            bias.zero_()
        if gates > 1:  # forget and update are both the second gate; one GRU has the opposite sign
            keep = -experiment.keep if kind == "gru-reset-first" else experiment.keep
            weights.input_bias.chunk(gates)[1].fill_(keep)
    return module


def draw_inputs(experiment: Experiment) -> Tensor:
    """Return random inputs (time, width), which depend only on the seed and the scale."""
    generator = torch.Generator().manual_seed(experiment.seed + 1)
    shape = experiment.length, experiment.width
    return torch.randn(shape, dtype=torch.float64, generator=generator) * experiment.input_scale


def build_linked(kind: str, experiment: Experiment) -> LinkedLayer:
    """Return a clockwork layer or one with delays; a narrow clockwork has fewer modules, and delays share the gain."""
    generator, width = torch.Generator().manual_seed(experiment.seed), experiment.width
    modules = max(count for count in range(1, len(PERIODS) + 1) if width % count == 0)
    layer = Delays(width, width, DELAYS) if kind == "delays" else Clockwork(width, width, PERIODS[:modules])
    layer = layer.double()
    with torch.no_grad():
        for matrix in (layer.of_input, *layer.of_states):
            matrix.uniform_(-(width**-0.5), width**-0.5, generator=generator)
        for block in own_blocks(layer):
            if experiment.orthogonal:
                nn.init.orthogonal_(block, generator=generator)
        layer.of_states.mul_(experiment.gain / len(layer.delays))
    return layer


def own_blocks(layer: LinkedLayer) -> list[Tensor]:
    """Return the blocks of U to make orthogonal: those of each module in a clockwork layer, otherwise the whole."""
    if not isinstance(layer, Clockwork):
        return list(layer.of_states)
    places = [slice(first, first + layer.module_width) for first in range(0, layer.width, layer.module_width)]
    return [layer.of_states[0, place, place] for place in places]


@torch.no_grad()
def fading_linked(layer: LinkedLayer, inputs: Tensor, name: str, colour: int) -> Line:
    """Return the norm by distance in a layer that reads older states, over all paths from h_{T−d} to h_T."""
    before = torch.cat([torch.zeros_like(inputs[:1]), inputs])  # an empty step, so that there is an h_0
    states = layer(before.expand(layer.width, -1, -1)).transpose(0, 1)
    upstream = torch.zeros_like(states)
    upstream[-1] = torch.eye(layer.width, dtype=states.dtype)
    gradients = backpropagate_links(states, upstream, layer.matrices(), layer.links(len(before))).of_states
    return Line(name, _points(torch.linalg.matrix_norm(gradients.flip(0), ord=2).tolist()), colour)


@torch.no_grad()
def fading(module: nn.RNNBase, inputs: Tensor, name: str, colour: int, backward: bool = False) -> list[Line]:
    """Return the norm by distance in one cell over inputs (time, depth).

    A cell without gates also has a bound; an LSTM has one line for (h, c) and one for h alone.
    """
    jacobians = step_jacobians(module, inputs, backward)
    whole = norms_by_distance(jacobians)
    if isinstance(module, nn.LSTM):
        alone = norms_by_distance(jacobians, slice(module.hidden_size))
        return [
            Line(f"{name}, h and c", _points(whole), colour),
            Line(f"{name}, h alone", _points(alone), colour, "dotted"),
        ]
    lines = [Line(name, _points(whole), colour)]
    slope = steepest(module)
    if slope is not None:
        bounds = bounds_by_distance(weights_of(module, backward).of_state, len(inputs), slope)
        lines.append(Line(f"{name}{BOUND}", _points(bounds), colour, "dashed"))
    return lines


def _points(values: Sequence[float]) -> list[tuple[float, float]]:
    return list(enumerate(values))


def by_cell(kinds: Sequence[str], experiment: Experiment) -> LessonPanel:
    """Return a panel that compares the cells on the same inputs."""
    inputs = draw_inputs(experiment)
    lines: list[Line] = []
    for kind in kinds:
        name, colour = NAMES[kind], list(NAMES).index(kind)
        if kind in CELLS:
            lines += fading(build_cell(kind, experiment), inputs, name, colour)
        else:
            lines.append(fading_linked(build_linked(kind, experiment), inputs, name, colour))
    kind_of_u = "orthogonal U" if experiment.orthogonal else "uniform U"
    return LessonPanel(f"By cell: {kind_of_u}, gain {experiment.gain:g}", DISTANCE, NORM, lines, describe_fading(lines))


def describe_fading(lines: Sequence[Line], logistic: Collection[str] = (NAMES["logistic"],)) -> str:
    """Return a sentence on what remains at the end of each line, and on the bounds; `logistic` names such cells."""
    left = ", ".join(f"{in_tens(line.points[-1][1])} ({line.name})" for line in lines if line.style == "solid")
    steps = len(lines[0].points) - 1
    text = f"On its way {steps} steps back, a gradient at the last state grows by at most this factor: {left}."
    bounds = {line.name.removesuffix(BOUND): line.points[1][1] for line in lines if line.style == "dashed"}
    of_tanh = {name: norm for name, norm in bounds.items() if name not in logistic}
    if of_tanh:
        norms = [f"{norm:.2f} ({name})" if len(of_tanh) > 1 else f"{norm:.2f}" for name, norm in of_tanh.items()]
        text += f" The bound is (max |tanh′| · ‖U‖)^d, where max |tanh′| = 1 and ‖U‖ = {', '.join(norms)}."
    quarters = {name: norm for name, norm in bounds.items() if name in logistic}
    if quarters:
        norms = [f"{norm:.2f} ({name})" if len(quarters) > 1 else f"{norm:.2f}" for name, norm in quarters.items()]
        text += f" The bound of a logistic cell is (max σ′ · ‖U‖)^d, where max σ′ = ¼ and ¼‖U‖ = {', '.join(norms)}."
    return text


def in_tens(value: float) -> str:
    """Format a number for a sentence: 0.25, 30, 4·10⁻¹⁴."""
    if value == inf:
        return "∞"
    if 10 <= value < 1e4:
        return f"{value:.0f}"
    if value == 0 or 1e-3 <= value < 10:
        return f"{value:.2g}"
    digits, power = f"{value:.0e}".split("e")
    return f"{digits}·10{str(int(power)).translate(_RAISED)}"


def by_gain(gains: Sequence[float], experiment: Experiment) -> LessonPanel:
    """Return a panel of vanilla cells whose U is orthogonal times a gain, which is then ‖U‖, each with its bound."""
    inputs, lines = draw_inputs(experiment), []
    for colour, gain in enumerate(gains):
        cell = build_cell("vanilla", replace(experiment, orthogonal=True, gain=gain))
        line, bound = fading(cell, inputs, f"gain {gain:g}", colour)
        lines += [line, replace(bound, name="bound" if gain == max(gains) else "")]
    caption = (
        "An orthogonal U times a gain scales everything by the gain. Below 1 the gradient must vanish. Above 1 it "
        "may explode, but where tanh is flat it still shrinks: no line rises above its bound (dashed)."
    )
    return LessonPanel("By gain: vanilla, orthogonal U", DISTANCE, NORM, lines, caption)


@torch.no_grad()
def by_length(gains: Sequence[float], max_norm: float, experiment: Experiment) -> LessonPanel:
    """Return a panel of ‖g‖ for a loss after the last step of ever longer sequences, plain and clipped.

    The cells are those of `by_gain`. The loss is half the mean of (h_T − y)² for a random y, and g is its gradient with
    respect to W, U and b.
    """
    inputs, lines = draw_inputs(experiment)[None], []
    generator = torch.Generator().manual_seed(experiment.seed + 2)
    goal = torch.rand(experiment.width, dtype=torch.float64, generator=generator) * 2 - 1
    for colour, gain in enumerate(gains):
        cell = build_cell("vanilla", replace(experiment, orthogonal=True, gain=gain))
        states, _ = unroll(cell, inputs)
        whole, clipped = [], []
        for length in range(1, experiment.length + 1):
            gradients = last_step_gradients(inputs[:, :length], states.hidden[:, :length], goal, weights_of(cell))
            whole.append((length, float(norm_of(gradients))))
            clipped.append((length, float(norm_of(clip(gradients, max_norm)))))
        name = "clipped" if gain == max(gains) else ""
        lines += [Line(f"gain {gain:g}", whole, colour), Line(name, clipped, colour, "dotted")]
    caption = (
        "The gradient of a loss after the last step, with respect to all weights of the same vanilla cells. Clipping "
        f"(dotted) limits its norm to {max_norm:g} and keeps its direction: it tames exploding gradients, but cannot "
        "bring back vanished ones."
    )
    return LessonPanel(
        f"By length: the gradient, clipped at {max_norm:g}", "length of the sequence", "‖g‖", lines, caption
    )


def last_step_gradients(inputs: Tensor, hidden: Tensor, wanted: Tensor, weights: Weights) -> list[Tensor]:
    """Return the gradients of ½ mean((h_T − wanted)²) with respect to W, U and b, by explicit backpropagation."""
    upstream = torch.zeros_like(hidden)
    upstream[:, -1] = (hidden[:, -1] - wanted) / hidden[:, -1].numel()
    gradients = backpropagate(inputs, torch.zeros_like(hidden[:, 0]), hidden, upstream, weights)
    return [gradients.of_input, gradients.of_state, gradients.bias]


def gradients_lesson(kinds: Sequence[str], gains: Sequence[float], max_norm: float, experiment: Experiment) -> Lesson:
    """Return a lesson on untrained cells, in three panels."""
    panels = [by_cell(kinds, experiment), by_gain(gains, experiment), by_length(gains, max_norm, experiment)]
    return Lesson("How gradients vanish and explode", panels)


def trained_lesson(model: Loaded, text: str) -> Lesson:
    """Return a lesson on the norms in every layer and direction of a trained encoder over one sentence."""
    reading = read(model, text, NEEDED)
    lines: list[Line] = []
    for number, layer in enumerate(reading.layers, 1):
        for backward in (False, True)[: 1 + layer.module.bidirectional]:
            direction = "backward" if backward else "forward"
            name = f"layer {number}, {direction}" if len(reading.layers) > 1 else direction
            lines += fading(layer.module, layer.inputs[0], name, len({line.colour for line in lines}), backward)
    module = reading.layers[0].module
    name, logistic = ENCODERS[type(module)], [line.name.removesuffix(BOUND) for line in lines]
    caption = describe_fading(lines, logistic if isinstance(module, Logistic) else ())
    panel = LessonPanel(f"{name}, {len(reading.tokens)} tokens", DISTANCE, NORM, lines, caption)
    return Lesson(f"How far a gradient reaches in “{show_word(text)}”", [panel])
