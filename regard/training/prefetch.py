"""Make the next batches while the current one is learnt from."""

import queue
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

Item = TypeVar("Item")
_END = object()


@contextmanager
def prefetch(items: Iterable[Item], ahead: int = 4) -> Iterator[Iterator[Item]]:
    """Yield the items in order, up to `ahead` of them made early by a thread that ends with the block.

    Only items that the caller took count as consumed, not those that were merely fetched.
    """
    ready: queue.Queue = queue.Queue(maxsize=ahead)
    closing = threading.Event()

    def offer(item: object) -> bool:
        while not closing.is_set():
            try:
                ready.put(item, timeout=0.1)
                return True
            except queue.Full:
                continue
        return False

    def work() -> None:
        try:
            for item in items:
                if not offer((item, None)):
                    return
            offer((_END, None))
        except BaseException as error:
            offer((_END, error))

    def take() -> Iterator[Item]:
        while True:
            item, error = ready.get()
            if error is not None:
                raise error
            if item is _END:
                return
            yield item

    thread = threading.Thread(target=work, name="prefetch", daemon=True)
    thread.start()
    try:
        yield take()
    finally:
        closing.set()
        thread.join()
