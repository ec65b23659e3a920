"""Work on one item while the last one is still being worked on, for work that waits for a device most of its time."""

import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

_QUICK = 0.0005  # seconds after which a thread lets another have its turn; Python's own 0.005 would keep a GPU waiting


def overlapped(work: Callable[[Item], Result], items: Iterable[Item], at_once: int) -> Iterator[Result]:
    """The results of `work` on each item, in their order, with so many items in work at once, each in a thread.

    With one at a time there is no thread. An error comes where its result would have come; nothing is begun after it.
    """
    if at_once == 1:
        yield from map(work, items)
        return
    coming: deque[Future[Result]] = deque()
    with ThreadPoolExecutor(at_once) as pool, _quick_turns():
        try:
            for item in items:
                coming.append(pool.submit(work, item))
                if len(coming) > at_once:  # so that no thread waits while a result is being used
                    yield coming.popleft().result()
            while coming:
                yield coming.popleft().result()
        finally:
            for future in coming:
                future.cancel()


@contextmanager
def _quick_turns() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(_QUICK)
    try:
        yield
    finally:
        sys.setswitchinterval(before)
