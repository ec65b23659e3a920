"""Distribute work over processes, with results in order and nothing left running, whatever happens."""

import ctypes
import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any, TypeVar

from regard.base.faults import Fault

Item = TypeVar("Item")
Result = TypeVar("Result")

_WAITING = 2  # items queued beyond those in progress, so that no worker waits and few are in memory
_LOOK = 5.0  # seconds between checks whether an awaited worker was stopped
_PARENT_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG of Linux

_installed: Callable[[Any], Any]  # in a worker process: what to do with every item


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0))


def map_in_order(work: Callable[[Item], Result], items: Iterable[Item], workers: int) -> Generator[Result, None, None]:
    """Yield the results of `work` on each item, in order, from `workers` processes; from this one if 0.

    Items are taken as needed, and `work` is sent to each worker once. A worker's fault is raised here. Closing the
    generator kills everything still in progress.
    """
    if not workers:
        yield from map(work, items)
        return
    # Spawned, not forked: forking a process with threads, such as torch starts, may hang.
    executor = ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), _install, (work,))
    under_way: deque[Future[Result]] = deque()
    try:
        for item in items:
            under_way.append(executor.submit(_do, item))
            if len(under_way) >= workers + _WAITING:
                yield _await_result(under_way.popleft(), executor)
        while under_way:
            yield _await_result(under_way.popleft(), executor)
    except BrokenProcessPool:
        raise Fault(
            "A worker process ended early: it ran out of memory, or a script calls regard outside of `if "
            "__name__ == '__main__':`. Finished work is kept; the same call continues from there."
        ) from None
    except BaseException:
        _kill(executor)
        raise
    finally:
        executor.shutdown(cancel_futures=True)


def _await_result(future: Future[Result], executor: ProcessPoolExecutor) -> Result:
    """Return the result of a worker that may take its time; do not wait forever for a stopped one."""
    stopped: set[int] = set()
    while True:
        try:
            return future.result(_LOOK)
        except TimeoutError:
            if future.done():  # the work itself timed out
                raise
        before, stopped = stopped, {number for number in _processes(executor) if is_stopped(number)}
        for number in before & stopped:
            raise Fault(
                f"The worker process {number} was stopped (SIGSTOP) and has been killed. Finished work is "
                "kept; the same call continues from there."
            )


def die_with_parent() -> None:
    """Have this process killed when the one that started it dies."""
    ctypes.CDLL(None).prctl(_PARENT_DEATH_SIGNAL, signal.SIGKILL)


def end_in_words(status: int) -> str:
    """Describe how a process ended, by its exit status in Python, as the rest of a sentence."""
    return f"was killed by {signal.Signals(-status).name}" if status < 0 else f"ended with status {status}"


def is_stopped(number: int) -> bool:
    """Return True if a process was stopped (SIGSTOP) and does nothing until it is continued."""
    return _about_process(number)[:1] == [b"T"]


def is_waiting_for_a_disk(number: int) -> bool:
    """Return True if a process is waiting for a disk; nothing can end it meanwhile."""
    return _about_process(number)[:1] == [b"D"]


def processor_time(number: int) -> int | None:
    """Return the CPU time of a process with all its threads, in ticks, or None if unknown."""
    about = _about_process(number)
    return int(about[11]) + int(about[12]) if about else None


def _about_process(number: int) -> list[bytes]:
    """Return a process's fields in Linux from its state on (man proc_pid_stat); empty elsewhere or if it ended."""
    try:
        about = Path(f"/proc/{number}/stat").read_bytes()
    except OSError:
        return []
    return about.rpartition(b")")[2].split()


def is_starting_worker() -> bool:
    """Return True in a worker that is still importing its script, which should only define things."""
    return bool(getattr(multiprocessing.current_process(), "_inheriting", False))


def _processes(executor: ProcessPoolExecutor) -> dict[int, Any]:
    return dict(executor._processes or {})


def _kill(executor: ProcessPoolExecutor) -> None:
    """Kill the workers, as `kill_workers` does since Python 3.14."""
    for process in _processes(executor).values():
        process.kill()


def _install(work: Callable[[Any], Any]) -> None:
    global _installed
    _installed = work
    end_with_parent()


def end_with_parent() -> None:
    """Prepare a worker: ignore Ctrl-C, which the main process handles, and die with that process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    die_with_parent()
    parent = multiprocessing.parent_process()
    if parent is None or not parent.is_alive():
        os._exit(1)


def _do(item: Any) -> Any:
    return _installed(item)
