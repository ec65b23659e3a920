"""A guard against batches that use global random numbers.

Training sets torch's global seed before every update, while a separate thread makes the next batches. A task that uses
global random numbers there gets different ones each time, and changes those of the update. All tests watch that thread.
"""

import random
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from functools import cache, wraps
from typing import Any

import numpy as np

DRAWING = (
    "random",
    "uniform",
    "gauss",
    "randint",
    "randrange",
    "getrandbits",
    "choice",
    "choices",
    "sample",
    "shuffle",
)
_making = threading.local()  # `now` is True in a thread while it makes a watched item


class GlobalChance(AssertionError):
    """Global random numbers were used."""


def pure(items: Iterable[Any]) -> Iterator[Any]:
    """Yield the items; one made with global random numbers of torch, numpy or Python is an error."""
    iterator = iter(items)
    while True:
        before = _numpys_state()
        _making.now = True
        try:
            with _only_own_generators()():
                item = next(iterator)
        except StopIteration:
            return
        finally:
            _making.now = False
        if _numpys_state() != before:
            raise GlobalChance("batches used global random numbers of numpy")
        yield item


def _numpys_state() -> tuple[bytes, int]:
    state: Any = np.random.get_state(legacy=False)
    return state["state"]["key"].tobytes(), state["state"]["pos"]


def watch_python() -> None:
    """Make the functions of Python's `random` refuse to help with an item, except for the type checker in tests.

    That uses them too, so their state cannot be compared as numpy's is.
    """
    if hasattr(random.random, "__wrapped__"):
        return

    def watched(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def draw(*arguments: Any, **named: Any) -> Any:
            if getattr(_making, "now", False) and "beartype" not in sys._getframe(1).f_code.co_filename:
                raise GlobalChance("batches used global random numbers of Python")
            return function(*arguments, **named)

        return draw

    for name in DRAWING:
        setattr(random, name, watched(getattr(random, name)))


@cache
def _only_own_generators() -> type[Any]:
    """Return a context manager in which torch, in this thread, uses only generators passed to it."""
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode

    class OnlyOwnGenerators(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            values = [*args, *(kwargs or {}).values()]
            draws = torch.Tag.nondeterministic_seeded in func.tags
            if draws and not any(isinstance(value, torch.Generator) for value in values):
                raise GlobalChance("batches used global random numbers of torch")
            return func(*args, **(kwargs or {}))

    return OnlyOwnGenerators
