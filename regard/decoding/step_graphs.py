"""The captured steps of a search: kept for later searches, and followed without waiting for them."""

from collections import OrderedDict, deque
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn

from regard.hardware.cuda_graphs import CapturedStep, Step, leaves

MOST_CAPTURED = 16  # graphs to keep; the least recently used one is dropped first
AHEAD = 2  # steps launched before the outcome of one is read


class CapturedSteps:
    """The captured steps of one model, each made on first use.

    They share their working memory, so one search holds all of them at a time and others wait.
    """

    def __init__(self, graphs: bool = True, most: int = MOST_CAPTURED) -> None:
        self._kept: OrderedDict[Hashable, CapturedStep] = OrderedDict()
        self._lock, self._most, self._graphs = Lock(), most, graphs
        self._pool: Any = None

    @contextmanager
    def taken(self) -> Iterator["CapturedSteps"]:
        """Hold all of them exclusively."""
        with self._lock:
            yield self

    def of(self, key: Hashable, make: Callable[[], Step], tree: Any) -> CapturedStep:
        """Return the step for trees of these shapes, loaded with this one; `make` makes it, `key` is all it depends on.

        Call it inside `taken`.
        """
        shapes = tuple((leaf.shape, leaf.dtype, leaf.device) for leaf in leaves(tree))
        captured = self._kept.pop((key, shapes), None)
        if captured is None:
            captured = CapturedStep(make(), tree, self._memory(leaves(tree)[0].device))
        captured.load(tree)
        self._kept[key, shapes] = captured
        while len(self._kept) > self._most:
            self._kept.popitem(last=False)
        return captured

    def __len__(self) -> int:
        return len(self._kept)

    def __iter__(self) -> Iterator[CapturedStep]:
        """Iterate over those that are kept, the least recently used first."""
        return iter(self._kept.values())

    def _memory(self, device: torch.device) -> Any:
        if self._pool is None and self._graphs and device.type == "cuda":
            self._pool = torch.cuda.graph_pool_handle()
        return self._pool


_captures: WeakKeyDictionary[nn.Module, tuple[tuple[int, ...], CapturedSteps]] = WeakKeyDictionary()


def captures_of(module: nn.Module) -> CapturedSteps:
    """Return the captured steps of a module, kept as long as it lives and its weights stay in place."""
    places = tuple(weights.data_ptr() for weights in (*module.parameters(), *module.buffers()))
    entry = _captures.get(module)
    if entry is None or entry[0] != places:
        entry = _captures[module] = places, CapturedSteps()
    return entry[1]


class Delayed:
    """Numbers on their way from the device to the host, each read some steps late, so that the device never waits."""

    def __init__(self, ahead: int = AHEAD) -> None:
        self._ahead = ahead
        self._coming: deque[tuple[Tensor, torch.cuda.Event | None]] = deque()

    def send(self, number: Tensor) -> None:
        if number.device.type != "cuda":
            self._coming.append((number.clone(), None))
            return
        host = torch.empty(number.shape, dtype=number.dtype, pin_memory=True)
        host.copy_(number, non_blocking=True)
        event = torch.cuda.Event()
        event.record(torch.cuda.current_stream(number.device))
        self._coming.append((host, event))

    def read(self) -> int | None:
        """Return the oldest number, if more than `ahead` are on their way."""
        if len(self._coming) <= self._ahead:
            return None
        number, event = self._coming.popleft()
        if event is not None:
            event.synchronize()
        return int(number)
