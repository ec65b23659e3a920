"""What all tests share."""

import gc
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# Tests run side by side; threads inside each would only fight for the cores. Set before torch is imported.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# Without a GPU, kernels run in Triton's interpreter; it is asked for before anybody imports Triton.
if not Path("/dev/nvidiactl").exists():
    os.environ["TRITON_INTERPRET"] = "1"
# What numba would compile for seconds runs as plain Python, on data of a few words; see tests/kernels.
os.environ["NUMBA_DISABLE_JIT"] = "1"
sys.path.insert(0, str(Path(__file__).parent))

import jaxtyping
import pytest
from hypothesis import settings

# How long an example takes says more of what else the machine does than of the code.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")

# The tests in these directories run models whose shapes other tests check, which takes a third of the time of a test.
UNCHECKED = {"browser", "cli", "decoding", "engines", "runs", "seeing", "serving", "verbs", "viewing"}


def pytest_configure() -> None:
    """Listen to Ctrl-C, which a shell has what it runs in the background ignore, and all that this starts with it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # What is imported while tests are collected stays; to look through it for garbage again and again takes seconds.
    gc.disable()
    _watch_batches()


def pytest_collection_finish() -> None:
    """From now on look for garbage, but not among what was there before the first test."""
    gc.freeze()
    gc.enable()


def _watch_batches() -> None:
    """In all tests, make it an error to draw batches for a training from global random numbers."""
    from purity import pure, watch_python

    from regard.training import prefetch

    watch_python()
    plain = prefetch.prefetch
    prefetch.prefetch = lambda items, ahead=4: plain(pure(items), ahead)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Check shapes in a test and its fixtures, or not, by where the test is."""
    directory = item.path.relative_to(Path(__file__).parent).parts[0]
    with shapes(checked=directory not in UNCHECKED):
        return (yield)


@contextmanager
def shapes(checked: bool) -> Iterator[None]:
    before = jaxtyping.config.jaxtyping_disable
    jaxtyping.config.update("jaxtyping_disable", not checked)
    try:
        yield
    finally:
        jaxtyping.config.update("jaxtyping_disable", before)


@pytest.fixture
def unchecked_shapes() -> Iterator[None]:
    """Switch the checking of shapes off, to see what users see who do not have it on."""
    with shapes(checked=False):
        yield


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a small trained translator; who changes it takes a copy."""
    from small import train_arguments, write_corpus

    from regard.cli import main

    folder = tmp_path_factory.mktemp("trained")
    assert main(train_arguments(*write_corpus(folder), folder / "run")) == 0
    return folder / "run"


@pytest.fixture
def no_curves() -> Iterator[None]:
    """Trainings of this test draw no curves; those of fixtures with a wider scope do."""
    from small import undrawn

    with undrawn():
        yield
