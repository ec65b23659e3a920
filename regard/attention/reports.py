"""Reports on heads: how focused, how diagonal, and how well they align words.

These are pure functions over gazes. They return sums and counts, so results of batches add up however they were cut.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Literal

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from regard.attention.alignments import Alignment, AlignmentErrors, alignment_errors, links
from regard.attention.masks import real_places
from regard.attention.watch import Gaze

BAND = 0.1  # largest distance from the diagonal that counts as on it, as a fraction of the sentence

Lengths = Int[Tensor, " batch"]
Weights = Float[Tensor, "batch head query key"]


@dataclass(frozen=True)
class HeadReport:
    """Totals over one head's weights; reports of the same head can be added."""

    where: str
    head: int
    looks: int = 0  # queries that look at something
    entropy_sum: float = 0.0  # in nats
    diagonal_sum: float = 0.0
    choices: int = 0  # looks with more than one key to choose from
    share_sum: float = 0.0
    alignment: AlignmentErrors = field(default_factory=AlignmentErrors)

    def __add__(self, other: "HeadReport") -> "HeadReport":
        if (self.where, self.head) != (other.where, other.head):
            raise ValueError(f"head {self.head} of {self.where} is not head {other.head} of {other.where}")
        sums = (getattr(self, column.name) + getattr(other, column.name) for column in fields(self)[2:])
        return HeadReport(self.where, self.head, *sums)

    @property
    def entropy(self) -> float:
        """Mean of −Σ α log α over the looks, in nats: 0 for a head that always looks at one place."""
        return self.entropy_sum / self.looks if self.looks else float("nan")

    @property
    def entropy_share(self) -> float:
        """Mean entropy as a fraction of log n, its maximum with n keys: 1 for uniform weights."""
        return self.share_sum / self.choices if self.choices else float("nan")

    @property
    def diagonal(self) -> float:
        """Mean weight on the diagonal: on keys about as far along their sentence as the query is."""
        return self.diagonal_sum / self.looks if self.looks else float("nan")


def report(gazes: Iterable[Gaze], lengths: Mapping[str, Lengths], band: float = BAND) -> list[HeadReport]:
    """Report the entropy and diagonal of every head; `lengths` gives each side's number of real places per row.

    Key i of S is on the diagonal of query t of T if the middles of their places, (i + ½)/S and (t + ½)/T, are no
    further apart than `band`, or than half a place of the side with fewer places. Looks along the edges of a graph are
    all real, and none is on a diagonal, because nodes have no order.
    """
    return merge_reports(
        head
        for gaze in gazes
        for head in (
            _head_reports(gaze, lengths[gaze.looks_from], lengths[gaze.looks_at], band)
            if gaze.edges is None
            else _edge_reports(gaze.weights.detach().float(), gaze.edges, gaze.where)
        )
    )


def alignment_report(
    gazes: Iterable[Gaze], words: Mapping[str, Sequence[Sequence[int]]], given: Sequence[Alignment]
) -> list[HeadReport]:
    """Report the alignment errors of every head that looks from target to source, against one reference per row.

    `words` gives each side's word number of every token, row by row, as `alignments.links` takes it. An alignment that
    links to a word its pair does not have is refused.
    """
    for target, source, alignment in zip(words["target"], words["source"], given, strict=True):
        alignment.check_within(max(source, default=-1) + 1, max(target, default=-1) + 1)
    reports = []
    for gaze in gazes:
        if (gaze.looks_from, gaze.looks_at) == ("target", "source"):
            rows = zip(gaze.weights, words["target"], words["source"], given, strict=True)
            for weights, target, source, alignment in rows:
                for head, head_weights in enumerate(weights):
                    errors = alignment_errors(links(head_weights, target, source), alignment)
                    reports.append(HeadReport(gaze.where, head, alignment=errors))
    return merge_reports(reports)


def merge_reports(reports: Iterable[HeadReport]) -> list[HeadReport]:
    """Merge reports into one per head, in the order in which heads first occur."""
    heads: dict[tuple[str, int], HeadReport] = {}
    for report in reports:
        place = report.where, report.head
        heads[place] = heads[place] + report if place in heads else report
    return list(heads.values())


def rank_heads(
    reports: Iterable[HeadReport], by: Literal["sharpness", "diagonal", "alignment"] = "sharpness"
) -> list[HeadReport]:
    """Sort the heads: sharpest, most diagonal or best aligned first; heads without a measure come last."""

    def key(head: HeadReport) -> tuple[bool, float]:
        value = {"sharpness": head.entropy_share, "diagonal": -head.diagonal, "alignment": head.alignment.rate}[by]
        return value != value, value  # NaN alone differs from itself

    return sorted(reports, key=key)


def _head_reports(gaze: Gaze, queries: Lengths, keys: Lengths, band: float) -> list[HeadReport]:
    weights, counted = _real(gaze.weights.detach().float(), queries, keys)
    nats = torch.special.entr(weights).sum(dim=-1)
    most = _choices(gaze, keys).log().expand_as(nats)
    free = counted & (most > 0)
    share = nats / most.masked_fill(most == 0, 1.0)
    straight = (weights * _diagonal(weights, queries, keys, band)).sum(dim=-1)

    def sum_rows(values: Tensor, where: Tensor) -> list[float]:
        return (values.double() * where).sum(dim=(0, 2)).tolist()

    ones = torch.ones_like(nats)
    columns = zip(
        sum_rows(ones, counted),
        sum_rows(nats, counted),
        sum_rows(straight, counted),
        sum_rows(ones, free),
        sum_rows(share, free),
        strict=True,
    )
    return [
        HeadReport(gaze.where, head, int(looks), entropy, diagonal, int(choices), shares)
        for head, (looks, entropy, diagonal, choices, shares) in enumerate(columns)
    ]


def _edge_reports(
    weights: Float[Tensor, "batch head edge"], edges: Int[Tensor, "2 edge"], where: str
) -> list[HeadReport]:
    _, looker = edges[0].unique(return_inverse=True)
    neighbours = looker.bincount()
    nats = weights.new_zeros(*weights.shape[:2], len(neighbours)).index_add(2, looker, torch.special.entr(weights))
    free = neighbours > 1
    share = nats[:, :, free] / neighbours[free].log()
    looks, choices = (len(weights) * int(count) for count in (len(neighbours), free.sum()))
    sums = zip(nats.double().sum(dim=(0, 2)).tolist(), share.double().sum(dim=(0, 2)).tolist(), strict=True)
    return [
        HeadReport(where, head, looks, entropy, float("nan"), choices, shares)
        for head, (entropy, shares) in enumerate(sums)
    ]


def _real(weights: Weights, queries: Lengths, keys: Lengths) -> tuple[Weights, Bool[Tensor, "batch head query"]]:
    """Return the weights without padding, each look summing to one, and a mask of the real looks."""
    weights = weights * real_places(keys.to(weights.device), weights.shape[3])[:, None, None]
    total = weights.sum(dim=-1)
    counted = (total > 0) & real_places(queries.to(weights.device), weights.shape[2])[:, None]
    return weights / total.masked_fill(total == 0, 1.0).unsqueeze(-1), counted


def _choices(gaze: Gaze, keys: Lengths) -> Float[Tensor, "batch 1 query"]:
    """Return the number of keys that each query can choose from.

    A gaze does not record the mask, but a side that looks at itself and never ahead is taken to be causal.
    """
    weights = gaze.weights
    queries, device = weights.shape[2], weights.device
    all_keys = keys.to(device)[:, None, None].expand(-1, 1, queries)
    if gaze.looks_from == gaze.looks_at and queries == weights.shape[3] and not weights.triu(1).any():
        return torch.minimum(all_keys, torch.arange(1, queries + 1, device=device)).float()
    return all_keys.float()


def _diagonal(weights: Weights, queries: Lengths, keys: Lengths, band: float) -> Bool[Tensor, "batch 1 query key"]:
    device = weights.device
    query_length, key_length = (lengths.to(device)[:, None].clamp_min(1) for lengths in (queries, keys))
    at_query = (torch.arange(weights.shape[2], device=device) + 0.5) / query_length
    at_key = (torch.arange(weights.shape[3], device=device) + 0.5) / key_length
    distance = (at_query[:, :, None] - at_key[:, None]).abs()
    nearest = 0.5 / torch.minimum(query_length, key_length)
    # Two middles may lie exactly half a place apart; rounding must not decide.
    return (distance <= torch.clamp_min(nearest, band)[:, :, None] + 1e-6)[:, None]
