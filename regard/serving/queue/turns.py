"""Whose turn it is: the orders that wait for a model, and which of their items are worked on next.

Every item says what it costs, in the unit of its price, and `Speed` knows how much of that was done in a second
lately; so the seconds of a turn can be foreseen, and are bounded. Items are taken from the orders one of each and over
again, as long as they fit. One that does not fit into any turn is worked on alone, so that it keeps waiting nobody but
those who came later; and these may pass it, in short turns inside its own (`worker.py`). Whoever had a turn stands
behind those who had none.

Ordinary items share a turn even where they are not foreseen to fit, up to the rows of a batch: one alone takes nearly
as long as several together, so a slow model that was given them one by one would never be measured to be quicker. Their
batches begin small, grow as long as they end in time, and shrink when they do not. That time is shorter where nobody
can pass such a turn, as in an engine that cannot be interrupted.
"""

import time
from collections import deque
from collections.abc import Callable, Collection, Hashable, Sequence
from contextvars import Context, copy_context
from dataclasses import dataclass, field
from typing import Any

from regard.base.doors import Price

Work = Callable[[list[Any]], list[Any]]
Answer = tuple[int, Any]  # the place of an item in its order, and what became of it, or what went wrong

_HALF_LIFE = 5.0  # seconds of work after which what was measured before counts half
_FAR_SHORTER = 4  # times
_SHORTEST = 1e-6  # seconds
_GUESSED = 0.1  # seconds of work that a guess counts for; the first turns outweigh it
_FULL = 0.5  # of a turn's time, and of an ordinary item; less is mostly what any work takes, however little it is
_REMEMBERED = 60.0  # seconds after which a full turn refuses nobody any more
_ENOUGH, _LONG_ENOUGH = 5, 5.0  # full turns that tell, or seconds of them; the first are slow, for caches are empty
_WARMING = 10.0  # seconds of the first work of a kind that tell nothing: libraries load and kernels compile
_BATCH = 2  # ordinary items that share the first turn
_GROWTH = 2  # times; the most that a batch grows by from one turn to the next


@dataclass(eq=False)
class Order:
    """Items of one request; those of an order without a key share a batch with no other order."""

    price: Price
    key: Hashable | None
    work: Work
    items: Sequence[Any]
    costs: Sequence[float]
    deliver: Callable[[list[Answer]], None]  # called in the worker's thread
    context: Context = field(default_factory=copy_context)  # of who asked, so that nothing of others is seen
    arrived: float = field(default_factory=time.monotonic)
    taken: int = 0  # items that were given to the model
    cancelled: bool = False

    @property
    def left(self) -> int:
        return len(self.items) - self.taken

    @property
    def cost(self) -> float:
        """The cost of the next item."""
        return self.costs[self.taken]

    @property
    def cost_left(self) -> float:
        """The cost of all items that are not taken yet."""
        return sum(self.costs[self.taken :])


Batch = list[tuple[Order, int]]  # orders, and places in them


class Speed:
    """Units of a price that are done in a second, the last few seconds of work counting most."""

    def __init__(self, price: Price) -> None:
        self._cost, self._seconds = price.a_second * _GUESSED, _GUESSED
        self._full: deque[tuple[float, float, float]] = deque(maxlen=16)  # end, rate and seconds of full turns
        self._bounds: deque[tuple[float, float]] = deque(maxlen=16)  # when work was given up, and above its rate
        self._is_warm = False
        self.batch = _BATCH * price.ordinary  # units of ordinary items that may share a turn

    def add(self, cost: float, seconds: float) -> None:
        """Count work that was done."""
        self._is_warm = True
        fading = 0.5 ** (seconds / _HALF_LIFE)
        self._cost, self._seconds = fading * self._cost + cost, fading * self._seconds + seconds

    def add_full_turn(self, cost: float, seconds: float, now: float) -> None:
        """Remember a turn that was not short, and so tells what much work takes; the very first tells less."""
        telling = seconds if self._is_warm else max(seconds - _WARMING, 0.0)
        self._full.append((now, cost / seconds, telling))

    def add_bound(self, cost: float, seconds: float, now: float) -> None:
        """Remember that so many seconds were too few for a cost."""
        self._bounds.append((now, cost / seconds))

    def fit_batch(self, cost: float, seconds: float, longest: float, most: float) -> None:
        """Learn from a turn how many ordinary items can share one that is no longer than the longest."""
        if seconds > longest:
            self.batch = min(self.batch, cost) * longest / seconds
        elif cost >= self.batch / _GROWTH:
            self.batch = min(self.batch * min(_GROWTH, longest / max(seconds, _SHORTEST)), most)

    @property
    def a_second(self) -> float:
        return self._cost / self._seconds

    def best(self, now: float) -> float | None:
        """Return the most units that can be hoped for in a second; None if nothing of late tells.

        These are the most of any full turn, but fewer than of any work that was given up before it was done.
        """
        full = [(rate, seconds) for ended, rate, seconds in self._full if now - ended < _REMEMBERED]
        rates = [rate for ended, rate in self._bounds if now - ended < _REMEMBERED]
        if len(full) >= _ENOUGH or sum(seconds for _, seconds in full) >= _LONG_ENOUGH:
            rates.append(max(self.a_second, *(rate for rate, _ in full)))
        return min(rates, default=None)


class Turns:
    """The orders that wait. Not for several threads at a time."""

    def __init__(self, rows: int, seconds: float) -> None:
        self._rows, self._seconds = rows, seconds
        self._speeds: dict[Price, Speed] = {}
        self.orders: list[Order] = []

    @property
    def waiting(self) -> int:
        """Items that nobody works on yet."""
        return sum(order.left for order in self.orders)

    @property
    def seconds(self) -> float:
        """Seconds that all waiting items should take."""
        return sum(self.foresee(order.price, order.cost_left) for order in self.orders)

    def foresee(self, price: Price, cost: float) -> float:
        """Return the seconds that work of this cost should take."""
        return cost / self._speed(price).a_second

    def learn(
        self, price: Price, cost: float, seconds: float, now: float, rows: int = 1, is_finished: bool = True
    ) -> None:
        """Count work that was done, or given up before it was; of the latter only so much is known."""
        speed = self._speed(price)
        is_full = seconds >= _FULL * self._seconds and cost >= _FULL * price.ordinary
        if not is_finished:
            if is_full:
                speed.add_bound(cost, seconds, now)
            if cost / max(seconds, _SHORTEST) <= speed.a_second:  # it should have been done by then
                speed.add(cost, seconds)
            return
        if is_full:
            speed.add_full_turn(cost, seconds, now)
        speed.add(cost, seconds)
        if rows > 1:
            speed.fit_batch(cost, seconds, price.longest * self._seconds, self._rows * price.ordinary)

    def least_seconds(self, order: Order, now: float) -> float:
        """Return the seconds that the rest of an order takes at least, by itself; 0 where nothing tells."""
        best = self._speed(order.price).best(now)
        return order.cost_left / best if best else 0.0

    def shared_seconds(self, order: Order, now: float) -> float:
        """Return the seconds until an order is done that takes turns with all others, each as long as itself at most.

        Only what full turns of late have told counts, so it is the least that can be expected.
        """
        own = self.least_seconds(order, now)
        others = (each for each in self.orders if each is not order)
        return own + sum(min(own, self.least_seconds(each, now)) for each in others)

    def alike(self, key: Hashable) -> int:
        """Return how many items can share a batch."""
        return sum(order.left for order in self.orders if order.key == key)

    def take(self) -> Batch:
        """Return the items of the next turn."""
        return self._take(self.orders)

    def take_short(self, passed: float, working: Collection[Order] = ()) -> Batch:
        """Return the items of a turn inside one of so many seconds: those that fit into any turn, or are far shorter.

        The latter is for a model so slow that hardly anything fits into a turn. Orders that are worked on just now do
        not pass themselves, and no more is taken than fits.
        """
        most = max(self._seconds, passed / _FAR_SHORTER)
        others = (order for order in self.orders if order not in working)
        return self._take([order for order in others if self.foresee(order.price, order.cost) <= most], is_full=False)

    def _speed(self, price: Price) -> Speed:
        return self._speeds.setdefault(price, Speed(price))

    def _take(self, orders: Sequence[Order], is_full: bool = True) -> Batch:
        if not orders:
            return []
        first, speed = orders[0], self._speed(orders[0].price)
        room, ordinary = self._seconds * speed.a_second, first.price.ordinary if is_full else 0.0
        is_alone = first.key is None or first.cost > max(room, ordinary)
        alike = [first] if is_alone else [order for order in orders if order.key == first.key]
        batch: Batch = []
        taken = 0.0

        def fits(order: Order) -> bool:
            return order.cost <= room - taken or order.cost <= min(ordinary, speed.batch - taken)

        while alike:
            for order in alike:
                if not batch or (len(batch) < self._rows and fits(order)):
                    taken += order.cost
                    batch.append((order, order.taken))
                    order.taken += 1
            has_room = len(batch) < self._rows
            alike = [order for order in alike if has_room and order.left and fits(order)]
        had_a_turn = {id(order) for order, _ in batch}
        self.orders = sorted((order for order in self.orders if order.left), key=lambda order: id(order) in had_a_turn)
        return batch
