"""Overlapped work: results in order, as many at once as asked for, errors where their results would have come."""

import sys
from collections.abc import Iterator
from threading import Barrier, current_thread

import pytest

from regard.base.overlapping import overlapped


@pytest.mark.parametrize("at_once", [1, 2, 3])
def test_results_come_in_the_order_of_the_items(at_once: int) -> None:
    assert list(overlapped(lambda number: number * number, range(10), at_once)) == [n * n for n in range(10)]


def test_one_at_a_time_needs_no_thread() -> None:
    assert set(overlapped(lambda _: current_thread(), range(3), 1)) == {current_thread()}


def test_two_are_in_work_at_once() -> None:
    meeting = Barrier(2, timeout=30)  # which neither passes alone

    def meet(number: int) -> int:
        meeting.wait()
        return number

    assert list(overlapped(meet, range(4), 2)) == [0, 1, 2, 3]


def test_an_error_comes_after_the_results_before_it_and_ends_all() -> None:
    read: list[int] = []

    def items() -> Iterator[int]:
        for number in range(100):
            read.append(number)
            yield number

    def refuse_three(number: int) -> int:
        if number == 3:
            raise ValueError("three")
        return number

    results = overlapped(refuse_three, items(), 2)
    assert [next(results) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(ValueError, match="three"):
        next(results)
    assert len(read) < 10


def test_turns_are_as_long_afterwards_as_before() -> None:
    before = sys.getswitchinterval()
    results = overlapped(lambda number: number, range(5), 2)
    next(results)
    assert sys.getswitchinterval() < before
    results.close()
    assert sys.getswitchinterval() == before
