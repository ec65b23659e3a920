"""Kernels run on the GPU in `make test-gpu`, and elsewhere in Triton's interpreter."""

import pytest
import torch


@pytest.fixture
def device(triton_interpreter: None) -> torch.device:
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")
