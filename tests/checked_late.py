"""Checks of shapes that are made when a function is first called.

Most functions are not called while shapes are checked, and to write a check for each of them takes seconds.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import jaxtyping
from beartype import beartype


def check_when_called(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same function, whose annotations beartype checks; they are read at the first call."""
    checked: Callable[..., Any] | None = None

    def call(*arguments: Any, **named: Any) -> Any:
        nonlocal checked
        if checked is None:
            checked = beartype(function)
        return checked(*arguments, **named)

    return call


@contextmanager
def shapes(checked: bool) -> Iterator[None]:
    """Check shapes in this block, or do not."""
    before = jaxtyping.config.jaxtyping_disable
    jaxtyping.config.update("jaxtyping_disable", not checked)
    try:
        yield
    finally:
        jaxtyping.config.update("jaxtyping_disable", before)
