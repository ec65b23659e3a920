"""From a state for each word to one vector for the whole text."""

from typing import Literal

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from regard.attention import Attention, Lengths, named_score
from regard.attention.masks import real_places
from regard.models.text.texts import mean_over_time

ANSWER, SOURCE = "answer", "source"  # the sides of the attention: the answer looks at the text

PoolingScore = Literal["additive", "bilinear"]


class AttentionPooling(nn.Module):
    """Σᵢ αᵢ hᵢ with α = softmax over the words of score(q, hᵢ) (Yang et al. 2016, equations 5 to 7).

    q is one learned vector for all texts or, for questions about an aspect, the vector of the aspect (Wang et al. 2016,
    ATAE-LSTM, equations 7 to 9, who concatenate the projections of q and hᵢ inside tanh; here the additive score adds
    them).
    """

    def __init__(self, width: int, score: PoolingScore, query_depth: int | None = None) -> None:
        super().__init__()
        self.query = nn.Parameter(torch.empty(width)) if query_depth is None else None
        if self.query is not None:
            nn.init.normal_(self.query, std=width**-0.5)
        attention_score = named_score(score, query_depth or width, width, hidden=width)
        self.look = Attention(attention_score, looks_from=ANSWER, looks_at=SOURCE)

    def forward(
        self,
        states: Float[Tensor, "batch time width"],
        lengths: Int[Tensor, " batch"],
        query: Float[Tensor, "batch query_depth"] | None = None,
    ) -> Float[Tensor, "batch width"]:
        if query is None:
            assert self.query is not None
            query = self.query.expand(len(states), -1)
        keys = states[:, None]
        return self.look(query[:, None, None], keys, keys, Lengths(lengths))[:, 0, 0]


def max_over_time(
    states: Float[Tensor, "batch time width"], lengths: Int[Tensor, " batch"]
) -> Float[Tensor, "batch width"]:
    """Return the maximum of each column over the places of each text."""
    real = real_places(lengths, states.shape[1])
    return states.masked_fill(~real[..., None], float("-inf")).amax(dim=1)


POOLS = {"mean": mean_over_time, "max": max_over_time}  # without learnt weights
