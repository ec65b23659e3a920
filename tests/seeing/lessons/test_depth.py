"""Gradients in deep stacks, against backpropagation written out with numpy, and on models."""

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from untrained import untrained_folder

import regard
from regard.base.faults import Fault
from regard.models.parts import Residual
from regard.seeing.lessons.depth import (
    WRAPPERS,
    DeepStack,
    block_gradients,
    block_stacks,
    depth_lesson,
    draw_sublayers,
    stack_norms,
    trained_depth_lesson,
)

EPSILON = 1e-5


def norm_and_jacobian(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """n = (x − mean)/s and ∂n/∂x = (1 − 1/w − n nᵀ/w)/s."""
    width, scale = len(x), np.sqrt(x.var() + EPSILON)
    n = (x - x.mean()) / scale
    return n, (np.eye(width) - 1 / width - np.outer(n, n) / width) / scale


def written_out(kind: str, x: np.ndarray, layers: list[tuple[np.ndarray, np.ndarray]], g: np.ndarray) -> list[float]:
    """‖∂⟨g, x_L⟩/∂x_l‖ for l = 0 … L, one Jacobian after another."""
    jacobians, one = [], np.eye(len(x))
    for inward, outward in layers:
        read, before = norm_and_jacobian(x) if kind == "residual, norm before" else (x, one)
        active = np.diag((inward @ read > 0).astype(float))
        out, jacobian = outward @ np.maximum(inward @ read, 0), outward @ active @ inward @ before
        if kind.startswith("residual"):
            out, jacobian = x + out, one + jacobian
        if kind in ("norm alone", "residual, norm after"):
            out, around = norm_and_jacobian(out)
            jacobian = around @ jacobian
        x, jacobians = out, [*jacobians, jacobian]
    norms = [float(np.linalg.norm(g))]
    for jacobian in jacobians[::-1]:
        g = g @ jacobian
        norms.append(float(np.linalg.norm(g)))
    return norms[::-1]


@pytest.mark.parametrize("kind", WRAPPERS)
def test_norms_are_those_of_the_jacobians_written_out(kind: str) -> None:
    sublayers = draw_sublayers(DeepStack(layers=5, width=4, seed=3))
    generator = torch.Generator().manual_seed(7)
    x, g = (torch.randn(4, dtype=torch.float64, generator=generator) for _ in range(2))
    norms, sizes = stack_norms(kind, x[None], sublayers, g[None])
    layers = [(inward.numpy(), outward.numpy()) for inward, outward in sublayers]
    assert norms == pytest.approx(written_out(kind, x.numpy(), layers, g.numpy()), rel=1e-9)
    assert sizes[0] == pytest.approx(float(np.sqrt((x.numpy() ** 2).mean())))


def test_one_number_by_hand() -> None:
    """With V = (1; −1) and U = (½, 0) in one dimension f(x) = x/2 for x > 0: each layer halves, or makes 3/2."""
    half = (torch.tensor([[1.0], [-1.0]], dtype=torch.float64), torch.tensor([[0.5, 0.0]], dtype=torch.float64))
    one = torch.ones(1, 1, dtype=torch.float64)
    assert stack_norms("plain", one, [half] * 3, one) == ([0.125, 0.25, 0.5, 1.0], [1.0, 0.5, 0.25, 0.125])
    assert stack_norms("residual alone", one, [half] * 2, one) == ([2.25, 1.5, 1.0], [1.0, 1.5, 2.25])


def test_a_plain_stack_loses_the_gradient_and_residuals_keep_it() -> None:
    gradients, sizes = depth_lesson(DeepStack(layers=24)).panels
    left = {line.name: line.points[-1][1] for line in gradients.lines}
    assert all(line.points[0] == (0, pytest.approx(1.0)) for line in gradients.lines)
    assert left["plain"] < 1e-5 < 1 < left["residual alone"]
    assert all(0.1 < left[name] < 10 for name in ("residual, norm after", "residual, norm before"))
    assert dict(sizes.lines[3].points)[24] == pytest.approx(1.0, rel=1e-3)


def test_gradients_of_blocks_are_found_by_hooks() -> None:
    """Two blocks x + f(x) with f(x) = w x: the gradient of the sum is (1 + w)^d in each of two coordinates."""

    class Block(nn.Module):
        def __init__(self, weight: float) -> None:
            super().__init__()
            self.weight, self.around = weight, Residual(2, 0.0, "before")
            self.around.norm = nn.Identity()  # type: ignore[assignment]

        def forward(self, states: Tensor) -> tuple[Tensor, None]:
            return self.around(states, lambda x: self.weight * x), None

    blocks = nn.ModuleList([Block(1.0), Block(2.0)])
    network, inputs = nn.Module(), torch.ones(1, 2, requires_grad=True)
    network.stack = blocks
    stacks = block_stacks(network)
    assert list(stacks) == ["stack"]
    norms = block_gradients(stacks, lambda: blocks[1](blocks[0](inputs)[0])[0].sum())
    assert norms["stack"] == pytest.approx([6 * 2**0.5, 3 * 2**0.5, 2**0.5])
    assert not any(block._forward_hooks for block in blocks)


def test_a_translator_block_by_block(tmp_path: Path) -> None:
    model = regard.load(untrained_folder(tmp_path / "transformer", "transformer", encoder_layers=2))
    (panel,) = trained_depth_lesson(model, "Ana reads a green book.").panels
    assert {line.name: len(line.points) for line in panel.lines} == {"encoder": 3, "decoder": 2}
    assert all(value > 0 for line in panel.lines for _, value in line.points)
    with pytest.raises(Fault, match="There is no text to read"):
        trained_depth_lesson(model, " ")
    recurrent = regard.load(untrained_folder(tmp_path / "recurrent", cell="gru"))
    with pytest.raises(Fault, match="has no blocks with residual connections"):
        trained_depth_lesson(recurrent, "Ana reads a green book.")
