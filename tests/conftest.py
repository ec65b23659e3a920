"""Settings and fixtures that all tests share."""

import gc
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

# Tests run in parallel, so threads inside each would only compete for the cores. Set this before torch is imported.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# Tests run on the CPU, where they mean the same on every machine. `make test-gpu` shows the GPU to the tests of kernels
# and of tests/gpu. Without it, kernels run in Triton's interpreter, which must be requested before Triton is imported.
if os.environ.get("REGARD_TEST_GPU") != "1":
    os.environ["CUDA_VISIBLE_DEVICES"], os.environ["TRITON_INTERPRET"] = "", "1"
# Run as plain Python what numba would compile for seconds: the data is a few words. See tests/kernels.
os.environ.setdefault("NUMBA_DISABLE_JIT", "1")
sys.path.insert(0, str(Path(__file__).parent))

import jaxtyping
import pytest
from checked_late import decorate_late, shapes
from hypothesis import settings
from hypothesis.internal.conjecture import providers
from sampled import leave_to_long_runs

jaxtyping.jaxtyped = decorate_late
# Derive examples from the test alone. Otherwise every worker spends seconds gathering constants from all loaded
# modules.
providers._get_local_constants = lambda: providers._local_constants

# The time an example takes depends on the machine's load more than on the code.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")

# The tests in these directories run models whose shapes other tests check. Checking takes a third of a test's time.
UNCHECKED = {"browser", "cli", "decoding", "engines", "runs", "seeing", "serving", "training", "verbs", "viewing"}
UNCHECKED |= {"course", "hostile", "onefile"}
# A few of the tests that run for every family go through the whole model; they request `checked_shapes`.
UNCHECKED |= {"test_laws.py", "test_promises.py"}
# These tests use models of toys that the promises check.
UNCHECKED |= {"test_api.py", "test_cards.py", "test_documents.py", "test_extras.py", "test_pointer_package.py"}


def pytest_configure() -> None:
    """Listen to Ctrl-C. Shells make background processes, and everything these start, ignore it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # Modules imported during collection stay loaded. Searching them for garbage again and again takes seconds.
    gc.disable()
    # No test cuts the power, and syncing every file to disk takes a tenth of a training's time.
    os.fsync = lambda descriptor: None
    _watch_batches()


@pytest.hookimpl(tryfirst=True)  # before `-m` chooses by markers
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    leave_to_long_runs(items)


def pytest_collection_finish() -> None:
    """Collect garbage from now on, but more rarely than usual and not among objects that precede the first test."""
    gc.freeze()
    gc.set_threshold(100_000)  # a collection at every 700 new objects takes one second of fifteen
    gc.enable()
    _seed_only_what_is_there()


def _seed_only_what_is_there() -> None:
    """Without a GPU, keep `torch.manual_seed` from recording the stack for a later CUDA start."""
    import torch

    if not torch.cuda.is_available():
        torch.cuda.manual_seed_all = torch.xpu.manual_seed_all = lambda seed: None


def _watch_batches() -> None:
    """Make it an error in every test to draw training batches from global random numbers."""
    from regard.promises.purity import pure, watch_python
    from regard.training import prefetch

    watch_python()
    plain = prefetch.prefetch
    prefetch.prefetch = lambda items, ahead=4: plain(pure(items), ahead)


@pytest.fixture(autouse=True)
def _onednn_as_before() -> Iterator[None]:
    """Restore oneDNN after each test.

    Where a CPU cannot multiply in bf16, torch switches it off for the whole process, and later sums have other bits.
    """
    import torch

    backend: Any = torch.backends.mkldnn
    before = backend.enabled
    yield
    if backend.enabled is not before:
        backend.enabled = before


@pytest.fixture(scope="session")
def triton_interpreter() -> None:
    """Let Triton's interpreter count loops with arrays of one number, which numpy 2.4 no longer converts.

    Triton 3.6, which torch 2.11 needs, calls `int` on such an array. Later releases squeeze it first, as this fixture
    does.
    """
    from triton.runtime import interpreter

    plain = interpreter._patch_lang_tensor

    def patch(tensor: Any, scope: Any) -> None:
        plain(tensor, scope)
        scope.set_attr(tensor, "__index__", lambda counter: int(counter.handle.data.squeeze()))

    interpreter._patch_lang_tensor = patch


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Check shapes in a test and its fixtures, or not, depending on where the test is."""
    directory = item.path.relative_to(Path(__file__).parent).parts[0]
    with shapes(checked=directory not in UNCHECKED):
        return (yield)


@pytest.fixture
def unchecked_shapes() -> Iterator[None]:
    """Switch shape checks off, as they are for users."""
    with shapes(checked=False):
        yield


@pytest.fixture
def checked_shapes() -> Iterator[None]:
    """Switch shape checks on in a file whose other tests take the same paths."""
    with shapes(checked=True):
        yield


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a small trained translator. Tests that change it must copy it first."""
    from small import train_arguments, write_corpus

    from regard.cli import main

    folder = tmp_path_factory.mktemp("trained")
    assert main(train_arguments(*write_corpus(folder), folder / "run")) == 0
    return folder / "run"


@pytest.fixture
def no_curves() -> Iterator[None]:
    """Draw no curves in trainings of this test. Fixtures with a wider scope still draw them."""
    from small import undrawn

    with undrawn():
        yield
