"""Checks of shapes that are made when a function is first called.

Most functions are not called while shapes are checked, and to write a check for each of them takes seconds.
"""

from collections.abc import Callable
from typing import Any

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
