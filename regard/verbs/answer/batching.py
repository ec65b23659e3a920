"""Inputs answered in batches, by any engine; imports no torch."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, TypeVar

from regard.base.faults import TextFault

AT_ONCE = 256  # inputs in one batch
Answered = TypeVar("Answered")


def answer_each(answer: Callable[[Sequence[Any]], Sequence[Answered]], inputs: Iterable[Any]) -> Iterator[Answered]:
    """Yield the answers to inputs in order, as soon as each batch is done."""
    waiting, done = iter(inputs), 0
    while batch := list(islice(waiting, AT_ONCE)):
        try:
            answers = answer(batch)
        except TextFault as fault:  # numbered from the start of the batch
            raise TextFault(done + fault.number, fault.sentence) from None
        yield from answers
        done += len(batch)
