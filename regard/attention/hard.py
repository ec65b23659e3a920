"""Hard attention: look at one place, drawn by the weights, and learn from how well that went.

Two ways to learn: REINFORCE, whose signal is `reinforce_loss`, and straight-through estimation, which needs none.
"""

from typing import Literal, NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor, nn

Weights = Float[Tensor, "batch head query key"]
Steps = Float[Tensor, "row time"]
Estimator = Literal["reinforce", "straight-through"]


class Chosen(NamedTuple):
    """The one place each query looks at, as weights, and the log-probability of choosing it."""

    weights: Weights
    log_probability: Float[Tensor, "batch head query"]


class Hard(nn.Module):
    """One place for each query: in training drawn with α as its probabilities, otherwise the most probable.

    The weights are one at that place. With "straight-through" they are one_hot + α − α without gradient, so that the
    gradient reaches α as if they were α (Bengio et al. 2013); with "reinforce" none passes, and the log-probability of
    the place is what learns (Xu et al. 2015, section 4.1). Draws come from torch's global generator.
    """

    def __init__(self, estimator: Estimator = "reinforce") -> None:
        super().__init__()
        if estimator not in ("reinforce", "straight-through"):
            raise ValueError(f"an estimator is 'reinforce' or 'straight-through', got '{estimator}'")
        self.estimator = estimator

    def forward(self, weights: Weights) -> Chosen:
        total = weights.sum(dim=-1, keepdim=True)
        lost = total == 0
        probabilities = weights / total.masked_fill(lost, 1.0)  # a window may have left them less than one in sum
        place = self._draw(probabilities.detach())
        one_hot = F.one_hot(place, weights.shape[-1]).to(weights.dtype).masked_fill(lost, 0.0)
        of_place = probabilities.gather(-1, place.unsqueeze(-1)).masked_fill(lost, 1.0)
        if self.estimator == "straight-through":
            one_hot = one_hot + probabilities - probabilities.detach()
        return Chosen(one_hot, of_place.squeeze(-1).log())

    def _draw(self, probabilities: Tensor) -> Tensor:
        if not self.training:
            return probabilities.argmax(dim=-1)
        # The greatest of α_i / E_i with E_i exponential is i with probability α_i, and never one with α_i = 0. In half
        # precision some E_i would be zero.
        exact = probabilities.to(torch.promote_types(probabilities.dtype, torch.float32))
        return (exact / torch.empty_like(exact).exponential_()).argmax(dim=-1)


class Reinforced(NamedTuple):
    """What the choices add to the loss, summed over the real steps, and the baseline for the next batch."""

    loss: Float[Tensor, ""]
    baseline: Float[Tensor, ""]


def reinforce_loss(
    log_likelihood: Steps,
    log_probability: Steps,
    real: Bool[Tensor, "row time"],
    baseline: Float[Tensor, ""] | None = None,
    entropy_weight: float = 0.0,
    momentum: float = 0.9,
) -> Reinforced:
    """What to add to the cross-entropy −Σ log p(y_t | a) so that drawn choices a learn too.

    On average over the choices the gradient of both together is that of −E_a[log p(y | a)] − λ H(a): of the lower bound
    E_a[log p(y | a)] ≤ log p(y) (Xu et al. 2015, equations 10 to 14), and of the entropy with λ = `entropy_weight`. By
    step t: `log_likelihood` is log p(y_t | a_1 … a_t), `log_probability` is log p(a_t | a_1 … a_t−1), over all heads.

    - A choice answers for what comes after it: R_t = Σ_{s ≥ t} [log p(y_s) − λ log p(a_s)], whose second part is the
      sampled gradient of the entropy, and the loss is −Σ_t (R_t − b_t) log p(a_t).
    - b_t is the moving average of the reward of one step times the steps to come. It depends on no choice of this
      batch, so it changes the variance and nothing else. None is the first batch, where nothing is subtracted.
    """
    choice = log_probability.masked_fill(~real, 0.0)
    reward = (log_likelihood.masked_fill(~real, 0.0) - entropy_weight * choice).detach()
    expected = 0.0 if baseline is None else baseline * _from_here_on(real.to(reward.dtype))
    loss = -((_from_here_on(reward) - expected) * choice).sum()
    average = reward.sum() / real.sum().clamp_min(1)
    return Reinforced(loss, average if baseline is None else momentum * baseline + (1 - momentum) * average)


def _from_here_on(steps: Steps) -> Steps:
    """Each step and all that follow it, added up."""
    return steps.flip(-1).cumsum(-1).flip(-1)
