"""REINFORCE: what teaches choices that were drawn at random, by how well things went after them."""

from typing import Literal

import torch
from jaxtyping import Bool, Float
from torch import Tensor

Samples = Float[Tensor, "row sample time"]
Real = Bool[Tensor, "row #sample time"]  # the steps that there are; all else is padding
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
    """Return the term to add to the cross-entropy −1/N Σ_n Σ_t log p(y_t | a) so that the choices a, drawn N times,
    learn too:

        −1/N Σ_n Σ_t [ λ_r (R_t − b_t) log p(a_t | a_1 … a_t−1) + λ_e H_t ]

    `surplus` is R_t − b_t, by how much what came after a choice (`rewards_to_come`) was better than expected, and H_t
    the entropy of what a_t was drawn from. On average over the draws the gradient of both together is that of
    −E_a[log p(y | a)] − λ_e H(a): of the lower bound E_a[log p(y | a)] ≤ log p(y) (Xu et al. 2015, equations 10 to
    14), and of the entropy; so it is with any b_t that does not depend on the choices a_t, a_t+1, … of its own sample,
    for b_t changes the variance and nothing else. With a weight λ_r other than one it is no longer this gradient.

    The entropy of a step is known, so its gradient need not be guessed from the draws, as in the paper's equation 13.
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
    """Return the reward of each choice, without gradient: that of its own token and of all later ones.

        R_t = Σ_{s ≥ t} γ^(s−t) [ log p(y_s | a_1 … a_s) + λ_e H_{s+1} ]

    With a discount γ below one a choice answers less for what comes later: steadier, and no longer exact.
    """
    reward = log_likelihood.detach() * real
    if entropy_weight:  # the draw of a step decides from what the next is drawn, not its own distribution
        later = (entropy.detach() * real)[..., 1:]
        reward = reward + entropy_weight * torch.cat([later, torch.zeros_like(reward[..., :1])], dim=-1)
    return from_here_on(reward, discount)


def leave_one_out(rewards: Samples) -> Samples:
    """For each sample the mean of the others of its row, which know nothing of its choices (Kool et al. 2019)."""
    samples = rewards.shape[1]
    return (rewards.sum(dim=1, keepdim=True) - rewards) / (samples - 1)


def average_reward(log_likelihood: Samples, real: Real) -> Float[Tensor, ""]:
    """The reward of a step, whichever it is, over all samples."""
    steps = real.expand(log_likelihood.shape)
    return (log_likelihood.detach() * steps).sum() / steps.sum().clamp_min(1)


def moving_average(before: Float[Tensor, ""] | None, now: Float[Tensor, ""]) -> Float[Tensor, ""]:
    """The average reward of the batches so far, the last ones counting most."""
    return now if before is None else MOMENTUM * before + (1 - MOMENTUM) * now


def same_for_all(average: Float[Tensor, ""], real: Real, discount: float = 1.0) -> Float[Tensor, "row #sample time"]:
    """The baseline that knows nothing of a row: the average reward of a step times the steps to come."""
    return average * from_here_on(real.to(average.dtype), discount)


def from_here_on(steps: Samples, discount: float = 1.0) -> Samples:
    """Each step and all that follow it, added up; with a discount, each later one counts less by that factor."""
    if discount == 1:
        return steps.flip(-1).cumsum(-1).flip(-1)
    if discount == 0:
        return steps
    total, found = torch.zeros_like(steps[..., 0]), list[Tensor]()
    for time in reversed(range(steps.shape[-1])):
        total = steps[..., time] + discount * total
        found.append(total)
    return torch.stack(found[::-1], dim=-1) if found else steps
