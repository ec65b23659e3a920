"""DRAW's windows in one kernel, compared with plain torch in float64."""

import pytest
import torch

from regard.kernels.windows import turn as turn_by_kernel
from regard.models.draw.pointwise import Grids, turn


@pytest.mark.parametrize(("height", "width", "grids"), [(7, 5, Grids(2, 3)), (6, 9, Grids(3, 5))])
def test_a_turn_and_its_gradients_are_those_of_plain_torch(
    height: int, width: int, grids: Grids, device: torch.device
) -> None:
    """Windows of any place, size, blur and strength, and all gradients."""
    torch.manual_seed(1)
    pictures = torch.randint(2, (2, height, width), device=device).double()
    shapes = [(height, width), (10 + grids.write**2,), (6,), (6,)]
    leaves = [torch.randn(2, *shape, dtype=torch.double, device=device).requires_grad_() for shape in shapes]
    outputs, expected = turn_by_kernel(pictures, *leaves, grids), turn(pictures, *leaves, grids)
    upstream = [torch.randn_like(output) for output in expected]
    for value, true in zip(outputs, expected, strict=True):
        torch.testing.assert_close(value, true, rtol=1e-9, atol=1e-11)
    gradients = (torch.autograd.grad(outputs_of, leaves, upstream) for outputs_of in (outputs, expected))
    for value, true in zip(*gradients, strict=True):
        torch.testing.assert_close(value, true, rtol=1e-9, atol=1e-11)
