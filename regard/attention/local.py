"""Local attention: a query looks at a window of keys around one place (Luong et al. 2015, section 3.2).

A focus takes the queries, their places and the mask; it returns the keys that remain and a factor for each weight. A
row's sentence extends to the last key that its mask allows; S is its length.
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

Queries = Float[Tensor, "batch head query depth"]
Places = Int[Tensor, " query"]
Allowed = Bool[Tensor, "#batch #head #query key"]


class Focused(NamedTuple):
    """Where a query may still look, and the factor for the normalised weights there."""

    allowed: Bool[Tensor, "#batch #head query key"]
    factor: Float[Tensor, "#batch #head #query #key"]


Focus = Callable[[Tensor, Tensor, Tensor], Focused]


class LocalMonotonic(nn.Module):
    """local-m: query t looks at the keys within `reach` of p_t = t.

    The paper does not say what a query past the end of the sentence sees; here p_t stays at the last key.
    """

    def __init__(self, reach: int) -> None:
        super().__init__()
        self.reach = _check_reach(reach)

    def forward(self, query: Queries, places: Places, allowed: Allowed) -> Focused:
        centre = torch.minimum(places, _lengths(allowed) - 1)
        near = _offsets(allowed, centre).abs() <= self.reach
        return Focused(allowed & near, query.new_ones(1, 1, 1, 1))


class LocalPredictive(nn.Module):
    """local-p: the keys within D = `reach` of p_t = S σ(vᵀ tanh(W q)), weighted by exp(−(s − p_t)² / 2σ²), σ = D/2.

    As in the paper (equations 9 and 10) the weights are not normalised again, so they sum to less than one.
    """

    def __init__(self, query_depth: int, hidden: int, reach: int) -> None:
        super().__init__()
        self.reach = _check_reach(reach)
        self.of_query = nn.Linear(query_depth, hidden, bias=False)
        self.centre = nn.Linear(hidden, 1, bias=False)

    def forward(self, query: Queries, places: Places, allowed: Allowed) -> Focused:
        share = self.centre(self.of_query(query).tanh()).squeeze(-1)
        # bfloat16 cannot distinguish neighbouring centres beyond 256.
        share = share.to(torch.promote_types(share.dtype, torch.float32)).sigmoid()
        offsets = _offsets(allowed, share * _lengths(allowed))
        factor = (-2 * (offsets / self.reach) ** 2).exp().to(query.dtype)
        return Focused(allowed & (offsets.abs() <= self.reach), factor)


def _check_reach(reach: int) -> int:
    if reach < 1:
        raise ValueError(f"a local window must reach at least 1 key to either side, got {reach}")
    return reach


def _lengths(allowed: Allowed) -> Int[Tensor, "#batch #head #query"]:
    """Return one more than the last place each query may look at; 1 where there is none."""
    places = torch.arange(1, allowed.shape[-1] + 1, device=allowed.device)
    return (allowed * places).amax(dim=-1).clamp_min(1)


def _offsets(allowed: Allowed, centre: Tensor) -> Tensor:
    """Return the distance of each key from the centre of each query."""
    return torch.arange(allowed.shape[-1], device=allowed.device) - centre.unsqueeze(-1)
