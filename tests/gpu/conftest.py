"""Tests that need a GPU; `make test-gpu` runs them, and elsewhere they are reported as skipped."""

from pathlib import Path

import pytest
import torch


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if torch.cuda.is_available():
        return
    here = Path(__file__).parent
    for item in items:
        if item.path.is_relative_to(here):
            item.add_marker(pytest.mark.skip("GPU tests not run: no GPU is shown to them (`make test-gpu` does)"))


@pytest.fixture(autouse=True)
def full_float32() -> None:
    """Multiply in full float32, so that GPU and CPU results are comparable."""
    torch.set_float32_matmul_precision("highest")
    torch.backends.cudnn.allow_tf32 = False
