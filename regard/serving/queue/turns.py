"""Whose turn it is: the orders that wait for a model, and which of their items are worked on next.

Every item says what it costs, and `Speed` knows how much was done in a second lately; so it can be foreseen how long a
turn takes, and that is bounded. Items are taken from the orders one of each and over again, as long as they fit. One
that does not fit into any turn is worked on alone, so that it keeps waiting nobody but those who came later; and these
may pass it by, in short turns inside its own (`queue.py`). Whoever had a turn stands behind those who had none.

Ordinary sentences always fit, up to the rows of a batch: one alone takes nearly as long as several together, so a slow
model that was given them one by one would never be measured to be quicker. A turn is thus as long as it may be, or as
long as a full batch of ordinary sentences.
"""

import math
import time
from collections.abc import Callable, Hashable, Sequence
from contextvars import Context, copy_context
from dataclasses import dataclass, field
from typing import Any

Work = Callable[[list[Any]], list[Any]]
Answer = tuple[int, Any]  # the place of an item in its order, and what became of it, or what went wrong
UNKNOWN = math.inf  # the cost of what nobody can foresee: it never shares a turn

_HALF_LIFE = 5.0  # seconds of work after which what was measured before counts half
_FAR_SHORTER = 4  # times
_ORDINARY = 250.0  # at most, the cost of a sentence of 50 tokens by a beam of 4
_GUESS = 100.0, 0.1  # cost and seconds that count as measured before anything is; the first turns outweigh them


@dataclass(eq=False)
class Order:
    """Items of one request; those of an order without a key share a batch with no other order."""

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
        """That of the next item."""
        return self.costs[self.taken]


Batch = list[tuple[Order, int]]  # orders, and places in them


class Speed:
    """The cost that is done in a second, the last few seconds of work counting most."""

    def __init__(self) -> None:
        self._cost, self._seconds = _GUESS

    def add(self, cost: float, seconds: float) -> None:
        """Count work that was done; what nobody could foresee says nothing."""
        if math.isfinite(cost):
            fading = 0.5 ** (seconds / _HALF_LIFE)
            self._cost, self._seconds = fading * self._cost + cost, fading * self._seconds + seconds

    @property
    def a_second(self) -> float:
        return self._cost / self._seconds


class Turns:
    """The orders that wait. Not for several threads at a time."""

    def __init__(self, rows: int, seconds: float) -> None:
        self._rows, self._seconds = rows, seconds
        self.speed = Speed()
        self.orders: list[Order] = []

    @property
    def waiting(self) -> int:
        """Items that nobody works on yet."""
        return sum(order.left for order in self.orders)

    @property
    def seconds(self) -> float:
        """What all that waits will take, so far as it can be foreseen."""
        costs = (cost for order in self.orders for cost in order.costs[order.taken :] if math.isfinite(cost))
        return sum(costs) / self.speed.a_second

    def alike(self, key: Hashable) -> int:
        """The items that can share a batch."""
        return sum(order.left for order in self.orders if order.key == key)

    def take(self) -> Batch:
        """The items of the next turn."""
        return self._take(self.orders)

    def take_short(self, passed: float) -> Batch:
        """The items of a turn inside one of this cost: those that fit into any turn, or are far shorter than it.

        The latter is for a model so slow that hardly anything fits into a turn.
        """
        most = max(self._foreseen, passed / _FAR_SHORTER if math.isfinite(passed) else 0.0)
        return self._take([order for order in self.orders if order.cost <= most])

    @property
    def _foreseen(self) -> float:
        """The cost that should be done in the time of a turn."""
        return self._seconds * self.speed.a_second

    def _take(self, orders: Sequence[Order]) -> Batch:
        if not orders:
            return []
        first, room = orders[0], self._foreseen
        is_alone = first.key is None or first.cost > max(room, _ORDINARY)
        alike = [first] if is_alone else [order for order in orders if order.key == first.key]
        batch: Batch = []
        while alike:
            for order in alike:
                if not batch or (order.cost <= max(room, _ORDINARY) and len(batch) < self._rows):
                    room -= order.cost
                    batch.append((order, order.taken))
                    order.taken += 1
            rows = self._rows - len(batch)
            alike = [order for order in alike if rows and order.left and order.cost <= max(room, _ORDINARY)]
        had_a_turn = {id(order) for order, _ in batch}
        self.orders = sorted((order for order in self.orders if order.left), key=lambda order: id(order) in had_a_turn)
        return batch
