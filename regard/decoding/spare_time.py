"""Use the time that a search waits for a device to work on the texts before and after it.

A GPU searches by itself most of the time, while preparing and reading its texts is work for the host. Threads help only
with work that does not need the interpreter, because every operation that a search launches would have to wait for it.
So the rest of the work is cut into small pieces, and some are done in each pause between two steps (`pauses.py`) while
the device continues.
"""

from collections.abc import Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, wait
from time import perf_counter
from typing import Any, Generic, Protocol, TypeVar

from regard.base.pauses import Pause, pausing

PAUSE = 0.002  # most seconds to use of a pause; the device has steps for longer than that

Item = TypeVar("Item")
Read = TypeVar("Read")
Found = TypeVar("Found")
Result = TypeVar("Result")
Given = TypeVar("Given", contravariant=True)  # an item and a result, with the variance that a protocol needs
Gained = TypeVar("Gained", covariant=True)
# Work that can pause between any two pieces, and its result; it continues when a future that it yields is done.
InPieces = Generator[Future[Any] | None, None, Result]


class Stages(Protocol[Given, Read, Found, Gained]):
    """Work on items of which only the middle stage needs the device."""

    def read(self, item: Given) -> InPieces[Read]: ...
    def search(self, read: Read) -> Found: ...
    def write(self, read: Read, found: Found) -> InPieces[Gained]: ...


def overlapped(stages: Stages[Item, Read, Found, Result], items: Iterable[Item]) -> Iterator[Result]:
    """Yield the result of each item in order; while one is searched, the previous is written and the next is read.

    An error is raised where the result of its item would be.
    """
    waiting = iter(items)
    reading, writing = _Begun(_read_next(stages, waiting)), None
    try:
        while read := reading.result():
            reading = _Begun(_read_next(stages, waiting))
            with pausing(_spend_on([reading, writing] if writing else [reading])):
                hypotheses = stages.search(read[0])
            if writing is not None:
                yield writing.result()
            writing = _Begun(stages.write(read[0], hypotheses))
    except Exception:
        if writing is not None:
            yield writing.result()
        raise
    if writing is not None:
        yield writing.result()


def _read_next(stages: Stages[Item, Read, Found, Result], items: Iterator[Item]) -> InPieces[tuple[()] | tuple[Read]]:
    """Read the next item; return nothing if there is none."""
    for item in items:
        return ((yield from stages.read(item)),)
    return ()


class _Begun(Generic[Result]):
    """Work in progress, done piece by piece; its result, or the error that ended it, is kept until needed."""

    def __init__(self, pieces: InPieces[Result]) -> None:
        self._pieces = pieces
        self._found: list[Result] = []
        self._error: Exception | None = None
        self._awaited: Future[Any] | None = None

    def go_on(self) -> bool:
        """Do one more piece, if possible now; return True if one was done."""
        if self._found or self._error is not None or (self._awaited is not None and not self._awaited.done()):
            return False
        try:
            self._awaited = next(self._pieces)
        except StopIteration as end:
            self._found.append(end.value)
        except Exception as error:
            self._error = error
        return True

    def result(self) -> Result:
        while not self._found and self._error is None:
            if self._awaited is not None:
                wait([self._awaited])
            self.go_on()
        if self._error is not None:
            raise self._error
        return self._found[0]


def _spend_on(works: "Sequence[_Begun[Any]]") -> Pause:
    """Return a pause that works on the first of these that can continue."""

    def spend(is_free: bool) -> None:
        until = perf_counter() + PAUSE
        for work in works:
            while work.go_on():
                if perf_counter() >= until:
                    return

    return spend
