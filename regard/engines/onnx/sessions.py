"""Graphs opened with onnxruntime, and work shared out among threads."""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextvars import copy_context
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from regard.base.extras import importing
from regard.base.faults import Fault
from regard.base.pauses import between_steps, has_pauses

_NAP = 0.01  # seconds between two checks for other work
# x86 CPUs without VNNI add int8 products in pairs in 16 bits, where they overflow. This key selects exact sums there.
_EXACT_SUMS = "session.x64quantprecision"
Item = TypeVar("Item")
Result = TypeVar("Result")


def open_graph(path: Path) -> Any:
    """Return an onnxruntime session of a graph; the work of one text stays in one thread."""
    with importing("onnx", "An ONNX export"):
        import onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3  # errors
    options.add_session_config_entry(_EXACT_SUMS, "1")
    try:
        return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # its own exception types, without a common base
        raise Fault(f"onnxruntime cannot read {path}: {str(error).splitlines()[0].rstrip('.')}.") from None


def run_graph(graph: Any, inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the outputs of a graph by name."""
    names = [output.name for output in graph.get_outputs()]
    return dict(zip(names, graph.run(names, inputs), strict=True))


def run_checked(graph: Any, names: Sequence[str], inputs: dict[str, np.ndarray]) -> list[np.ndarray]:
    """Return these outputs of a graph; refuse a graph that fails, which does not fit the model around it."""
    try:
        outputs: list[np.ndarray] = graph.run(names, inputs)
    except Exception as error:  # its own exception types, without a common base
        reason = next(iter(str(error).splitlines()), type(error).__name__).rstrip(".")
        raise Fault(f"onnxruntime cannot run this export ({reason}); make it again, with --overwrite.") from None
    return outputs


def in_threads(
    work: Callable[[Item], Result], items: Sequence[Item], threads: int | None = None
) -> Iterator[tuple[Item, Result]]:
    """Yield each item with its result, in order; by default one thread works on each core."""
    pool = ThreadPoolExecutor(threads or len(os.sched_getaffinity(0)))
    try:
        # Each in a copy of this context, so that searches in other threads also know when to stop.
        futures = [pool.submit(copy_context().run, work, item) for item in items]
        for item, future in zip(items, futures, strict=True):
            yield item, _await(future)
    finally:
        pool.shutdown(cancel_futures=True)  # an interruption does not wait for the rest


def _await(future: "Future[Result]") -> Result:
    """Wait for work in another thread; meanwhile the caller may do other work."""
    while has_pauses() and not wait([future], timeout=_NAP).done:
        between_steps()
    return future.result()
