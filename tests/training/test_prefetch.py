"""Prefetching: the same items in the same order, errors where they belong, and an end in time."""

import threading
from collections.abc import Iterator

import pytest

from regard.training.prefetch import prefetch


def test_the_items_come_in_order() -> None:
    with prefetch(range(100), ahead=3) as items:
        assert list(items) == list(range(100))


def test_an_error_comes_after_what_was_made_before_it() -> None:
    def made() -> Iterator[int]:
        yield 1
        raise ValueError("no more")

    with prefetch(made()) as items:
        assert next(items) == 1
        with pytest.raises(ValueError, match="no more"):
            next(items)


def test_leaving_early_ends_the_thread() -> None:
    calls: list[int] = []

    def endless() -> Iterator[int]:
        while True:
            calls.append(len(calls))
            yield calls[-1]

    with prefetch(endless(), ahead=2) as items:
        assert [next(items), next(items)] == [0, 1]
    assert len(calls) <= 2 + 2 + 2  # taken, waiting, and one in each hand
    assert not [thread for thread in threading.enumerate() if thread.name == "prefetch"]
