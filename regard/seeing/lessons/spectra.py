"""Jacobians of a recurrent state: how they keep a bit, how they grow at random, and where their eigenvalues lie.

A state holds a bit robustly only where its Jacobian shrinks noise, that is, where all singular values are below 1;
there gradients vanish. Above 1 noise and gradients explode (Bengio et al. 1994).
"""

from collections.abc import Sequence
from math import tanh

import numpy as np
import torch
from torch import nn

from regard.loading import Loaded
from regard.seeing.lessons.gradients import Experiment, build_cell, draw_inputs, in_tens
from regard.seeing.lessons.jacobians import step_jacobians
from regard.seeing.lessons.reading import read
from regard.viewing.canvas import show_word
from regard.viewing.lesson_panels import BitPanel, FixedPoint, PlanePanel, UnitMap
from regard.viewing.lessons import LessonPanel, Line, MixedLesson

NEEDED = "`regard show jacobians` needs recurrent layers"
WEIGHTS = (0.5, 2.0)  # of the unit with one stable state, and of the one with two
NEAR_ONE = 0.9  # eigenvalues from here to 1 forget slowly
SAMPLES = 2000  # random products
NAMES = {"lstm": "LSTM", "gru": "GRU"}


def fixed_points(weight: float) -> list[FixedPoint]:
    """Return the states with h = tanh(w h), lowest first; the slope of the map is w (1 − h²)."""
    if weight <= 1:
        return [FixedPoint(0.0, weight)]
    low, high = 1e-9, 1.0
    for _ in range(200):  # bisection: tanh(w h) − h is positive below the upper state and negative above it
        middle = (low + high) / 2
        low, high = (middle, high) if tanh(weight * middle) > middle else (low, middle)
    return [FixedPoint(h, weight * (1 - h * h)) for h in (-high, 0.0, high)]


def bit_panel() -> BitPanel:
    """Return a panel on units with one and with two stable states."""
    maps = [UnitMap(weight, fixed_points(weight)) for weight in WEIGHTS]
    stable = maps[-1].points[-1]
    caption = (
        f"A unit with h ← tanh(w h). With w = {WEIGHTS[0]:g} every state falls to 0. With w = {WEIGHTS[1]:g} there are "
        f"two stable states, ±{stable.state:.3f}: a bit. The slope there is {stable.slope:.3f}, so noise dies out, and "
        f"a gradient loses as much at every step. At 0, between them, the slope is {WEIGHTS[1]:g}, and both explode."
    )
    return BitPanel("A bit: one unit", maps, caption)


def expected_variance(gain: float, width: int, steps: int) -> float:
    """Return Var ‖J_d ⋯ J_1 v‖² = g^{4d} ((1 + 2/n)^d − 1) for ‖v‖ = 1 and entries from N(0, g²/n).

    ‖J v‖² is g²/n ‖v‖² times a χ² with n degrees of freedom, whose mean is n and whose second moment is n² + 2n.
    """
    return float(gain ** (4 * steps) * ((1 + 2 / width) ** steps - 1))


def random_norms(gain: float, width: int, steps: int, seed: int, samples: int = SAMPLES) -> torch.Tensor:
    """Return ‖J_d ⋯ J_1 v‖² (step, sample) for independent products of Gaussian matrices."""
    generator = torch.Generator().manual_seed(seed)
    vectors = torch.zeros(samples, width, dtype=torch.float64)
    vectors[:, 0] = 1.0
    norms = []
    for _ in range(steps):
        jacobians = torch.randn(samples, width, width, dtype=torch.float64, generator=generator) * gain / width**0.5
        vectors = (jacobians @ vectors[:, :, None])[:, :, 0]
        norms.append(vectors.square().sum(dim=1))
    return torch.stack(norms)


def random_panel(gains: Sequence[float], width: int, steps: int, seed: int) -> LessonPanel:
    """Return a panel on the variance of products of random Jacobians, measured and expected."""
    lines = []
    for colour, gain in enumerate(gains):
        variances = random_norms(gain, width, steps, seed).var(dim=1).tolist()
        lines.append(Line(f"gain {gain:g}", list(enumerate(variances, 1)), colour))
        expected = [(d, expected_variance(gain, width, d)) for d in range(1, steps + 1)]
        lines.append(Line(f"gain {gain:g}, expected" if gain == gains[-1] else "", expected, colour, "dashed"))
    caption = (
        f"Products of {width}×{width} matrices with entries from N(0, g²/{width}), {SAMPLES:,} of each length. With g "
        f"= 1 the mean of ‖Jv‖² stays 1, yet its variance is (1 + 2/{width})^d − 1, which grows exponentially: after "
        f"{steps} steps {in_tens(expected_variance(1.0, width, steps))}. Other gains multiply it by g^(4d). What is "
        "measured lies below what is expected (dashed), because the variance comes from ever rarer products."
    )
    return LessonPanel("Random Jacobians", "factors, d", "variance of ‖J(d) ⋯ J(1) v‖²", lines, caption)


@torch.no_grad()
def spectrum_panel(
    title: str, module: nn.RNNBase, inputs: torch.Tensor, colour: int, backward: bool = False
) -> PlanePanel:
    """Return a panel with the eigenvalues of the Jacobian of every step over inputs (time, depth)."""
    jacobians = step_jacobians(module, inputs, backward)
    eigenvalues = torch.linalg.eigvals(jacobians)
    sizes, singular = eigenvalues.abs(), torch.linalg.matrix_norm(jacobians, ord=2)
    near = float(((sizes >= NEAR_ONE) & (sizes < 1)).double().mean())
    caption = (
        f"{sizes.numel():,} eigenvalues of {len(jacobians)} steps: the largest has size {float(sizes.max()):.2f}, "
        f"{near:.0%} lie from {NEAR_ONE:g} to 1, {float((sizes >= 1).double().mean()):.0%} at 1 or beyond. Largest "
        f"singular value: {float(singular.max()):.2f}."
    )
    return PlanePanel(title, eigenvalues.numpy(), caption, colour)


def jacobians_lesson(experiment: Experiment) -> MixedLesson:
    """Return a lesson on a bit, on random Jacobians, and on untrained cells."""
    inputs = draw_inputs(experiment)
    panels = [
        spectrum_panel(f"{name}: eigenvalues", build_cell(kind, experiment), inputs, colour)
        for colour, (kind, name) in enumerate(NAMES.items(), 1)
    ]
    random = random_panel((0.9, 1.0, 1.1), 16, 30, experiment.seed)
    return MixedLesson("What Jacobians do to a state", [bit_panel(), random, *panels])


def trained_jacobians_lesson(model: Loaded, text: str) -> MixedLesson:
    """Return the eigenvalues in every layer and direction of a trained recurrent model over one sentence."""
    reading = read(model, text, NEEDED)
    panels: list[PlanePanel] = []
    for number, layer in enumerate(reading.layers, 1):
        for backward in (False, True)[: 1 + layer.module.bidirectional]:
            direction = ", backward" if backward else ", forward" if layer.module.bidirectional else ""
            title = f"Layer {number}{direction}: {type(layer.module).__name__}"
            panels.append(spectrum_panel(title, layer.module, layer.inputs[0], len(panels), backward))
    return MixedLesson(f"Eigenvalues of the steps over “{show_word(text)}”", panels)


def largest(panel: PlanePanel) -> list[tuple[float, float, float]]:
    """Return size, real and imaginary part of the five largest eigenvalues, one of each conjugate pair."""
    values = panel.eigenvalues.ravel()
    upper = values[values.imag >= 0]
    order = np.argsort(-np.abs(upper), kind="stable")[:5]
    return [(float(abs(value)), float(value.real), float(value.imag)) for value in upper[order]]
