"""Dynamic batching: one thread owns a model and works on sentences of several requests together.

A request places an order: some items and the work to do with them. Orders with equal keys share batches. When the
thread is free, it takes the first order and waits for others until there is as much to do as in the last batch, but
never longer than a tenth of the last batch's time or the configured patience. So a lone client is served at once, and
of many clients that each wait for their answer, nearly all share a batch.

`turns.py` decides what comes next, so that no turn should last longer than `Batching.turn`. A turn that does, as a
single sentence or sound may, lets others overtake: between two steps the thread works on a short turn, and then on the
long one for as long again. Work that nobody waits for is abandoned at the next step. Work that cannot be done in time
is refused, on arrival or as soon as that is known.

If the thread dies, all waiting clients get an error at once, and another thread takes its place.
"""

import asyncio
import math
import os
import threading
import time
from collections.abc import AsyncGenerator, Callable, Hashable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from regard.base.doors import Price
from regard.base.faults import TextFault
from regard.base.pauses import pausing
from regard.serving.http.refusals import Refusal
from regard.serving.options import Batching
from regard.serving.queue.process_memory import Memory
from regard.serving.queue.turns import Answer, Batch, Order, Turns, Work

_DEEPEST = 3  # nested turns
_IDLE = 0.5  # seconds without an order after which memory is returned
_SURE = 0.9  # share of a request's time limit; work that needs more is refused


class Abandoned(Exception):
    """Nobody waits for this work."""


@dataclass(frozen=True)
class Done:
    """A finished batch, for the metrics."""

    rows: int
    seconds: float  # without those in which others overtook it
    waited: float  # of its first order, before the batch began


@dataclass(eq=False)
class _Turn:
    """A batch in progress, and the time until which nobody may overtake it."""

    orders: Sequence[Order]
    began: float
    foreseen: float  # seconds
    until: float
    lent: float = 0.0  # seconds in which others overtook it
    loads: Sequence[object] = ()  # what was loaded meanwhile; then its time does not measure the work

    @property
    def abandoned(self) -> bool:
        return all(order.cancelled for order in self.orders)


class Worker:
    """The thread that owns a model, and the orders that wait for it."""

    def __init__(
        self,
        name: str,
        batching: Batching,
        waiting: int,
        clock: Callable[[], float] = time.monotonic,
        seconds: float = math.inf,
    ) -> None:
        self._batching, self._most, self._clock, self._allowed = batching, waiting, clock, seconds
        self._turns = Turns(batching.rows or 32 * len(os.sched_getaffinity(0)), batching.turn)
        self.tell: Callable[[Done], None] = lambda done: None  # called for every finished batch
        self._changed = threading.Condition()
        self._closing, self._last = False, Done(0, 0.0, 0.0)
        self._working: list[_Turn] = []  # nested turns; the last one is running
        self._name, self._memory = f"regard {name}", Memory()
        self._start()

    # In the event loop

    @property
    def waiting(self) -> int:
        """Number of items that have not been started."""
        with self._changed:
            return self._turns.waiting

    @property
    def is_alive(self) -> bool:
        """True if the thread is running."""
        return self._thread.is_alive()

    async def each(
        self, price: Price, key: Hashable | None, work: Work, items: Sequence[Any], costs: Sequence[float]
    ) -> AsyncGenerator[Answer, None]:
        """Yield the result of each item as it is finished; leaving early cancels the rest.

        `costs` are those of the items, in the unit of the price.
        """
        loop, answers = asyncio.get_running_loop(), asyncio.Queue[list[Answer]]()
        if not items:
            return

        def deliver(results: list[Answer]) -> None:
            with suppress(RuntimeError):  # the loop is closed, so nobody waits
                loop.call_soon_threadsafe(answers.put_nowait, results)

        order = Order(price, key, work, items, costs, deliver, arrived=self._clock())
        self._put(order)
        try:
            missing = len(items)
            while missing:
                for place, answer in await answers.get():
                    if isinstance(answer, TextFault) and len(items) == 1:
                        raise answer.without_number()
                    if isinstance(answer, BaseException):
                        raise answer
                    yield place, answer
                    missing -= 1
        finally:
            self._cancel(order)

    def _put(self, order: Order) -> None:
        with self._changed:
            waiting = self._turns.waiting
            if self._closing:
                raise Refusal(503, "The server is shutting down; ask again when it is back.", 5)
            if not self.is_alive:
                raise Refusal(503, "This model has stopped working; the server must be started again.", 60)
            self._refuse_too_long(order)
            too_long = self._turns.shared_seconds(order, self._clock()) > _SURE * self._allowed
            if too_long or (waiting and waiting + order.left > self._most):
                soon = min(max(self._turns.seconds, 1.0), 60.0)
                raise Refusal(503, "The server has too much to do just now; ask again in a while.", soon)
            self._turns.orders.append(order)
            self._changed.notify()

    def _refuse_too_long(self, order: Order) -> None:
        """Refuse an order that could not be done in time even without others."""
        left, now = self._turns.least_seconds(order, self._clock()), self._clock()
        seconds = now - order.arrived + left
        if seconds > _SURE * self._allowed and left > self._batching.turn:
            raise Refusal(
                413,
                f"This would take about {seconds:,.0f} seconds here, but a request may take {self._allowed:g}; ask for "
                "less at a time.",
            )

    def _cancel(self, order: Order) -> None:
        with self._changed:
            order.cancelled = True
            with suppress(ValueError):
                self._turns.orders.remove(order)

    def close(self, seconds: float = 60.0) -> None:
        """Finish accepted orders, then end; wait at most this many seconds."""
        with self._changed:
            self._closing = True
            self._changed.notify()
        self._thread.join(seconds)

    # In the thread

    def _start(self) -> None:
        with self._changed:  # the new thread waits for this lock
            thread = threading.Thread(target=self._live, name=self._name, daemon=True)
            thread.start()
            self._thread = thread

    def _live(self) -> None:
        """Work until closed; if this thread dies before, tell the waiting clients and start another."""
        try:
            self._run()
        except BaseException as error:
            self._fail(Refusal(503, "This model stopped working and was started again; ask again.", 1))
            if not self._closing:
                self._start()
            if not isinstance(error, SystemExit | KeyboardInterrupt):
                raise

    def _run(self) -> None:
        while True:
            try:
                while batch := self._take():
                    self._do(batch)
                return
            except Exception as error:  # work reports its own errors, so this is one of the queue
                self._fail(error)

    def _fail(self, error: Exception) -> None:
        """Report an error of the queue itself to all waiting and running orders."""
        with self._changed:
            everyone = [*self._turns.orders, *(order for turn in self._working for order in turn.orders)]
            self._turns.orders, self._working = [], []
        for order in dict.fromkeys(everyone):
            order.deliver([(order.taken, error)])

    def _take(self) -> Batch:
        """Return the next batch; an empty one when the worker is closed."""
        is_busy = self._last.rows > 0
        with self._changed:
            while True:
                while not self._turns.orders:
                    if self._closing:
                        return []
                    if not self._changed.wait(_IDLE if is_busy else None) and is_busy:
                        self._memory.give_back()
                        is_busy = False
                self._look_for_company(self._turns.orders[0])
                if batch := self._turns.take():  # all orders may have been cancelled meanwhile
                    return batch

    def _look_for_company(self, first: Order) -> None:
        """Wait a little for more orders, as clients that were just answered are likely to ask again."""
        until = first.arrived + min(self._batching.patience, self._last.seconds / 10)
        while first.key is not None and not self._closing and self._turns.alike(first.key) < self._last.rows:
            left = until - self._clock()
            if left <= 0:
                return
            self._changed.wait(left)

    def _do(self, batch: Batch) -> None:
        """Do one turn, learn from its time, and report it."""
        began, price = self._clock(), batch[0][0].price
        cost = sum(order.costs[place] for order, place in batch)
        orders = list(dict.fromkeys(order for order, _ in batch))
        turn = _Turn(orders, began, self._turns.foresee(price, cost), began + self._batching.turn)
        self._working.append(turn)
        try:
            is_finished = self._work(turn, batch)
        except Exception as error:  # of the queue itself, perhaps from a nested turn
            for order in orders:
                order.deliver([(order.taken, error)])
            self._working.remove(turn)
            raise
        self._working.pop()
        seconds = self._clock() - began - turn.lent
        done = Done(len(batch), seconds, began - batch[0][0].arrived)
        if (is_finished or turn.abandoned) and not turn.loads:
            self._turns.learn(price, cost, seconds, self._clock(), len(batch), is_finished)
        if not self._working:
            self._last = done
            self._give_up_late(orders)
        self.tell(done)

    def _give_up_late(self, orders: Sequence[Order]) -> None:
        """Refuse the rest of orders that, as is now known, cannot be done in time."""
        for order in orders:
            try:
                with self._changed:
                    self._refuse_too_long(order)
            except Refusal as refusal:
                self._cancel(order)
                order.deliver([(order.taken, refusal)])

    def _work(self, turn: _Turn, batch: Batch) -> bool:
        """Do a batch and deliver it; if it fails, try each order alone, so that one cannot spoil another."""
        first = batch[0][0]
        try:
            # In a copy, because a nested turn may belong to the same order.
            results = first.context.copy().run(
                self._work_on, turn, [order.items[place] for order, place in batch], first
            )
        except Exception as error:
            if len(turn.orders) == 1:
                first.deliver([(place, error) for _, place in batch])
                return False
            for order in list(turn.orders):
                turn.orders = [order]
                if not order.cancelled:
                    self._work(turn, [(item_order, place) for item_order, place in batch if item_order is order])
            return False
        for order in turn.orders:
            order.deliver(
                [
                    (place, result)
                    for (item_order, place), result in zip(batch, results, strict=True)
                    if item_order is order
                ]
            )
        return True

    def _work_on(self, turn: _Turn, items: list[Any], order: Order) -> list[Any]:
        try:
            with pausing(partial(self._pause, turn)) as loads:
                turn.loads = loads
                results = order.work(items)
        except Exception:
            raise
        except BaseException as error:  # it would end this thread and the work of others
            sentence = f"The work on this broke off ({type(error).__name__}); ask again."
            raise Refusal(503, sentence, 1) from error
        if len(results) != len(items):
            raise AssertionError(f"{len(items)} items were given, but {len(results)} came back")
        return results

    def _pause(self, turn: _Turn, is_free: bool) -> None:
        """Between two steps, abandon work that nobody waits for, and let others overtake a turn that lasts too long.

        They overtake one at a time, and the long turn then continues for as long as that took. A search may also run in
        a thread of its engine; such a thread can abandon work, but works on nothing else.
        """
        if turn.abandoned:
            raise Abandoned
        is_own = threading.current_thread() is self._thread
        is_last = len(self._working) < _DEEPEST and self._working[-1] is turn
        now = self._clock()
        if not (is_own and is_free and is_last) or now < turn.until:
            return
        with self._changed:
            working = [order for turn_ in self._working for order in turn_.orders]
            batch = self._turns.take_short(max(turn.foreseen, now - turn.began - turn.lent), working)
        if batch:
            self._do(batch)
            elapsed = self._clock() - now
            turn.lent += elapsed
            turn.until = now + 2 * elapsed
