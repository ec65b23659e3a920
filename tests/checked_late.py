"""Checks of shapes that are made when a function is first called.

Most functions are not called while shapes are checked, many that are called name no shape, and to write a check for
each of them takes seconds. Where there is no shape, mypy has seen to the rest.

The option `--jaxtyping-packages` decorates whatever it imports with `jaxtyping.jaxtyped`, which binds the arguments of
every call. `decorate_late` stands in for it: a function without a shape stays as it was written.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import is_dataclass
from functools import wraps
from inspect import isfunction
from typing import Any

import jaxtyping
from beartype import beartype

_decorate = jaxtyping.jaxtyped
TypeChecker = Callable[[Callable[..., Any]], Callable[..., Any]]


def check(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the same function, whose annotations beartype checks if one is a shape."""
    return beartype(function) if names_shape(function) else function


def names_shape(function: Callable[..., Any]) -> bool:
    """Return True if an annotation of a function is a shape, or text that might be one."""
    annotations = getattr(function, "__annotations__", {}).values()
    return any("jaxtyping" in repr(each) or (isinstance(each, str) and "Tensor" in each) for each in annotations)


def decorate_late(*, typechecker: TypeChecker) -> Callable[[Any], Any]:
    """Return a decorator that does what jaxtyping's does, at the first call at which shapes are checked."""

    def decorate(decorated: Any) -> Any:
        if isfunction(decorated):
            return _check_when_called(decorated, typechecker) if names_shape(decorated) else decorated
        if is_dataclass(decorated) and names_shape(decorated.__init__):
            return _decorate(decorated, typechecker=typechecker)
        return decorated

    return decorate


def _check_when_called(function: Callable[..., Any], typechecker: TypeChecker) -> Callable[..., Any]:
    checked: Callable[..., Any] | None = None

    @wraps(function)
    def call(*arguments: Any, **named: Any) -> Any:
        nonlocal checked
        if jaxtyping.config.jaxtyping_disable:
            return function(*arguments, **named)
        if checked is None:
            checked = _decorate(function, typechecker=typechecker)
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
