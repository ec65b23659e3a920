"""Speak texts."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from regard.base.faults import TextFault
from regard.loading import Loaded
from regard.protocols import Spoken
from regard.verbs.speak.request import SpeakRequest

AT_ONCE = 32  # texts in one batch


def run(model: Loaded, request: SpeakRequest) -> Iterator[Spoken]:
    """Return the sounds for a request."""
    return speak_each(model.task, request)


def speak_each(task: Any, request: SpeakRequest) -> Iterator[Spoken]:
    """Yield the sounds of the texts in order, as soon as each batch is done."""
    waiting: Iterable[str] = iter(request.text)
    done = 0
    while texts := list(islice(waiting, AT_ONCE)):
        try:
            batch = task.read(texts, request.speaker)
        except TextFault as fault:  # numbered from the start of the batch
            raise TextFault(done + fault.number, fault.sentence) from None
        yield from task.speak(batch, request.seconds, request.rounds)
        done += len(texts)
