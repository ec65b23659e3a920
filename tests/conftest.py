"""What all tests share."""

import os

# Tests run side by side; threads inside each would only fight for the cores. Set before torch is imported.
os.environ.setdefault("OMP_NUM_THREADS", "1")

from collections.abc import Iterator

import jaxtyping
import pytest


@pytest.fixture
def unchecked_shapes() -> Iterator[None]:
    """Switch the checking of shapes off, to see what users see who do not have it on."""
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)
