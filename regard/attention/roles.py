"""Roles of heads: how often a head looks where a role says, by its strongest weight and by its mean weight.

These are pure functions over weights. A role is given as targets: True where a query should look. Sums are kept apart
for two halves of the sentences, so that the head and the offset are chosen on one half and scored on the other.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

Weights = Float[Tensor, "batch head query key"]
Targets = Bool[Tensor, "batch query key"]
Halves = Int[Tensor, " batch"]  # 0 or 1 for each sentence


@dataclass(frozen=True)
class RoleSums:
    """Sums over the looks of one attention that have a target, by half; sums of batches can be added.

    `offsets` counts, by half and offset, the looks whose key at that offset is a target. Distances have no offsets, and
    `uniform` sums what equal weights would give.
    """

    looks: Float[Tensor, " 2"]
    strongest: Float[Tensor, "2 head"]
    weight: Float[Tensor, "2 head"]
    offsets: Counter[tuple[int, int]]
    uniform: Float[Tensor, " 2"] | None = None

    def __add__(self, other: "RoleSums") -> "RoleSums":
        uniform = None if self.uniform is None or other.uniform is None else self.uniform + other.uniform
        return RoleSums(
            self.looks + other.looks,
            self.strongest + other.strongest,
            self.weight + other.weight,
            self.offsets + other.offsets,
            uniform,
        )

    @property
    def is_complete(self) -> bool:
        """True if both halves have looks."""
        return bool((self.looks > 0).all())

    def best_offset(self) -> tuple[int | None, float]:
        """Return the offset with most hits in the first half, and its share of hits in the second.

        For distances there is no offset, and the value is that of equal weights.
        """
        looks = float(self.looks[1])
        if self.uniform is not None:
            return None, float(self.uniform[1]) / looks
        first = {offset: count for (half, offset), count in self.offsets.items() if half == 0}
        if not first:
            return None, 0.0
        offset = min(first, key=lambda offset: (-first[offset], abs(offset), offset))
        return offset, self.offsets[1, offset] / looks

    def best_head(self) -> int:
        """Return the head whose strongest weight has the highest value in the first half."""
        return int(self.strongest[0].argmax())


def weights_between_words(
    weights: Weights, query_words: Sequence[Sequence[int]], key_words: Sequence[Sequence[int]]
) -> Float[Tensor, "batch head word key_word"]:
    """Return weights between words: the mean over the tokens of the query word, the sum over those of the key word.

    The word numbers of each row's tokens are as in `alignments.links`. The last key column collects the tokens that
    belong to no word, such as the end of the sentence, so that every look still sums to one.
    """
    queries = _membership(query_words, weights.shape[2]).to(weights)[:, :, :-1]
    queries = queries / queries.sum(dim=1, keepdim=True).clamp_min(1)
    keys = _membership(key_words, weights.shape[3]).to(weights)
    return queries.mT[:, None] @ weights @ keys[:, None]


def _membership(words: Sequence[Sequence[int]], length: int) -> Bool[Tensor, "batch token word"]:
    """Return True where a token belongs to a word; the last column has the tokens that belong to none."""
    count = max((max(row, default=-1) for row in words), default=-1) + 1
    table = torch.full((len(words), length), count)
    for number, row in enumerate(words):
        kept = torch.tensor(row[:length], dtype=torch.long)
        table[number, : len(kept)] = torch.where(kept < 0, count, kept)
    return torch.nn.functional.one_hot(table, count + 1).bool()


def is_causal(weights: Weights) -> bool:
    """Return True if no query of a side that looks at itself gives weight to a later key."""
    return weights.shape[2] == weights.shape[3] and not bool(weights.triu(1).any())


def role_sums(weights: Weights, targets: Targets, halves: Halves) -> RoleSums:
    """Return the sums of a role; a look is counted if it has a target and any weight at all.

    A head hits if its strongest weight is on a target.
    """
    weights, targets, halves = weights.detach().double(), targets.to(weights.device), halves.to(weights.device)
    counted = targets.any(dim=-1) & (weights.sum(dim=(1, 3)) > 0)
    targets = targets & counted[:, :, None]
    strongest = targets[:, None].expand_as(weights).gather(3, weights.argmax(dim=-1, keepdim=True)).squeeze(3)
    rows, queries, keys = targets.nonzero(as_tuple=True)
    offsets = Counter(zip(halves[rows].tolist(), (keys - queries).tolist(), strict=True))
    return RoleSums(
        _by_half(counted.double().sum(dim=1), halves),
        _by_half(strongest.double().sum(dim=2), halves),
        _by_half((weights * targets[:, None]).sum(dim=(2, 3)), halves),
        offsets,
    )


def distance_sums(weights: Weights, real: Bool[Tensor, "batch query"], halves: Halves) -> RoleSums:
    """Return sums of the distances in tokens between query and key, over the real queries of a side on itself."""
    weights, real, halves = weights.detach().double(), real.to(weights.device), halves.to(weights.device)
    places = torch.arange(weights.shape[2], device=weights.device)
    distance = (places[:, None] - places).abs().double()
    counted = real & (weights.sum(dim=(1, 3)) > 0)
    visible = (real[:, None, :] & counted[:, :, None]).double()
    if is_causal(weights):
        visible = visible.tril()
    strongest = distance.expand_as(weights).gather(3, weights.argmax(dim=-1, keepdim=True)).squeeze(3)
    uniform = (visible * distance).sum(dim=2) / visible.sum(dim=2).clamp_min(1)
    return RoleSums(
        _by_half(counted.double().sum(dim=1), halves),
        _by_half((strongest * counted[:, None]).sum(dim=2), halves),
        _by_half(((weights * distance).sum(dim=3) * counted[:, None]).sum(dim=2), halves),
        Counter(),
        _by_half(uniform.sum(dim=1), halves),
    )


def _by_half(values: Tensor, halves: Halves) -> Tensor:
    """Return sums over the rows of each half, on the host."""
    return values.new_zeros(2, *values.shape[1:]).index_add(0, halves, values).cpu()
