"""Which examples are held out of those to learn from, so that every kind keeps its share on both sides."""

from collections.abc import Hashable, Mapping, Sequence

import numpy as np

SEED = 1  # not that of a run: runs that differ in their seed are compared on the same examples


def split_evenly(
    kinds: Sequence[Hashable], keys: Sequence[Hashable], shares: Mapping[str, float], learnt: str = "train"
) -> list[str]:
    """Return the split of each example, given the share of every other split.

    Each split has its share of every kind, as nearly as whole examples allow, whatever order they come in. Examples of
    one key stay together and count as one, of the kind of the first, unless there are too few keys for all splits. Of
    every kind at least one is learnt from.
    """
    found = _split_keys(kinds, keys, shares, learnt)
    return found if set(shares) <= set(found) else _split_keys(kinds, range(len(kinds)), shares, learnt)


def _split_keys(
    kinds: Sequence[Hashable], keys: Sequence[Hashable], shares: Mapping[str, float], learnt: str
) -> list[str]:
    firsts = {key: number for number, key in reversed(list(enumerate(keys)))}
    groups: dict[Hashable, list[Hashable]] = {}
    for key, number in sorted(firsts.items(), key=lambda item: item[1]):
        groups.setdefault(kinds[number], []).append(key)
    chance = np.random.default_rng(SEED)
    order = {kind: [own[place] for place in chance.permutation(len(own))] for kind, own in groups.items()}
    free = {kind: len(own) - 1 for kind, own in order.items()}
    split_of: dict[Hashable, str] = {}
    for split, share in shares.items():
        for kind, count in _seats({kind: len(own) for kind, own in order.items()}, free, share).items():
            for key in order[kind][free[kind] - count : free[kind]]:
                split_of[key] = split
            free[kind] -= count
    return [split_of.get(key, learnt) for key in keys]


def _seats(sizes: Mapping[Hashable, int], free: Mapping[Hashable, int], share: float) -> dict[Hashable, int]:
    """Return how many of each kind make up a share of all, one at least: whole parts, then the largest remainders."""
    wanted = {kind: share * size for kind, size in sizes.items()}
    seats = {kind: min(int(value), free[kind]) for kind, value in wanted.items()}
    left = max(1, int(share * sum(sizes.values()))) - sum(seats.values())
    open_kinds = [kind for kind in sizes if seats[kind] < free[kind]]
    for kind in sorted(open_kinds, key=lambda kind: seats[kind] - wanted[kind])[: max(left, 0)]:
        seats[kind] += 1
    return seats
