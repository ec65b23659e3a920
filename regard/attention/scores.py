"""Scores of attention: callables (query, key) -> (batch, head, query, key).

A decoder looks at the same keys at every step, so a score can compute the part that depends on the keys once. `prepare`
and `compare` do this for any score; for a plain callable the prepared keys are the keys themselves.
"""

from collections.abc import Callable
from typing import ClassVar, Literal, NamedTuple, Protocol, TypeGuard, get_args, runtime_checkable

import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from regard.base.places import find_place
from regard.base.rows import SCORES

Score = Callable[[Tensor, Tensor], Tensor]
ScoreName = Literal["dot", "scaled-dot", "bilinear", "additive", "location", "mixed"]
Queries = Float[Tensor, "batch head query query_depth"]
Keys = Float[Tensor, "batch head key key_depth"]
Scores = Float[Tensor, "batch head query key"]


class PreparedKeys(NamedTuple):
    """Keys in the form that a score compares with queries, computed once for any number of queries."""

    keys: Float[Tensor, "batch head key depth"]


@runtime_checkable
class Prepares(Protocol):
    """A score in two halves; a score that `follows` also needs the previous look's weights, others ignore them."""

    follows: bool

    def prepare(self, key: Tensor) -> Tensor: ...
    def compare(self, query: Tensor, prepared: Tensor, previous: Tensor | None = None) -> Tensor: ...


def prepare(score: Score, key: Keys) -> PreparedKeys:
    """Prepare the keys for `score`."""
    return PreparedKeys(score.prepare(key) if _in_halves(score) else key)


def compare(score: Score, query: Queries, prepared: PreparedKeys, previous: Scores | None = None) -> Scores:
    """Return the score of every query and key, for keys prepared by the same score."""
    if _in_halves(score):
        return score.compare(query, prepared.keys, previous)
    return score(query, prepared.keys)


def follows(score: Score) -> bool:
    """Return True if the score depends on earlier weights."""
    return _in_halves(score) and score.follows


def gathers(score: Score) -> bool:
    """Return True if the score needs the sum of all earlier weights, not only the last."""
    return getattr(score, "gathers", False)


def _in_halves(score: Score) -> TypeGuard[Prepares]:
    # isinstance() with a protocol takes longer than a small look.
    return hasattr(score, "prepare") and hasattr(score, "compare")


def product_scale(score: Score, depth: int) -> float | None:
    """Return the factor of a score that is a product with its prepared keys, for fused kernels; otherwise None."""
    if score is scaled_dot:
        return depth**-0.5
    return 1.0 if score is dot or isinstance(score, Bilinear) else None


def dot(query: Queries, key: Keys) -> Scores:
    """q·k (Luong et al. 2015, section 3.1)."""
    return query @ key.mT


def scaled_dot(query: Queries, key: Keys) -> Scores:
    """q·k / √depth (Vaswani et al. 2017, equation 1)."""
    return query @ key.mT / query.shape[-1] ** 0.5


class Bilinear(nn.Module):
    """qᵀ W k (Luong et al. 2015, section 3.1, "general"); the two depths may differ."""

    follows: ClassVar[bool] = False

    def __init__(self, query_depth: int, key_depth: int) -> None:
        super().__init__()
        self.weight = nn.Linear(query_depth, key_depth, bias=False)

    def prepare(self, key: Keys) -> Float[Tensor, "batch head key query_depth"]:
        return key @ self.weight.weight

    def compare(
        self, query: Queries, prepared: Float[Tensor, "batch head key query_depth"], previous: Scores | None = None
    ) -> Scores:
        return query @ prepared.mT

    def forward(self, query: Queries, key: Keys) -> Scores:
        return self.compare(query, self.prepare(key))


class Additive(nn.Module):
    """wᵀ tanh(U q + V k) (Bahdanau et al. 2015, appendix A.1.2)."""

    follows: ClassVar[bool] = False

    def __init__(self, query_depth: int, key_depth: int, hidden: int) -> None:
        super().__init__()
        self.of_query = nn.Linear(query_depth, hidden, bias=False)
        self.of_key = nn.Linear(key_depth, hidden, bias=False)
        self.energy = nn.Linear(hidden, 1, bias=False)

    def prepare(self, key: Keys) -> Float[Tensor, "batch head key hidden"]:
        return self.of_key(key)

    def compare(
        self, query: Queries, prepared: Float[Tensor, "batch head key hidden"], previous: Scores | None = None
    ) -> Scores:
        mixed = self.of_query(query).unsqueeze(-2) + prepared.unsqueeze(-3)
        return self.energy(mixed.tanh()).squeeze(-1)

    def forward(self, query: Queries, key: Keys) -> Scores:
        return self.compare(query, self.prepare(key))


class Covered(Additive):
    """wᵀ tanh(U q + V k_i + u c_i) with c = Σ of all previous looks (See et al. 2017, equations 10 and 11).

    Departure: there is no bias term. `previous` is c; the first look has none.
    """

    follows: ClassVar[bool] = True
    gathers: ClassVar[bool] = True

    def __init__(self, query_depth: int, key_depth: int, hidden: int) -> None:
        super().__init__(query_depth, key_depth, hidden)
        self.of_coverage = nn.Linear(1, hidden, bias=False)

    def compare(
        self, query: Queries, prepared: Float[Tensor, "batch head key hidden"], previous: Scores | None = None
    ) -> Scores:
        mixed = self.of_query(query).unsqueeze(-2) + prepared.unsqueeze(-3)
        if previous is not None:
            mixed = mixed + self.of_coverage(previous.unsqueeze(-1))
        return self.energy(mixed.tanh()).squeeze(-1)


class Location(nn.Module):
    """wᵀ tanh(W q + V k_i + U f_i + b), f = F * α, α the previous look (Chorowski et al. 2015, equations 8 and 9).

    F holds `filters` filters that see `reach` places to either side. Without `key_depth` there is no V k_i: only the
    place counts, not its content. At the first look all of α rests on the first key.
    """

    follows: ClassVar[bool] = True

    def __init__(
        self, query_depth: int, key_depth: int | None = None, *, hidden: int, filters: int = 8, reach: int = 7
    ) -> None:
        super().__init__()
        self.of_query = nn.Linear(query_depth, hidden)
        self.of_key = None if key_depth is None else nn.Linear(key_depth, hidden, bias=False)
        self.filter = nn.Conv1d(1, filters, 2 * reach + 1, padding=reach, bias=False)
        self.of_place = nn.Linear(filters, hidden, bias=False)
        self.energy = nn.Linear(hidden, 1, bias=False)

    def prepare(self, key: Keys) -> Float[Tensor, "batch head key hidden"]:
        return key[..., :0] if self.of_key is None else self.of_key(key)

    def compare(
        self, query: Queries, prepared: Float[Tensor, "batch head key hidden"], previous: Scores | None = None
    ) -> Scores:
        if previous is None:
            previous = self._first_look(query, prepared)
        shape = (*query.shape[:-1], prepared.shape[-2])
        if previous.shape != shape:  # another shape might broadcast
            raise ValueError(f"previous has the shape {tuple(previous.shape)}, but the looks it precedes have {shape}")
        filtered = self.filter(previous.reshape(-1, 1, previous.shape[-1])).mT  # (batch·head·query, key, filter)
        mixed = self.of_query(query).unsqueeze(-2) + self.of_place(filtered).unflatten(0, previous.shape[:-1])
        if self.of_key is not None:
            mixed = mixed + prepared.unsqueeze(-3)
        return self.energy(mixed.tanh()).squeeze(-1)

    def forward(self, query: Queries, key: Keys, previous: Scores | None = None) -> Scores:
        return self.compare(query, self.prepare(key), previous)

    @staticmethod
    def _first_look(query: Tensor, prepared: Tensor) -> Tensor:
        weights = query.new_zeros(*query.shape[:-1], prepared.shape[-2])
        weights[..., 0] = 1.0
        return weights


class Positive(nn.Module):
    """log(1 + exp(score)): makes any score positive, so that `plain` normalisation can divide it by its sum."""

    def __init__(self, score: Score) -> None:
        super().__init__()
        self.score = score

    @property
    def follows(self) -> bool:
        return follows(self.score)

    def prepare(self, key: Keys) -> Float[Tensor, "batch head key depth"]:
        return prepare(self.score, key).keys

    def compare(
        self, query: Queries, prepared: Float[Tensor, "batch head key depth"], previous: Scores | None = None
    ) -> Scores:
        return F.softplus(compare(self.score, query, PreparedKeys(prepared), previous))

    def forward(self, query: Queries, key: Keys) -> Scores:
        return self.compare(query, self.prepare(key))


def named_score(name: ScoreName, query_depth: int, key_depth: int, hidden: int) -> Score:
    """Return the score that a recipe names; `hidden` is the hidden size of scores that are small networks."""
    if name in ("dot", "scaled-dot") and query_depth != key_depth:
        raise ValueError(
            f"the score '{name}' multiplies queries and keys of one depth, got {query_depth} and {key_depth};"
            " 'bilinear' and 'additive' take different depths"
        )
    match name:
        case "dot":
            return dot
        case "scaled-dot":
            return scaled_dot
        case "bilinear":
            return Bilinear(query_depth, key_depth)
        case "additive":
            return Additive(query_depth, key_depth, hidden)
        case "location":
            return Location(query_depth, hidden=hidden)
        case "mixed":
            return Location(query_depth, key_depth, hidden=hidden)
    if name in SCORES and (place := SCORES[name].make):
        score: Score = find_place(place)(query_depth, key_depth, hidden)
        return score
    raise ValueError(f"there is no score '{name}', only {', '.join(get_args(ScoreName))}")
