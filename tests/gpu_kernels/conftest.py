"""Kernels run on the GPU where there is one, and in Triton's interpreter elsewhere."""

import pytest
import torch


@pytest.fixture
def device() -> torch.device:
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")
