"""Choose held-out examples so that every kind keeps its share in each split."""

from collections.abc import Hashable, Mapping, Sequence

import numpy as np

SEED = 1  # independent of the run's seed, so that runs with other seeds use the same examples


def split_evenly(
    kinds: Sequence[Hashable], keys: Sequence[Hashable], shares: Mapping[str, float], learnt: str = "train"
) -> list[str]:
    """Return the split of each example, given the share of every split but the training one.

    Each split gets its share of every kind, as nearly as whole examples allow, in whatever order they come. Examples
    with the same key stay together and count as one, of the first one's kind, unless there are too few keys for all
    splits. At least one example of every kind is used for training.
    """
    splits = _split_keys(kinds, keys, shares, learnt)
    return splits if set(shares) <= set(splits) else _split_keys(kinds, range(len(kinds)), shares, learnt)


def _split_keys(
    kinds: Sequence[Hashable], keys: Sequence[Hashable], shares: Mapping[str, float], learnt: str
) -> list[str]:
    firsts = {key: number for number, key in reversed(list(enumerate(keys)))}
    groups: dict[Hashable, list[Hashable]] = {}
    for key, number in sorted(firsts.items(), key=lambda item: item[1]):
        groups.setdefault(kinds[number], []).append(key)
    chance = np.random.default_rng(SEED)
    order = {kind: [members[place] for place in chance.permutation(len(members))] for kind, members in groups.items()}
    free = {kind: len(members) - 1 for kind, members in order.items()}
    split_of: dict[Hashable, str] = {}
    for split, share in shares.items():
        for kind, count in _seats({kind: len(members) for kind, members in order.items()}, free, share).items():
            for key in order[kind][free[kind] - count : free[kind]]:
                split_of[key] = split
            free[kind] -= count
    return [split_of.get(key, learnt) for key in keys]


def _seats(sizes: Mapping[Hashable, int], free: Mapping[Hashable, int], share: float) -> dict[Hashable, int]:
    """Return how many of each kind make up a share, at least one in all: whole parts, then largest remainders."""
    quotas = {kind: share * size for kind, size in sizes.items()}
    seats = {kind: min(int(value), free[kind]) for kind, value in quotas.items()}
    left = max(1, int(share * sum(sizes.values()))) - sum(seats.values())
    open_kinds = [kind for kind in sizes if seats[kind] < free[kind]]
    for kind in sorted(open_kinds, key=lambda kind: seats[kind] - quotas[kind])[: max(left, 0)]:
        seats[kind] += 1
    return seats
