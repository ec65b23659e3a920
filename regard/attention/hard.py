"""Hard attention: look at one place, sampled from the weights α, and learn from the outcome.

There are four estimators of a gradient through the sample: REINFORCE, whose signal comes from
`regard.attention.reinforce`, and three that need no signal besides the loss: straight-through, Gumbel-softmax, and both
combined.
"""

from enum import IntEnum
from typing import Literal, NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

Weights = Float[Tensor, "batch head query key"]
Manners = Int[Tensor, "batch #head query"]
Estimator = Literal["reinforce", "straight-through", "gumbel", "gumbel-straight-through"]
ESTIMATORS: tuple[Estimator, ...] = ("reinforce", "straight-through", "gumbel", "gumbel-straight-through")


class Manner(IntEnum):
    """Ways to look: at a sampled place, at the most probable one, or at the expected mix.

    The mix is the expected context, Σ_i α_i v_i (Xu et al. 2015, section 4.2).
    """

    DRAWN = 0
    BEST = 1
    MIXED = 2


class Chosen(NamedTuple):
    """Where each query looks, as weights, with the choice's log-probability and its distribution's entropy.

    `place` is set where the weights are one at a single place, zero elsewhere, and pass no gradient: then one value can
    be read instead of a sum over all.
    """

    weights: Weights
    log_probability: Float[Tensor, "batch head query"]
    entropy: Float[Tensor, "batch head query"]
    place: Int[Tensor, "batch head query"] | None


class Hard(nn.Module):
    """Choose one place for each query: in training sampled with probabilities α, otherwise the most probable.

    The weights in training, with g_i = −log E_i, E_i exponential, and k = argmax_i (log α_i + g_i), which is i with
    probability α_i:

    - "reinforce": one_hot(k), without gradient; the log-probability of k learns (Xu et al. 2015, section 4.1)
    - "straight-through": one_hot(k) + α − α without gradient (Bengio et al. 2013)
    - "gumbel": α̃ = softmax((log α + g) / τ); the lower the temperature τ, the closer to one place (Jang et al. 2017)
    - "gumbel-straight-through": one_hot(k) + α̃ − α̃ without gradient

    Samples come from torch's global generator.
    """

    def __init__(self, estimator: Estimator = "reinforce", temperature: float = 1.0) -> None:
        super().__init__()
        if estimator not in ESTIMATORS:
            raise ValueError(f"an estimator is one of {', '.join(map(repr, ESTIMATORS))}, got '{estimator}'")
        self.estimator, self.temperature = estimator, temperature

    def forward(self, weights: Weights, manners: Manners | None = None) -> Chosen:
        """Choose as `manners` says; without it every query samples. Outside training, sampling takes the best place."""
        total = weights.sum(dim=-1, keepdim=True)
        lost = total == 0
        probabilities = weights / total.masked_fill(lost, 1.0)  # a window may have left a sum below one
        logs = _safe_logs(probabilities)
        noise = _noise(probabilities, manners) if self.training else None
        noisy = logs.detach() if noise is None else logs.detach() + noise
        place = noisy.masked_fill(probabilities == 0, float("-inf")).argmax(dim=-1)
        chosen = F.one_hot(place, weights.shape[-1]).to(weights.dtype).masked_fill(lost, 0.0)
        log_probability = logs.gather(-1, place.unsqueeze(-1)).squeeze(-1)
        entropy = -(probabilities * logs).sum(dim=-1)
        if self.training and self.estimator != "reinforce":
            return Chosen(self._relax(chosen, probabilities, logs, noise), log_probability, entropy, None)
        if manners is None:
            return Chosen(chosen, log_probability, entropy, place)
        mixed = manners == Manner.MIXED
        chosen = torch.where(mixed.unsqueeze(-1), probabilities, chosen)
        return Chosen(chosen, log_probability.masked_fill(mixed, 0.0), entropy.masked_fill(mixed, 0.0), None)

    def _relax(self, chosen: Weights, probabilities: Weights, logs: Weights, noise: Tensor | None) -> Weights:
        """Return weights that let a gradient through."""
        soft = probabilities
        if self.estimator != "straight-through":
            barred = probabilities == 0
            lost = barred.all(dim=-1, keepdim=True)
            scores = (logs if noise is None else logs + noise) / self.temperature
            soft = scores.masked_fill(barred & ~lost, float("-inf")).softmax(dim=-1).masked_fill(lost, 0.0)
        return soft if self.estimator == "gumbel" else chosen + soft - soft.detach()


def take_chosen(
    value: Float[Tensor, "batch head key width"], chosen: Chosen
) -> Float[Tensor, "batch head query width"]:
    """Return the value at each query's place, or zero for a query that may look nowhere; no other value is read."""
    assert chosen.place is not None
    place = chosen.place.unsqueeze(-1)
    values = value.gather(-2, place.expand(*chosen.place.shape, value.shape[-1]))
    return values * chosen.weights.gather(-1, place)


def _safe_logs(probabilities: Weights) -> Weights:
    """Return logarithms, with zero where p is zero, so that neither p · log p nor its gradient is ever NaN."""
    return probabilities.masked_fill(probabilities == 0, 1.0).log()


def _noise(probabilities: Weights, manners: Manners | None) -> Tensor:
    """Return the noise that turns the maximum of log α into a sample; zero where the best place is requested."""
    exact = torch.promote_types(probabilities.dtype, torch.float32)  # in half precision some E_i would be zero
    noise = -torch.empty_like(probabilities, dtype=exact).exponential_().log()
    return noise if manners is None else noise.masked_fill((manners == Manner.BEST).unsqueeze(-1), 0.0)
