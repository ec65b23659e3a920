"""Whose turn it is: the orders that wait for a model, and which of their items are worked on next.

Every item says what it costs, in the unit of its price, and `Speed` knows how much of that was done in a second
lately; so the seconds of a turn can be foreseen, and are bounded. Items are taken from the orders one of each and over
again, as long as they fit. One that does not fit into any turn is worked on alone, so that it keeps waiting nobody but
those who came later; and these may pass it, in short turns inside its own (`worker.py`). Whoever had a turn stands
behind those who had none.

Ordinary items always fit, up to the rows of a batch: one alone takes nearly as long as several together, so a slow
model that was given them one by one would never be measured to be quicker. A turn is thus as long as it may be, or as
long as a full batch of ordinary items.
"""

import time
from collections import deque
from collections.abc import Callable, Collection, Hashable, Sequence
from contextvars import Context, copy_context
from dataclasses import dataclass, field
from typing import Any

Work = Callable[[list[Any]], list[Any]]
Answer = tuple[int, Any]  # the place of an item in its order, and what became of it, or what went wrong

_HALF_LIFE = 5.0  # seconds of work after which what was measured before counts half
_FAR_SHORTER = 4  # times
_SHORTEST = 1e-6  # seconds
_GUESSED = 0.1  # seconds of work that a guess counts for; the first turns outweigh it
_FULL = 0.5  # of a turn's time; a shorter one is mostly what any work takes, however little it is
_REMEMBERED = 60.0  # seconds after which a full turn refuses nobody any more
_ENOUGH = 5  # full turns that tell; the first are slow, for caches are empty and batches smaller than they may be


@dataclass(frozen=True)
class Price:
    """The unit that a kind of work is counted in, and what is believed of it before it is measured."""

    unit: str
    a_second: float  # units, on two cores
    ordinary: float = 0.0  # units of an item that always fits


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

    def __init__(self, guess: float) -> None:
        self._cost, self._seconds = guess * _GUESSED, _GUESSED
        self._full: deque[tuple[float, float]] = deque(maxlen=16)  # when a full turn ended, and its units a second

    def add(self, cost: float, seconds: float) -> None:
        """Count work that was done."""
        fading = 0.5 ** (seconds / _HALF_LIFE)
        self._cost, self._seconds = fading * self._cost + cost, fading * self._seconds + seconds

    def add_full_turn(self, a_second: float, now: float) -> None:
        """Remember a turn that was not short, and so tells what much work takes."""
        self._full.append((now, a_second))

    @property
    def a_second(self) -> float:
        return self._cost / self._seconds

    def best(self, now: float) -> float | None:
        """Return the most units a second of full turns; None if too few were lately to tell."""
        found = [rate for ended, rate in self._full if now - ended < _REMEMBERED]
        return max(*found, self.a_second) if len(found) >= _ENOUGH else None


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

    def learn(self, price: Price, cost: float, seconds: float, now: float, is_finished: bool = True) -> None:
        """Count work that was done; what was given up tells something only if it should have been done by then."""
        speed, a_second = self._speed(price), cost / max(seconds, _SHORTEST)
        if not is_finished and a_second > speed.a_second:
            return
        speed.add(cost, seconds)
        if seconds >= _FULL * self._seconds:
            speed.add_full_turn(a_second, now)

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
        return self._speeds.setdefault(price, Speed(price.a_second))

    def _take(self, orders: Sequence[Order], is_full: bool = True) -> Batch:
        if not orders:
            return []
        first = orders[0]
        room = self._seconds * self._speed(first.price).a_second
        ordinary = first.price.ordinary if is_full else 0.0
        is_alone = first.key is None or first.cost > max(room, ordinary)
        alike = [first] if is_alone else [order for order in orders if order.key == first.key]
        batch: Batch = []
        while alike:
            for order in alike:
                if not batch or (order.cost <= max(room, ordinary) and len(batch) < self._rows):
                    room -= order.cost
                    batch.append((order, order.taken))
                    order.taken += 1
            rows = self._rows - len(batch)
            alike = [order for order in alike if rows and order.left and order.cost <= max(room, ordinary)]
        had_a_turn = {id(order) for order, _ in batch}
        self.orders = sorted((order for order in self.orders if order.left), key=lambda order: id(order) in had_a_turn)
        return batch
