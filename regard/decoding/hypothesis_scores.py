"""Scores of hypotheses: s = log P / lp(n) + cp (Wu et al. 2016, equation 14)."""

from typing import Protocol, runtime_checkable

import torch
from torch import Tensor

from regard.base.faults import Fault
from regard.decoding.options import DecodingOptions
from regard.protocols import State, Stepwise

UNSEEN = 1e-6  # least coverage that counts: a place with none would make the score -inf


@runtime_checkable
class Covers(Protocol):
    """Records its attention: (row, source place) sums over the tokens so far, 1 at padding."""

    def coverage(self, state: State) -> Tensor: ...


def length_penalty(length: int | Tensor, alpha: float, kind: str = "wu") -> float | Tensor:
    """lp(n): ((5 + n) / 6)^alpha (Wu et al. 2016, equation 14), with "average" n^alpha, with "none" 1."""
    if kind == "wu":
        return ((5 + length) / 6) ** alpha
    return length**alpha if kind == "average" else 1.0


def coverage_penalty(coverage: Tensor, beta: float) -> Tensor:
    """cp = beta · sum over source places of log min(coverage, 1), (row) (Wu et al. 2016, equation 14)."""
    return beta * coverage.double().clamp(UNSEEN, 1.0).log().sum(dim=-1)


def penalties_of_rows(task: Stepwise, state: State, rows: Tensor, options: DecodingOptions) -> Tensor:
    """Return the coverage penalty of each row, in the shape of `rows`; zeros if there is no penalty."""
    if not options.coverage_penalty:
        return torch.zeros(rows.shape, dtype=torch.float64, device=rows.device)
    if not isinstance(task, Covers):
        raise Fault("This model does not record its attention as it writes. Set coverage_penalty to 0.")
    return coverage_penalty(task.coverage(state), options.coverage_penalty).view(rows.shape)
