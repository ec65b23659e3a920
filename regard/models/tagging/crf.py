"""A linear-chain CRF over tags (Lafferty et al. 2001), on top of a network as in Huang et al. 2015.

    score(y | x) = b[y₁] + Σ_t e_t[y_t] + Σ_t A[y_{t−1}, y_t] + f[y_n],    p(y | x) = exp(score(y | x)) / Z

The e_t are the emissions, the network's scores of each tag at each word. A scores pairs of neighbouring tags, b the
first tag and f the last. The forward algorithm computes Z, the sum over all sequences, and Viterbi's the best sequence.
"""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from regard.attention.masks import real_places
from regard.base.pauses import between_steps

Emissions = Float[Tensor, "batch time tag"]
Lengths = Int[Tensor, " batch"]


class Chain(nn.Module):
    """Scores of neighbouring tags, initially all zero, which equals a softmax at each word."""

    def __init__(self, tags: int) -> None:
        super().__init__()
        self.between = nn.Parameter(torch.zeros(tags, tags))  # [before, after]
        self.first = nn.Parameter(torch.zeros(tags))
        self.last = nn.Parameter(torch.zeros(tags))

    def log_probability(
        self, emissions: Emissions, lengths: Lengths, tags: Int[Tensor, "batch time"]
    ) -> Float[Tensor, " batch"]:
        """Return log p of whole tag sequences; tags beyond a row's length are ignored."""
        return self.score(emissions, lengths, tags) - self.log_total(emissions, lengths)

    def score(self, emissions: Emissions, lengths: Lengths, tags: Int[Tensor, "batch time"]) -> Float[Tensor, " batch"]:
        """Return score(y | x) of these sequences."""
        real = real_places(lengths, tags.shape[1])
        chosen = emissions.gather(2, tags[:, :, None]).squeeze(2)
        pairs = self.between[tags[:, :-1], tags[:, 1:]]
        last = tags.gather(1, lengths[:, None] - 1).squeeze(1)
        inside = chosen.masked_fill(~real, 0.0).sum(dim=1) + pairs.masked_fill(~real[:, 1:], 0.0).sum(dim=1)
        return inside + self.first[tags[:, 0]] + self.last[last]

    def log_total(self, emissions: Emissions, lengths: Lengths) -> Float[Tensor, " batch"]:
        """log Z by the forward algorithm: α_t[j] = e_t[j] + log Σ_i exp(α_{t−1}[i] + A[i, j])."""
        real = real_places(lengths, emissions.shape[1])
        alpha = self.first + emissions[:, 0]
        for place in range(1, emissions.shape[1]):
            after = emissions[:, place] + (alpha[:, :, None] + self.between).logsumexp(dim=1)
            alpha = torch.where(real[:, place, None], after, alpha)
        return (alpha + self.last).logsumexp(dim=1)

    @torch.no_grad()
    def best(self, emissions: Emissions, lengths: Lengths) -> Int[Tensor, "batch time"]:
        """Return the most probable tags by Viterbi's algorithm, the first of equal ones; padding is 0."""
        real = real_places(lengths, emissions.shape[1])
        alpha, origins = self.first + emissions[:, 0], []
        for place in range(1, emissions.shape[1]):
            between_steps()
            best, origin = (alpha[:, :, None] + self.between).max(dim=1)
            origins.append(origin)
            alpha = torch.where(real[:, place, None], emissions[:, place] + best, alpha)
        return _trace_back((alpha + self.last).argmax(dim=1), origins, real)

    def marginals(self, emissions: Emissions, lengths: Lengths) -> Emissions:
        """Return p(y_t = k | x) at every word: the gradient of log Z by the emissions; padding is zero."""
        with torch.enable_grad():
            leaf = emissions.detach().requires_grad_()
            (gradient,) = torch.autograd.grad(self.log_total(leaf, lengths).sum(), leaf)
        return gradient


def _trace_back(
    last: Int[Tensor, " batch"], origins: list[Tensor], real: Bool[Tensor, "batch time"]
) -> Int[Tensor, "batch time"]:
    """Return the tags that lead to the last ones; a shorter row keeps its last tag until its end is reached."""
    tags = [last]
    for place in range(len(origins), 0, -1):
        before = origins[place - 1].gather(1, tags[-1][:, None]).squeeze(1)
        tags.append(torch.where(real[:, place], before, tags[-1]))
    return torch.stack(tags[::-1], dim=1).masked_fill(~real, 0)
