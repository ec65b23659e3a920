"""Held-out examples: every kind has its share on both sides, for any order of the file."""

import random
from collections import Counter

import pytest

from regard.data.holding_out import split_evenly

KINDS = ["a"] * 60 + ["b"] * 30 + ["c"] * 10


def counted(kinds: list[str], splits: list[str]) -> dict[str, Counter[str]]:
    return {
        name: Counter(kind for kind, split in zip(kinds, splits, strict=True) if split == name) for name in set(splits)
    }


def test_a_file_that_is_sorted_by_kind_holds_out_a_share_of_each() -> None:
    splits = split_evenly(KINDS, range(100), {"valid": 0.1})
    assert counted(KINDS, splits) == {"train": Counter(a=54, b=27, c=9), "valid": Counter(a=6, b=3, c=1)}
    assert splits == split_evenly(KINDS, range(100), {"valid": 0.1})
    held_out = [number for number, split in enumerate(splits[:60]) if split == "valid"]
    assert max(held_out) - min(held_out) > 20  # drawn from the whole kind, which may be sorted by something else


def test_any_order_gives_the_same_counts() -> None:
    for seed in range(5):
        kinds = random.Random(seed).sample(KINDS, 100)
        assert counted(kinds, split_evenly(kinds, range(100), {"valid": 0.1}))["valid"] == Counter(a=6, b=3, c=1)


@pytest.mark.parametrize(
    ("sizes", "share", "held_out"),
    [
        ((5, 5), 0.1, (1, 0)),  # one of ten; of equal remainders the first
        ((14, 6), 0.1, (1, 1)),  # 1.4 and 0.6 of two: the larger remainder is of b
        ((1, 19), 0.5, (0, 10)),  # the only one of its kind is used for training
        ((2, 2), 0.1, (1, 0)),  # one at least
        ((1, 1), 0.5, (0, 0)),
    ],
)
def test_whole_parts_come_first_and_then_the_largest_remainders(
    sizes: tuple[int, int], share: float, held_out: tuple[int, int]
) -> None:
    kinds = ["a"] * sizes[0] + ["b"] * sizes[1]
    count = counted(kinds, split_evenly(kinds, range(len(kinds)), {"valid": share})).get("valid", Counter())
    assert (count["a"], count["b"]) == held_out


def test_several_splits_have_nothing_in_common_and_leave_every_kind_something_to_learn() -> None:
    splits = split_evenly(KINDS, range(100), {"valid": 0.3, "test": 0.69})
    counts = counted(KINDS, splits)
    assert counts["valid"] == Counter(a=18, b=9, c=3)
    assert all(counts["train"][kind] >= 1 for kind in "abc")
    assert sum(map(Counter.total, counts.values())) == 100


def test_what_has_the_same_key_stays_together() -> None:
    keys = [number // 2 for number in range(100)]
    splits = split_evenly(KINDS, keys, {"valid": 0.1})
    assert splits[::2] == splits[1::2]
    assert counted(KINDS, splits)["valid"].total() == 10


def test_one_key_again_and_again_is_parted_after_all() -> None:
    kinds = ["a", "b"] * 20
    assert counted(kinds, split_evenly(kinds, kinds, {"valid": 0.1}))["valid"] == Counter(a=2, b=2)
