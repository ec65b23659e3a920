"""Work spread over processes, with the results in order and nothing left running whatever happens."""

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

_WAITING = 2  # items beyond those being worked on, so that no worker waits and few lie in memory
_LOOK = 5.0  # seconds between two looks at whether a worker that is waited for was stopped
_PARENT_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG of Linux

_installed: Callable[[Any], Any]  # in a worker process: what it does with every item


def cores() -> int:
    """Number of cores that this process may use."""
    return len(os.sched_getaffinity(0))


def map_in_order(work: Callable[[Item], Result], items: Iterable[Item], workers: int) -> Generator[Result, None, None]:
    """The results of `work` on each item, in the order of the items, by so many worker processes; by this one if 0.

    The items are drawn as they are needed, and `work` travels to each worker once. A fault of a worker is raised here.
    Close the generator, and whatever is still under way is killed.
    """
    if not workers:
        yield from map(work, items)
        return
    # Spawned, not forked: a fork of a process with threads, such as torch starts, may hang.
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
            "A worker process has ended early: for want of memory, or because a script calls regard outside of "
            "`if __name__ == '__main__':`. What is finished is kept, and the same call goes on from there."
        ) from None
    except BaseException:
        _kill(executor)
        raise
    finally:
        executor.shutdown(cancel_futures=True)


def _await_result(asked: Future[Result], executor: ProcessPoolExecutor) -> Result:
    """The result of a worker that may take its time; one that was stopped would be waited for without end."""
    stopped: set[int] = set()
    while True:
        try:
            return asked.result(_LOOK)
        except TimeoutError:
            if asked.done():  # it was the work that ran out of time
                raise
        before, stopped = stopped, {number for number in _processes(executor) if is_stopped(number)}
        for number in before & stopped:
            raise Fault(
                f"The worker process {number} was stopped (SIGSTOP) and ended instead of waited for. "
                "What is finished is kept, and the same call goes on from there."
            )


def die_with_parent() -> None:
    """Let this process be killed when the one that started it dies."""
    ctypes.CDLL(None).prctl(_PARENT_DEATH_SIGNAL, signal.SIGKILL)


def end_in_words(status: int) -> str:
    """Describe how a process ended, by the exit status that Python gives it, as the rest of a sentence."""
    return f"was killed by {signal.Signals(-status).name}" if status < 0 else f"ended with status {status}"


def is_stopped(number: int) -> bool:
    """Return True if a process was stopped (SIGSTOP) and does nothing until it is continued."""
    return _about_process(number)[:1] == [b"T"]


def is_waiting_for_a_disk(number: int) -> bool:
    """Return True if the system keeps a process waiting for a disk; nothing could end it meanwhile."""
    return _about_process(number)[:1] == [b"D"]


def processor_time(number: int) -> int | None:
    """Return the processor time of a process with all its threads, in ticks, or None if unknown."""
    about = _about_process(number)
    return int(about[11]) + int(about[12]) if about else None


def _about_process(number: int) -> list[bytes]:
    """Return what Linux reports of a process, from its state on (man proc_pid_stat); empty elsewhere or if it has
    ended.
    """
    try:
        about = Path(f"/proc/{number}/stat").read_bytes()
    except OSError:
        return []
    return about.rpartition(b")")[2].split()


def is_starting_worker() -> bool:
    """Return True in a worker that still imports the script it was started from, which should only define things."""
    return bool(getattr(multiprocessing.current_process(), "_inheriting", False))


def _processes(executor: ProcessPoolExecutor) -> dict[int, Any]:
    return dict(executor._processes or {})


def _kill(executor: ProcessPoolExecutor) -> None:
    """Kill the workers, as `kill_workers` does from Python 3.14 on."""
    for process in _processes(executor).values():
        process.kill()


def _install(work: Callable[[Any], Any]) -> None:
    global _installed
    _installed = work
    end_with_parent()


def end_with_parent() -> None:
    """Make a worker ready: Ctrl-C is for the main process to handle, and when that one dies so does the worker."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    die_with_parent()
    parent = multiprocessing.parent_process()
    if parent is None or not parent.is_alive():
        os._exit(1)


def _do(item: Any) -> Any:
    return _installed(item)
