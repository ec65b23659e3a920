"""The attention implied by gates: a GRU's state is a weighted sum of its candidates, with weights from the gates."""

from collections.abc import Iterator

import torch
from torch import Tensor


def implied_weights(update: Tensor, backward: bool = False) -> Tensor:
    """Return the share of each candidate in each state, from the update gates z (batch, time, width).

    Written out, h_t = (1 − z_t) ⊙ n_t + z_t ⊙ h_{t−1} becomes

    h_t = w_t0 ⊙ h_0 + Σ_{k≤t} w_tk ⊙ n_k    w_tk = (1 − z_k) ⊙ Π_{j=k+1..t} z_j    w_t0 = Π_{j≤t} z_j

    The weights (batch, state, candidate, width) are positive and sum to one over the candidates, separately for every
    unit: an attention with a head per unit, where gates instead of a score decide where it looks. Candidate 0 is the
    start h_0 and candidate k is n_k; with `backward`, where reading begins at the other end, the start is last.
    """
    if backward:
        return implied_weights(update.flip(1)).flip(1, 2)
    return torch.stack(list(_rows(update)), dim=1)


def mean_weights(update: Tensor, backward: bool = False) -> Tensor:
    """Return the mean of the implied weights over the units (batch, state, candidate), without storing them all.

    A thousand tokens and a thousand units have a thousand million weights.
    """
    if backward:
        return mean_weights(update.flip(1)).flip(1, 2)
    return torch.stack([row.mean(dim=-1) for row in _rows(update)], dim=1)


def _rows(update: Tensor) -> Iterator[Tensor]:
    """Yield the weights of all candidates for one state after another (batch, candidate, width)."""
    batch, time, width = update.shape
    row = update.new_zeros(batch, time + 1, width)
    row[:, 0] = 1.0
    for place in range(time):
        gate = update[:, place]
        row = row * gate[:, None]
        row[:, place + 1] = 1 - gate
        yield row


def recombine(weights: Tensor, candidates: Tensor, start: Tensor, backward: bool = False) -> Tensor:
    """Return Σ_k w_tk ⊙ n_k including the start: the states (batch, time, width) that the GRU itself had."""
    mixed = [candidates, start[:, None]] if backward else [start[:, None], candidates]
    return torch.einsum("bskw,bkw->bsw", weights, torch.cat(mixed, dim=1))
