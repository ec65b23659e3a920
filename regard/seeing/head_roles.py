"""Roles of a trained model's heads by position, and the head that has each role."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import torch
from torch import Tensor

from regard.attention.masks import real_places
from regard.attention.roles import RoleSums, distance_sums, is_causal, role_sums
from regard.attention.watch import Gaze, numbered_blocks, watching
from regard.base.faults import Fault
from regard.base.progress import Progress, silent
from regard.seeing.head_reports import refuse_headless, with_extents
from regard.viewing.roles import HeadRole, HeadRoles, RoleHead

# Offsets of the roles that position alone decides, and names of the links of `linked_pairs`, in the order shown.
OFFSETS = {"previous token": -1, "itself": 0, "next token": 1}
LINKS = {
    "verb to subject": "verb-subject",
    "verb to object": "verb-object",
    "adjective to noun": "adjective-noun",
    "determiner to noun": "determiner-noun",
    "number to noun": "number-noun",
    "owner to noun": "owner-noun",
    "negation": "negation",
    "pronoun to antecedent": "antecedent",
}
SAME_WORD, ALIGNMENT, LONG_RANGE = "same word", "alignment", "long range"
ROLES = (*OFFSETS, SAME_WORD, *LINKS, ALIGNMENT, LONG_RANGE)

Sums = dict[tuple[str, str], RoleSums]  # by attention and role


@torch.no_grad()
def batch_roles(task: Any, batches: Iterable[Any], progress: Progress = silent) -> HeadRoles:
    """Return the positional roles of any model's heads while the task is measured on these batches."""
    refuse_headless(task)
    task.eval()
    sums: Sums = {}
    rows = 0
    for number, batch in enumerate(batches, start=1):
        with watching(task.model) as gazes:
            task.measure(batch)
        extents = task.extents(batch)
        for gaze, first, lengths in with_extents(gazes, extents):
            halves = torch.arange(rows + first, rows + first + len(gaze.weights)) % 2
            add_sums(sums, gaze, position_sums(gaze, lengths, halves))
        rows += len(next(iter(extents.values())))
        progress("watching", number, None)
    return choose_heads(task, sums, rows)


def add_sums(sums: Sums, gaze: Gaze, new: Iterable[tuple[str, RoleSums]]) -> None:
    for role, role_sum in new:
        key = gaze.where, role
        sums[key] = sums[key] + role_sum if key in sums else role_sum


def position_sums(gaze: Gaze, extents: Mapping[str, Tensor], halves: Tensor) -> Iterator[tuple[str, RoleSums]]:
    """Yield the roles that need no links, for a side that looks at itself."""
    weights = gaze.weights
    if gaze.edges is not None or gaze.looks_from != gaze.looks_at or weights.shape[2] != weights.shape[3]:
        return
    length = weights.shape[2]
    real = real_places(extents[gaze.looks_from].to(weights.device), length)
    both = real[:, :, None] & real[:, None]
    causal = is_causal(weights)
    for role, offset in OFFSETS.items():
        if offset <= 0 or not causal:
            line = torch.ones(length, length, dtype=torch.bool, device=weights.device)
            yield role, role_sums(weights, both & line.triu(offset).tril(offset), halves)
    yield LONG_RANGE, distance_sums(weights * real[:, None, None], real, halves)


def choose_heads(task: Any, sums: Sums, count: int) -> HeadRoles:
    """Choose the head and the offset of each role and side on the first half; score both on the second."""
    blocks = numbered_blocks(task.model)
    results = []
    for side in dict.fromkeys(side for side, _ in blocks.values()):
        for role in ROLES:
            attentions = {
                where: sums[where, role]
                for where, (of_side, _) in blocks.items()
                if of_side == side and (where, role) in sums and sums[where, role].is_complete
            }
            if attentions:
                results.append(_result(side, role, attentions, blocks))
    if not results:
        raise Fault("Roles need at least two sentences whose tokens look at each other, and there are none here.")
    return HeadRoles(count, results)


def _result(
    side: str, role: str, attentions: Mapping[str, RoleSums], blocks: Mapping[str, tuple[str, int]]
) -> HeadRole:
    any_sums = next(iter(attentions.values()))
    offset, alone = any_sums.best_offset()
    where = max(attentions, key=lambda name: float(attentions[name].strongest[0].max()))
    chosen, looks = attentions[where], float(any_sums.looks[1])
    best = chosen.best_head()
    heads = [
        RoleHead(name, blocks[name][1], number + 1, *(float(part) for part in pair))
        for name, sums in attentions.items()
        for number, pair in enumerate(
            zip(sums.strongest.sum(0) / sums.looks.sum(), sums.weight.sum(0) / sums.looks.sum(), strict=True)
        )
    ]
    return HeadRole(
        side=side,
        role=role,
        looks=int(any_sums.looks.sum()),
        scored=int(looks),
        offset=offset,
        alone=None if role in OFFSETS else alone,
        best=RoleHead(
            where,
            blocks[where][1],
            best + 1,
            float(chosen.strongest[1, best]) / looks,
            float(chosen.weight[1, best]) / looks,
        ),
        heads=heads,
    )
