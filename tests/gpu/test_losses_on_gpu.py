"""Output-layer losses on a GPU without the kernel: in float64, and without Triton."""

import pytest
import torch

from regard.models import cross_entropy
from regard.models.cross_entropy import consistent_cross_entropy, projected_cross_entropy

PADDED = torch.tensor([3, -1, 0, 4, -1, -1, 2])


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("passes", [1, 2])
def test_padding_is_dropped_where_no_kernel_skips_it(
    passes: int, dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cross_entropy, "available", lambda: False)
    drawn = torch.Generator().manual_seed(1)
    states, weight = (torch.randn(*shape, generator=drawn, dtype=dtype) for shape in ((passes, 7, 4), (5, 4)))
    found = []
    for device in ("cpu", "cuda"):
        inputs = [each.detach().to(device).requires_grad_() for each in (states, weight)]
        if passes == 2:
            loss = consistent_cross_entropy(*inputs, PADDED.to(device), 0.1, 1.0)
        else:
            loss = projected_cross_entropy(inputs[0][0], inputs[1], PADDED.to(device), 0.1)
        loss.backward()
        found.append([loss.detach().cpu(), *(each.grad.cpu() for each in inputs if each.grad is not None)])
    torch.testing.assert_close(found[1], found[0])
    assert not found[0][1][:, PADDED < 0].any()
