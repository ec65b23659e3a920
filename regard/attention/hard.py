"""Hard attention: look at one place, drawn by the weights α, and learn from how well that went.

Four estimators of a gradient that passes a draw: REINFORCE, whose signal is made in `regard.attention.reinforce`, and
three that need no signal beside the loss: straight-through, Gumbel-softmax, and the two of them together.
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
    """Where each query looks, as weights; the log-probability of that choice, and the entropy of what it is drawn from.

    `place` is given where the weights are one at a place, zero elsewhere, and hand no gradient on: then one value can
    be taken instead of a sum over all.
    """

    weights: Weights
    log_probability: Float[Tensor, "batch head query"]
    entropy: Float[Tensor, "batch head query"]
    place: Int[Tensor, "batch head query"] | None


class Hard(nn.Module):
    """One place for each query: in training drawn with α as its probabilities, otherwise the most probable.

    What the weights are in training, with g_i = −log E_i, E_i exponential, and k = argmax_i (log α_i + g_i), which is i
    with probability α_i:

    - "reinforce": one_hot(k), without gradient; the log-probability of k is what learns (Xu et al. 2015, section 4.1)
    - "straight-through": one_hot(k) + α − α without gradient (Bengio et al. 2013)
    - "gumbel": α̃ = softmax((log α + g) / τ), at temperature τ: the smaller, the nearer to one place (Jang et al. 2017)
    - "gumbel-straight-through": one_hot(k) + α̃ − α̃ without gradient

    Draws come from torch's global generator.
    """

    def __init__(self, estimator: Estimator = "reinforce", temperature: float = 1.0) -> None:
        super().__init__()
        if estimator not in ESTIMATORS:
            raise ValueError(f"an estimator is one of {', '.join(map(repr, ESTIMATORS))}, got '{estimator}'")
        self.estimator, self.temperature = estimator, temperature

    def forward(self, weights: Weights, manners: Manners | None = None) -> Chosen:
        """Without `manners` all queries draw; outside training those that would draw take the best."""
        total = weights.sum(dim=-1, keepdim=True)
        lost = total == 0
        probabilities = weights / total.masked_fill(lost, 1.0)  # a window may have left them less than one in sum
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
        """Weights through which a gradient passes."""
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
    """The value at the place of each query, and zero for one that may look nowhere: no other value is read."""
    assert chosen.place is not None
    place = chosen.place.unsqueeze(-1)
    taken = value.gather(-2, place.expand(*chosen.place.shape, value.shape[-1]))
    return taken * chosen.weights.gather(-1, place)


def _safe_logs(probabilities: Weights) -> Weights:
    """Their logarithms, and zero where they are zero, so that neither p · log p nor its gradient is ever NaN."""
    return probabilities.masked_fill(probabilities == 0, 1.0).log()


def _noise(probabilities: Weights, manners: Manners | None) -> Tensor:
    """Return the noise that turns the maximum of log α into a sample; zero where the best is wanted."""
    exact = torch.promote_types(probabilities.dtype, torch.float32)  # in half precision some E_i would be zero
    noise = -torch.empty_like(probabilities, dtype=exact).exponential_().log()
    return noise if manners is None else noise.masked_fill((manners == Manner.BEST).unsqueeze(-1), 0.0)
