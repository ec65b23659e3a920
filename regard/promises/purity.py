"""A guard against batches that are drawn from random numbers which others draw from too.

A training sets torch's global seed before every update, while a thread of its own makes the next batches: a task that
draws from it there gets other numbers each time, and changes those of the update. In all tests that thread is watched.
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
_making = threading.local()  # `now` is True in a thread while it makes an item that is watched


class GlobalChance(AssertionError):
    """Random numbers were taken from where all take theirs from."""


def pure(items: Iterable[Any]) -> Iterator[Any]:
    """Return the items; one that is made with torch's, numpy's or Python's global random numbers is an error."""
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
            raise GlobalChance("batches drew from the global random numbers of numpy")
        yield item


def _numpys_state() -> tuple[bytes, int]:
    state: Any = np.random.get_state(legacy=False)
    return state["state"]["key"].tobytes(), state["state"]["pos"]


def watch_python() -> None:
    """Let the functions of Python's `random` refuse to help with an item, but for what checks types in tests.

    That draws from them as well, so their state cannot be compared as numpy's is.
    """
    if hasattr(random.random, "__wrapped__"):
        return

    def watched(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def draw(*arguments: Any, **named: Any) -> Any:
            if getattr(_making, "now", False) and "beartype" not in sys._getframe(1).f_code.co_filename:
                raise GlobalChance("batches drew from the global random numbers of Python")
            return function(*arguments, **named)

        return draw

    for name in DRAWING:
        setattr(random, name, watched(getattr(random, name)))


@cache
def _only_own_generators() -> type[Any]:
    """Return a kind of block in which torch, in this thread, draws from no generator but those it is given."""
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode

    class OnlyOwnGenerators(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            given = [*args, *(kwargs or {}).values()]
            draws = torch.Tag.nondeterministic_seeded in func.tags
            if draws and not any(isinstance(each, torch.Generator) for each in given):
                raise GlobalChance("batches drew from the global random numbers of torch")
            return func(*args, **(kwargs or {}))

    return OnlyOwnGenerators
