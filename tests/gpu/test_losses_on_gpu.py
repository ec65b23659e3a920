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
    generator = torch.Generator().manual_seed(1)
    states, weight = (torch.randn(*shape, generator=generator, dtype=dtype) for shape in ((passes, 7, 4), (5, 4)))
    results = []
    for device in ("cpu", "cuda"):
        inputs = [tensor.detach().to(device).requires_grad_() for tensor in (states, weight)]
        if passes == 2:
            loss = consistent_cross_entropy(*inputs, PADDED.to(device), 0.1, 1.0)
        else:
            loss = projected_cross_entropy(inputs[0][0], inputs[1], PADDED.to(device), 0.1)
        loss.backward()
        results.append([loss.detach().cpu(), *(leaf.grad.cpu() for leaf in inputs if leaf.grad is not None)])
    torch.testing.assert_close(results[1], results[0])
    assert not results[0][1][:, PADDED < 0].any()
