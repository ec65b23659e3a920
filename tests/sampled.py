"""Which cases of a parametrised test `make test` runs, where it leaves most of them to `make test-long`."""

from collections import defaultdict
from collections.abc import Iterable

import pytest


def leave_to_long_runs(items: Iterable[pytest.Item]) -> None:
    """Mark as `long` the cases that `one_in` leaves out.

    Of a test marked `one_in(3)`, every third case stays. In a product of parameters the cases that stay lie on
    diagonals, so that each value of each parameter keeps some of its cases. No test loses all of them.
    """
    tests = defaultdict[str, list[pytest.Function]](list)
    for item in items:
        if isinstance(item, pytest.Function) and hasattr(item, "callspec") and item.get_closest_marker("one_in"):
            tests[item.nodeid.partition("[")[0]].append(item)
    for cases in tests.values():
        usual = [case for case in cases if case.get_closest_marker("long") is None]
        kept = [case for case in usual if place(case) % steps(case) == 0] or usual[:1]
        for case in usual:
            if case not in kept:
                case.add_marker(pytest.mark.long)


def steps(case: pytest.Function) -> int:
    """Return n if one case in n stays."""
    (number,) = next(case.iter_markers("one_in")).args
    return int(number)


def place(case: pytest.Function) -> int:
    """Return the sum of the places that the values of this case have among those of their parameters."""
    places = dict(case.callspec.indices)
    for mark in case.iter_markers("parametrize"):
        names = mark.args[0].split(",") if isinstance(mark.args[0], str) else mark.args[0]
        for together in names[1:]:  # given together with the first, so at the same place
            places.pop(together.strip(), None)
    return sum(places.values())


def few_seeds(few: int, count: int) -> pytest.MarkDecorator:
    """Give a test `seeds`: the first few of this count, and in `make test-long` the others."""
    return pytest.mark.parametrize("seeds", [range(few), pytest.param(range(few, count), marks=pytest.mark.long)])
