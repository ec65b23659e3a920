"""Checks of shapes that are made when a function is first called.

Most functions are not called while shapes are checked, many that are called name no shape, and to write a check for
each of them takes seconds. Where there is no shape, mypy has seen to the rest.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import jaxtyping
from beartype import beartype


def check_when_called(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same function, whose annotations beartype checks if one is a shape; they are read at the first call."""
    checked: Callable[..., Any] | None = None

    def call(*arguments: Any, **named: Any) -> Any:
        nonlocal checked
        if checked is None:
            names_shape = any("jaxtyping" in repr(each) for each in function.__annotations__.values())
            checked = beartype(function) if names_shape else function
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
