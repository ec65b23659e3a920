"""How well a key answers a query: a score is any callable (query, key) -> (batch, head, query, key)."""

from collections.abc import Callable

from jaxtyping import Float
from torch import Tensor, nn

Score = Callable[[Tensor, Tensor], Tensor]
Queries = Float[Tensor, "batch head query query_depth"]
Keys = Float[Tensor, "batch head key key_depth"]
Scores = Float[Tensor, "batch head query key"]


def dot(query: Queries, key: Keys) -> Scores:
    """q·k (Luong et al. 2015, section 3.1)."""
    return query @ key.mT


def scaled_dot(query: Queries, key: Keys) -> Scores:
    """q·k / √depth (Vaswani et al. 2017, equation 1)."""
    return query @ key.mT / query.shape[-1] ** 0.5


class Bilinear(nn.Module):
    """qᵀ W k (Luong et al. 2015, section 3.1, "general"); the two depths may differ."""

    def __init__(self, query_depth: int, key_depth: int) -> None:
        super().__init__()
        self.weight = nn.Linear(query_depth, key_depth, bias=False)

    def forward(self, query: Queries, key: Keys) -> Scores:
        return self.weight(query) @ key.mT


class Additive(nn.Module):
    """wᵀ tanh(U q + V k) (Bahdanau et al. 2015, appendix A.1.2)."""

    def __init__(self, query_depth: int, key_depth: int, hidden: int) -> None:
        super().__init__()
        self.of_query = nn.Linear(query_depth, hidden, bias=False)
        self.of_key = nn.Linear(key_depth, hidden, bias=False)
        self.energy = nn.Linear(hidden, 1, bias=False)

    def forward(self, query: Queries, key: Keys) -> Scores:
        mixed = self.of_query(query).unsqueeze(-2) + self.of_key(key).unsqueeze(-3)
        return self.energy(mixed.tanh()).squeeze(-1)
