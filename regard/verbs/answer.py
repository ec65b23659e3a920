"""Answering: one answer for each input, whatever the model reads."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from regard.protocols import Answer

AT_ONCE = 256  # inputs in one batch


def answer_each(task: Any, inputs: Iterable[Any], at_once: int = AT_ONCE) -> Iterator[Answer]:
    """The answers to inputs as people have them, in their order, as soon as each batch of them is done."""
    waiting = iter(inputs)
    while batch := list(islice(waiting, at_once)):
        yield from task.answers(task.read(batch))
