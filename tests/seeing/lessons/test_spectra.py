"""Bits, random Jacobians and eigenvalues, against values worked out by hand."""

from functools import partial
from math import exp, tanh

import numpy as np
import pytest
import torch
from torch import nn

from regard.seeing.lessons import spectra
from regard.seeing.lessons.gradients import Experiment
from regard.seeing.lessons.spectra import (
    bit_panel,
    expected_variance,
    fixed_points,
    jacobians_lesson,
    largest,
    random_norms,
    random_panel,
    spectrum_panel,
)
from regard.viewing.lesson_panels import PlanePanel


def test_a_unit_keeps_a_bit_only_above_one() -> None:
    assert [(point.state, point.slope, point.is_stable) for point in fixed_points(0.5)] == [(0.0, 0.5, True)]
    low, middle, high = fixed_points(2.0)
    assert high.state == pytest.approx(tanh(2 * high.state), abs=1e-12)
    assert (low.state, middle.state) == (-high.state, 0.0)
    assert (round(high.state, 4), round(high.slope, 4)) == (0.9575, 0.1664)
    assert [point.is_stable for point in (low, middle, high)] == [True, False, True]


def test_the_slope_is_what_noise_is_multiplied_by() -> None:
    point = fixed_points(2.0)[-1]
    noise = 1e-6
    assert (tanh(2 * (point.state + noise)) - point.state) / noise == pytest.approx(point.slope, rel=1e-4)
    assert f"slope there is {point.slope:.3f}" in bit_panel().caption


def test_variance_of_random_products() -> None:
    """For one factor it is that of a χ² with n degrees of freedom over n: 2/n."""
    assert expected_variance(1.0, 16, 1) == pytest.approx(2 / 16)
    assert expected_variance(2.0, 4, 2) == pytest.approx(2**8 * (1.5**2 - 1))
    norms = random_norms(1.0, 4, 3, seed=1, samples=40_000)
    assert norms.mean(dim=1).tolist() == pytest.approx([1.0] * 3, abs=0.05)
    assert norms.var(dim=1).tolist() == pytest.approx([expected_variance(1.0, 4, d) for d in (1, 2, 3)], rel=0.15)
    panel = random_panel((0.9, 1.0), 4, 3, seed=1)
    assert [line.style for line in panel.lines] == ["solid", "dashed"] * 2


def test_an_lstm_without_weights_has_its_forget_gate_as_eigenvalue() -> None:
    """With W = U = 0, c' = f c + i g, and h' depends on c alone: the eigenvalues are f and 0."""
    module = nn.LSTM(2, 3, batch_first=True, dtype=torch.float64)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.zero_()
        module.bias_ih_l0.chunk(4)[1].fill_(1.0)
    panel = spectrum_panel("LSTM", module, torch.ones(4, 2, dtype=torch.float64), 0)
    forget = 1 / (1 + exp(-1))
    for eigenvalues in panel.eigenvalues:
        assert sorted(abs(eigenvalues)) == pytest.approx([0, 0, 0, forget, forget, forget], abs=1e-9)
    assert "the largest has size 0.73, 0% lie from 0.9 to 1, 0% at 1 or beyond" in panel.caption


def test_the_largest_of_each_pair() -> None:
    panel = PlanePanel("", np.array([[0.6 + 0.8j, 0.6 - 0.8j, -2.0]]), "")
    assert largest(panel) == [(2.0, -2.0, 0.0), (1.0, 0.6, 0.8)]


def test_open_gates_move_eigenvalues_towards_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spectra, "random_norms", partial(random_norms, samples=100))

    def near_one(keep: float) -> list[float]:
        *_, lstm, gru = jacobians_lesson(Experiment(length=3, width=4, keep=keep)).panels
        assert isinstance(lstm, PlanePanel)
        assert isinstance(gru, PlanePanel)
        assert (lstm.eigenvalues.shape, gru.eigenvalues.shape) == ((3, 8), (3, 4))
        return [float((abs(abs(panel.eigenvalues) - 1) < 0.1).mean()) for panel in (lstm, gru)]

    shut, wide = near_one(-4.0), near_one(6.0)
    assert shut == [0.0, 0.0]
    assert wide[0] > 0.25
    assert wide[1] > 0.9
