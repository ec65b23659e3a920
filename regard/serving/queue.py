"""Dynamic batching: one thread owns a model, and sentences of several requests are worked on together.

A request hands in an order: some items and what is to be done with them. Orders of equal keys share batches. When the
thread is free it takes the first order and looks for company: it waits until there is as much to do as in the last
batch, but never longer than a tenth of what that took, nor than anyone may be kept waiting. So a lonely client is
served at once, and of many clients that each wait for their answer nearly all share a batch. Items are taken from the
orders in turn, one of each, so that a book cannot keep a sentence waiting; long ones fill a batch sooner. An order that
is cancelled is forgotten, and what nobody waits for any more can be given up in the middle (`abandoned`).
"""

import asyncio
import os
import threading
import time
from collections import deque
from collections.abc import AsyncGenerator, Callable, Hashable, Sequence
from contextlib import suppress
from contextvars import Context, copy_context
from dataclasses import dataclass, field
from typing import Any

from regard.serving.options import Batching
from regard.serving.refusals import Refusal

Work = Callable[[list[Any]], list[Any]]
Answer = tuple[int, Any]  # the place of an item in its order, and what became of it, or what went wrong


class Abandoned(Exception):
    """Nobody waits for this work any more."""


@dataclass(eq=False)
class Order:
    """Items of one request; those of an order without a key share a batch with no other order."""

    key: Hashable | None
    work: Work
    items: Sequence[Any]
    deliver: Callable[[list[Answer]], None]  # called in the worker's thread
    context: Context = field(default_factory=copy_context)  # of who asked, so that nothing of others is seen
    arrived: float = field(default_factory=time.monotonic)
    taken: int = 0  # items that were given to the model
    cancelled: bool = False

    @property
    def left(self) -> int:
        return len(self.items) - self.taken


@dataclass(frozen=True)
class Done:
    """What is told of a batch when it is over."""

    rows: int
    seconds: float
    waited: float  # by its first order, before the batch began


class Worker:
    """The thread that owns a model, and the orders that wait for it."""

    def __init__(
        self, name: str, batching: Batching, waiting: int, size: Callable[[Any], int] = lambda item: 1
    ) -> None:
        self._batching, self._most, self._size = batching, waiting, size
        self._rows = batching.rows or 32 * len(os.sched_getaffinity(0))
        self.tell: Callable[[Done], None] = lambda done: None  # who hears of every batch
        self._changed = threading.Condition()
        self._orders: deque[Order] = deque()
        self._working: Sequence[Order] = ()
        self._closing, self._rate, self._last = False, 0.0, Done(0, 0.0, 0.0)
        self._thread = threading.Thread(target=self._run, name=f"regard {name}", daemon=True)
        self._thread.start()

    # In the event loop

    @property
    def waiting(self) -> int:
        """Items that nobody works on yet."""
        with self._changed:
            return sum(order.left for order in self._orders)

    async def each(self, key: Hashable | None, work: Work, items: Sequence[Any]) -> AsyncGenerator[Answer, None]:
        """What becomes of each item, in the order in which they are finished; leaving early cancels the rest."""
        loop, answers = asyncio.get_running_loop(), asyncio.Queue[list[Answer]]()

        def deliver(found: list[Answer]) -> None:
            with suppress(RuntimeError):  # the loop is closed, and nobody waits
                loop.call_soon_threadsafe(answers.put_nowait, found)

        order = Order(key, work, items, deliver)
        self._put(order)
        try:
            missing = len(items)
            while missing:
                for place, answer in await answers.get():
                    if isinstance(answer, BaseException):
                        raise answer
                    yield place, answer
                    missing -= 1
        finally:
            self._cancel(order)

    async def one(self, work: Callable[[], Any]) -> Any:
        """What becomes of a piece of work that stands alone."""
        (answer,) = [answer async for _, answer in self.each(None, lambda _: [work()], [None])]
        return answer

    def _put(self, order: Order) -> None:
        with self._changed:
            waiting = sum(other.left for other in self._orders)
            if self._closing:
                raise Refusal(503, "The server is shutting down; ask again when it is back.", 5)
            if waiting and waiting + order.left > self._most:
                soon = waiting / self._rate if self._rate else 1.0
                raise Refusal(503, "The server has too much to do just now; ask again in a while.", min(soon, 60))
            self._orders.append(order)
            self._changed.notify()

    def _cancel(self, order: Order) -> None:
        with self._changed:
            order.cancelled = True
            with suppress(ValueError):
                self._orders.remove(order)

    def close(self, seconds: float = 60.0) -> None:
        """Finish what was accepted, then end."""
        with self._changed:
            self._closing = True
            self._changed.notify()
        self._thread.join(seconds)

    # In the thread

    def abandoned(self) -> bool:
        """Whether nobody waits any more for what this thread works on; another that uses the model too works on."""
        own = threading.current_thread() is self._thread
        return own and bool(self._working) and all(order.cancelled for order in self._working)

    def _run(self) -> None:
        while batch := self._take():
            began = time.monotonic()
            self._working = list(dict.fromkeys(order for order, _ in batch))
            self._work(batch)
            self._working = ()
            done = Done(len(batch), time.monotonic() - began, began - batch[0][0].arrived)
            self._last = done
            self._rate = 0.8 * self._rate + 0.2 * done.rows / max(done.seconds, 1e-6)
            self.tell(done)

    def _take(self) -> list[tuple[Order, int]]:
        """The next batch, as orders and places in them; none when all is over."""
        with self._changed:
            while True:
                while not self._orders:
                    if self._closing:
                        return []
                    self._changed.wait()
                self._look_for_company(self._orders[0])
                if self._orders:  # all may have been cancelled meanwhile
                    return self._pick()

    def _look_for_company(self, first: Order) -> None:
        """Wait for those who were just answered, as they are likely to ask again at once."""
        until = first.arrived + min(self._batching.patience, self._last.seconds / 10)
        while first.key is not None and not self._closing and self._alike(first.key) < self._last.rows:
            left = until - time.monotonic()
            if left <= 0:
                return
            self._changed.wait(left)

    def _alike(self, key: Hashable) -> int:
        return sum(order.left for order in self._orders if order.key == key)

    def _pick(self) -> list[tuple[Order, int]]:
        first = self._orders[0]
        alike = [first] if first.key is None else [order for order in self._orders if order.key == first.key]
        batch: list[tuple[Order, int]] = []
        room = self._rows * self._batching.words
        while alike and len(batch) < self._rows:
            for order in alike[: self._rows - len(batch)]:
                room -= self._size(order.items[order.taken])
                if batch and room < 0:
                    alike = []
                    break
                batch.append((order, order.taken))
                order.taken += 1
            alike = [order for order in alike if order.left]
        taken = {id(order) for order, _ in batch}
        # Others come first the next time.
        self._orders = deque(sorted((o for o in self._orders if o.left), key=lambda order: id(order) in taken))
        return batch

    def _work(self, batch: list[tuple[Order, int]]) -> None:
        """Do a batch and deliver it; if it fails, each order is tried alone, so that one cannot spoil another."""
        first = batch[0][0]
        try:
            found = first.context.run(first.work, [order.items[place] for order, place in batch])
            if len(found) != len(batch):
                raise AssertionError(f"{len(batch)} items were given and {len(found)} came back")
        except Exception as error:
            if len(self._working) == 1:
                first.deliver([(place, error) for _, place in batch])
                return
            everyone = self._working
            for order in everyone:
                self._working = [order]
                if not order.cancelled:
                    self._work([(own, place) for own, place in batch if own is order])
            return
        for order in self._working:
            order.deliver([(place, each) for (own, place), each in zip(batch, found, strict=True) if own is order])
