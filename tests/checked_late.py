"""Shape checks that are built when a function is first called.

Most functions are never called while shapes are checked, and many others name no shape. Writing a check for each of
them takes seconds. Mypy covers functions without shapes.

The option `--jaxtyping-packages` decorates whatever it imports with `jaxtyping.jaxtyped`, which binds the arguments of
every call. `decorate_late` replaces it and leaves functions without shapes undecorated.
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
    """Return the function with its annotations checked by beartype if one of them is a shape."""
    return beartype(function) if names_shape(function) else function


def names_shape(function: Callable[..., Any]) -> bool:
    """Return True if an annotation of a function is a shape, or text that might be one."""
    annotations = getattr(function, "__annotations__", {}).values()
    return any(
        "jaxtyping" in repr(annotation) or (isinstance(annotation, str) and "Tensor" in annotation)
        for annotation in annotations
    )


def decorate_late(*, typechecker: TypeChecker) -> Callable[[Any], Any]:
    """Return a decorator that does what jaxtyping's does, but only at the first call that checks shapes."""

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
    """Switch shape checks on or off in this block."""
    before = jaxtyping.config.jaxtyping_disable
    jaxtyping.config.update("jaxtyping_disable", not checked)
    try:
        yield
    finally:
        jaxtyping.config.update("jaxtyping_disable", before)
