"""What all tests share."""

import gc
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

# Tests run side by side; threads inside each would only fight for the cores. Set before torch is imported.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# Tests run on the CPU, where a test means the same on every machine; `make test-gpu` shows those of kernels and of
# tests/gpu the GPU. Without it kernels run in Triton's interpreter, which is asked for before anyone imports Triton.
if os.environ.get("REGARD_TEST_GPU") != "1":
    os.environ["CUDA_VISIBLE_DEVICES"], os.environ["TRITON_INTERPRET"] = "", "1"
# What numba would compile for seconds runs as plain Python, on data of a few words; see tests/kernels.
os.environ.setdefault("NUMBA_DISABLE_JIT", "1")
sys.path.insert(0, str(Path(__file__).parent))

import jaxtyping
import pytest
from checked_late import decorate_late, shapes
from hypothesis import settings
from hypothesis.internal.conjecture import providers

jaxtyping.jaxtyped = decorate_late
# Examples follow from the test alone, and not also from the constants of all modules that happen to be loaded, which
# every worker would gather for seconds.
providers._get_local_constants = lambda: providers._local_constants

# How long an example takes says more of what else the machine does than of the code.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")

# The tests in these directories run models whose shapes other tests check, which takes a third of the time of a test.
UNCHECKED = {"browser", "cli", "decoding", "engines", "runs", "seeing", "serving", "training", "verbs", "viewing"}
# Of what is held of every family, a few tests go through all of its model; they ask for `checked_shapes`.
UNCHECKED |= {"test_laws.py", "test_promises.py"}


def pytest_configure() -> None:
    """Listen to Ctrl-C, which a shell has what it runs in the background ignore, and all that this starts with it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # What is imported while tests are collected stays; to look through it for garbage again and again takes seconds.
    gc.disable()
    # No test cuts the power, and to wait for the disk at every file takes a tenth of the time of a training.
    os.fsync = lambda descriptor: None
    _watch_batches()


def pytest_collection_finish() -> None:
    """From now on look for garbage, but not among what was there before the first test, and more rarely than usual."""
    gc.freeze()
    gc.set_threshold(100_000)  # to look at every 700 new objects takes one second of fifteen
    gc.enable()
    _seed_only_what_is_there()


def _seed_only_what_is_there() -> None:
    """Where there is no GPU, keep `torch.manual_seed` from writing down the stack for the day that there is one."""
    import torch

    if not torch.cuda.is_available():
        torch.cuda.manual_seed_all = torch.xpu.manual_seed_all = lambda seed: None


def _watch_batches() -> None:
    """In all tests, make it an error to draw batches for a training from global random numbers."""
    from regard.promises.purity import pure, watch_python
    from regard.training import prefetch

    watch_python()
    plain = prefetch.prefetch
    prefetch.prefetch = lambda items, ahead=4: plain(pure(items), ahead)


@pytest.fixture(scope="session")
def triton_interpreter() -> None:
    """Let Triton's interpreter count loops by arrays of one number, which numpy 2.4 no longer takes for a number.

    Triton 3.6, which torch 2.11 needs, calls `int` on such an array; later releases squeeze it first, as done here.
    """
    from triton.runtime import interpreter

    plain = interpreter._patch_lang_tensor

    def patch(tensor: Any, scope: Any) -> None:
        plain(tensor, scope)
        scope.set_attr(tensor, "__index__", lambda counter: int(counter.handle.data.squeeze()))

    interpreter._patch_lang_tensor = patch


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Check shapes in a test and its fixtures, or not, by where the test is."""
    directory = item.path.relative_to(Path(__file__).parent).parts[0]
    with shapes(checked=directory not in UNCHECKED):
        return (yield)


@pytest.fixture
def unchecked_shapes() -> Iterator[None]:
    """Switch the checking of shapes off, to see what users see who do not have it on."""
    with shapes(checked=False):
        yield


@pytest.fixture
def checked_shapes() -> Iterator[None]:
    """Switch the checking of shapes on, in a file whose other tests go the same ways."""
    with shapes(checked=True):
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
