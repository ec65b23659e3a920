"""REINFORCE: learn sampled choices from the rewards that follow them."""

from typing import Literal

import torch
from jaxtyping import Bool, Float
from torch import Tensor

Samples = Float[Tensor, "row sample time"]
Real = Bool[Tensor, "row #sample time"]  # True for real steps, False for padding
Baseline = Literal["none", "moving", "leave-one-out", "self-critical"]
MOMENTUM = 0.9  # of the moving baseline (Xu et al. 2015, section 4.1)


def reinforce_loss(
    surplus: Samples,
    log_probability: Samples,
    entropy: Samples,
    real: Real,
    *,
    reward_weight: float = 1.0,
    entropy_weight: float = 0.0,
) -> Float[Tensor, ""]:
    """Return the loss term that makes sampled choices learn, to add to −1/N Σ_n Σ_t log p(y_t | a) over N samples of a:

        −1/N Σ_n Σ_t [ λ_r (R_t − b_t) log p(a_t | a_1 … a_t−1) + λ_e H_t ]

    `surplus` is R_t − b_t, the reward after a choice (`rewards_to_come`) minus what was expected; H_t is the entropy of
    the distribution of a_t. In expectation, the gradient of both together is that of −E_a[log p(y | a)] − λ_e H(a): of
    the lower bound E_a[log p(y | a)] ≤ log p(y) (Xu et al. 2015, equations 10 to 14) and of the entropy. This holds for
    any b_t that does not depend on the choices a_t, a_t+1, … of its own sample, since b_t only changes the variance.
    With λ_r other than one it is no longer this gradient.

    The entropy of a step is known exactly, so its gradient is not estimated from samples as in the paper's equation 13.
    """
    gain = reward_weight * surplus.detach() * log_probability + entropy_weight * entropy
    return -(gain * real).sum() / log_probability.shape[1]


def rewards_to_come(
    log_likelihood: Samples,
    entropy: Samples,
    real: Real,
    *,
    entropy_weight: float = 0.0,
    discount: float = 1.0,
) -> Samples:
    """Return the reward of each choice, without gradient: the sum for its own token and all later ones.

        R_t = Σ_{s ≥ t} γ^(s−t) [ log p(y_s | a_1 … a_s) + λ_e H_{s+1} ]

    With a discount γ below one, later tokens count less: this lowers the variance but is no longer exact.
    """
    reward = log_likelihood.detach() * real
    if entropy_weight:  # a step's sample affects the next step's distribution, not its own
        later = (entropy.detach() * real)[..., 1:]
        reward = reward + entropy_weight * torch.cat([later, torch.zeros_like(reward[..., :1])], dim=-1)
    return from_here_on(reward, discount)


def leave_one_out(rewards: Samples) -> Samples:
    """Return, for each sample, the mean of its row's other samples, independent of its choices (Kool et al. 2019)."""
    samples = rewards.shape[1]
    return (rewards.sum(dim=1, keepdim=True) - rewards) / (samples - 1)


def average_reward(log_likelihood: Samples, real: Real) -> Float[Tensor, ""]:
    """Return the mean reward per step over all samples."""
    steps = real.expand(log_likelihood.shape)
    return (log_likelihood.detach() * steps).sum() / steps.sum().clamp_min(1)


def moving_average(before: Float[Tensor, ""] | None, now: Float[Tensor, ""]) -> Float[Tensor, ""]:
    """Return the moving average reward of the batches so far; recent batches count most."""
    return now if before is None else MOMENTUM * before + (1 - MOMENTUM) * now


def same_for_all(average: Float[Tensor, ""], real: Real, discount: float = 1.0) -> Float[Tensor, "row #sample time"]:
    """Return the baseline that ignores the row: the average reward of a step times the remaining steps."""
    return average * from_here_on(real.to(average.dtype), discount)


def from_here_on(steps: Samples, discount: float = 1.0) -> Samples:
    """Sum each step and all later ones; a discount multiplies each later step by that factor."""
    if discount == 1:
        return steps.flip(-1).cumsum(-1).flip(-1)
    if discount == 0:
        return steps
    total, sums = torch.zeros_like(steps[..., 0]), list[Tensor]()
    for time in reversed(range(steps.shape[-1])):
        total = steps[..., time] + discount * total
        sums.append(total)
    return torch.stack(sums[::-1], dim=-1) if sums else steps
