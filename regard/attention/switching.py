"""Switching heads off, to see what a model does without them."""

from collections.abc import Iterator
from contextlib import contextmanager

from torch import nn

from regard.attention.editing import Edit, editing


@contextmanager
def switched_off(model: nn.Module, where: str, head: int) -> Iterator[None]:
    """Let one head contribute nothing inside this block; `where` is the path of its attention, as a gaze has it.

    This is as if the columns of W_O that read this head were zero.
    """
    with editing(model, Edit(at=f"{where}.{head + 1}", part="head", do="zero")):
        yield
