"""Scheduling: the orders that wait for a model, and which of their items come next.

Every item has a cost in the unit of its price, and `Speed` measures how many units were done per second lately; so the
seconds of a turn can be predicted and bounded. Items are taken from the orders in rotation, one of each, as long as
they fit. An item that fits into no turn is worked on alone, so that it delays only later orders; and these may
overtake it in short turns inside its own (`worker.py`). Orders that had a turn go behind those that had none.

Ordinary items share a turn even if they are not predicted to fit, up to the rows of a batch: one item takes nearly as
long as several together, so a slow model given them one by one would never be measured as faster. Their batches begin
small, grow as long as they end in time, and shrink when they do not. That time is shorter if such a turn cannot be
overtaken, as in an engine that cannot be interrupted.
"""

import time
from collections import deque
from collections.abc import Callable, Collection, Hashable, Sequence
from contextvars import Context, copy_context
from dataclasses import dataclass, field
from typing import Any

from regard.base.doors import Price

Work = Callable[[list[Any]], list[Any]]
Answer = tuple[int, Any]  # the place of an item in its order, and its result or error

_HALF_LIFE = 5.0  # seconds of work after which earlier measurements count half
_FAR_SHORTER = 4  # times
_SHORTEST = 1e-6  # seconds
_GUESSED = 0.1  # seconds of work that the initial guess counts for; the first turns outweigh it
_FULL = 0.5  # share of a turn's time, and of an ordinary item; below it, fixed overhead dominates
_REMEMBERED = 60.0  # seconds after which a full turn no longer causes refusals
_ENOUGH, _LONG_ENOUGH = (
    5,
    5.0,
)  # full turns, or seconds of them, that count as evidence; the first are slow, with cold caches
_WARMING = 10.0  # seconds of the first work of a kind that are ignored: libraries load and kernels compile
_BATCH = 2  # ordinary items that share the first turn
_GROWTH = 2  # largest factor by which a batch grows from one turn to the next


@dataclass(eq=False)
class Order:
    """Items of one request; an order without a key shares a batch with no other order."""

    price: Price
    key: Hashable | None
    work: Work
    items: Sequence[Any]
    costs: Sequence[float]
    deliver: Callable[[list[Answer]], None]  # called in the worker's thread
    context: Context = field(default_factory=copy_context)  # of the requester, so that nothing of others is visible
    arrived: float = field(default_factory=time.monotonic)
    taken: int = 0  # items given to the model
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
        """The cost of all remaining items."""
        return sum(self.costs[self.taken :])


Batch = list[tuple[Order, int]]  # orders, and places of items in them


class Speed:
    """Units of a price done per second; the last few seconds of work count most."""

    def __init__(self, price: Price) -> None:
        self._cost, self._seconds = price.a_second * _GUESSED, _GUESSED
        self._full: deque[tuple[float, float, float]] = deque(maxlen=16)  # end, rate and seconds of full turns
        self._bounds: deque[tuple[float, float]] = deque(
            maxlen=16
        )  # when work was abandoned, and an upper bound on its rate
        self._is_warm = False
        self.batch = _BATCH * price.ordinary  # units of ordinary items that may share a turn

    def add(self, cost: float, seconds: float) -> None:
        """Count finished work."""
        self._is_warm = True
        fading = 0.5 ** (seconds / _HALF_LIFE)
        self._cost, self._seconds = fading * self._cost + cost, fading * self._seconds + seconds

    def add_full_turn(self, cost: float, seconds: float, now: float) -> None:
        """Remember a turn long enough to show the speed of much work; the very first counts less."""
        counted = seconds if self._is_warm else max(seconds - _WARMING, 0.0)
        self._full.append((now, cost / seconds, counted))

    def add_bound(self, cost: float, seconds: float, now: float) -> None:
        """Remember that these seconds were not enough for a cost."""
        self._bounds.append((now, cost / seconds))

    def fit_batch(self, cost: float, seconds: float, longest: float, most: float) -> None:
        """Learn from a turn how many ordinary items fit into one of at most `longest` seconds."""
        if seconds > longest:
            self.batch = min(self.batch, cost) * longest / seconds
        elif cost >= self.batch / _GROWTH:
            self.batch = min(self.batch * min(_GROWTH, longest / max(seconds, _SHORTEST)), most)

    @property
    def a_second(self) -> float:
        return self._cost / self._seconds

    def best(self, now: float) -> float | None:
        """Return the highest plausible units per second; None without recent evidence.

        This is the best rate of any full turn, limited by the bounds from abandoned work.
        """
        full = [(rate, seconds) for ended, rate, seconds in self._full if now - ended < _REMEMBERED]
        rates = [rate for ended, rate in self._bounds if now - ended < _REMEMBERED]
        if len(full) >= _ENOUGH or sum(seconds for _, seconds in full) >= _LONG_ENOUGH:
            rates.append(max(self.a_second, *(rate for rate, _ in full)))
        return min(rates, default=None)


class Turns:
    """The orders that wait. Not thread-safe."""

    def __init__(self, rows: int, seconds: float) -> None:
        self._rows, self._seconds = rows, seconds
        self._speeds: dict[Price, Speed] = {}
        self.orders: list[Order] = []

    @property
    def waiting(self) -> int:
        """Number of items that have not been started."""
        return sum(order.left for order in self.orders)

    @property
    def seconds(self) -> float:
        """Predicted seconds for all waiting items."""
        return sum(self.foresee(order.price, order.cost_left) for order in self.orders)

    def foresee(self, price: Price, cost: float) -> float:
        """Return the predicted seconds for work of this cost."""
        return cost / self._speed(price).a_second

    def learn(
        self, price: Price, cost: float, seconds: float, now: float, rows: int = 1, is_finished: bool = True
    ) -> None:
        """Count work that was finished, or abandoned, which gives only a bound."""
        speed = self._speed(price)
        is_full = seconds >= _FULL * self._seconds and cost >= _FULL * price.ordinary
        if not is_finished:
            if is_full:
                speed.add_bound(cost, seconds, now)
            if cost / max(seconds, _SHORTEST) <= speed.a_second:  # it should have been finished by then
                speed.add(cost, seconds)
            return
        if is_full:
            speed.add_full_turn(cost, seconds, now)
        speed.add(cost, seconds)
        if rows > 1:
            speed.fit_batch(cost, seconds, price.longest * self._seconds, self._rows * price.ordinary)

    def least_seconds(self, order: Order, now: float) -> float:
        """Return the least seconds for the rest of an order, by itself; 0 without evidence."""
        best = self._speed(order.price).best(now)
        return order.cost_left / best if best else 0.0

    def shared_seconds(self, order: Order, now: float) -> float:
        """Return the least seconds until an order is done if it alternates with all others, each at most as long as it.

        Only evidence from recent full turns counts, so this is a lower bound.
        """
        alone = self.least_seconds(order, now)
        others = (other for other in self.orders if other is not order)
        return alone + sum(min(alone, self.least_seconds(other, now)) for other in others)

    def alike(self, key: Hashable) -> int:
        """Return the number of items with this key, which can share a batch."""
        return sum(order.left for order in self.orders if order.key == key)

    def take(self) -> Batch:
        """Return the items of the next turn."""
        return self._take(self.orders)

    def take_short(self, passed: float, working: Collection[Order] = ()) -> Batch:
        """Return the items of a turn inside one of `passed` seconds: those that fit into any turn, or are far shorter.

        The latter is for a model so slow that hardly anything fits into a turn. Orders in progress do not overtake
        themselves, and no more is taken than fits.
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
