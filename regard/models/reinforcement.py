"""Shared by networks that sample in training: how many paths they sample, and how these give a gradient."""

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from pydantic import Field
from torch import Tensor

from regard.attention.hard import Manner
from regard.attention.reinforce import (
    Baseline,
    Real,
    Samples,
    average_reward,
    leave_one_out,
    moving_average,
    reinforce_loss,
    rewards_to_come,
    same_for_all,
)
from regard.base.recipe import Options


class ReinforceOptions(Options):
    """Options for learning sampled choices by REINFORCE."""

    samples: int = Field(default=4, ge=1, le=256, description="Paths sampled for each input in training.")
    baseline: Baseline = Field(
        default="leave-one-out",
        description="Baseline for a path's reward: none, a moving average of all rewards, the mean of the input's "
        "other paths, or the path of the most probable choices.",
    )
    reward: float = Field(default=1.0, ge=0, description="Weight of the rewards, λ_r; at 1 the gradient is exact.")
    entropy: float = Field(default=0.01, ge=0, description="Weight of the choices' entropy, λ_e.")
    discount: float = Field(
        default=1.0,
        ge=0,
        le=1,
        description="Factor by which each later reward counts less for a choice; 0 counts only its own step's.",
    )

    def check_baseline(self) -> None:
        """Refuse a leave-one-out baseline without other samples."""
        if self.baseline == "leave-one-out" and self.samples < 2:
            raise ValueError("baseline = 'leave-one-out' is the mean of the other samples, so it needs samples ≥ 2")

    @property
    def paths(self) -> int:
        """Paths per input: the sampled ones and, if it is the baseline, that of the best choices."""
        return self.samples + (self.baseline == "self-critical")


class Likelihoods(NamedTuple):
    """The log-probability of each target token, plain and with label smoothing for the loss; zero at padding."""

    own: Float[Tensor, "row path time"]
    smoothed: Float[Tensor, "row path time"]


class Surplus(NamedTuple):
    """The surplus of each sampled path over its baseline from each step on, and the updated moving average."""

    surplus: Samples
    average: Float[Tensor, ""]


class Learnt(NamedTuple):
    """Loss of the choices, the updated moving average, and the surplus of each path."""

    loss: Float[Tensor, ""]
    average: Float[Tensor, ""]
    surplus: Samples


def manners_of_paths(options: ReinforceOptions, rows: int, device: torch.device) -> Int[Tensor, "row path"]:
    """Return how each path chooses: all are sampled, except the last if it takes the best choices."""
    manners = torch.full((rows, options.paths), Manner.DRAWN, device=device)
    manners[:, options.samples :] = Manner.BEST
    return manners


def likelihoods(
    logits: Float[Tensor, "row path time token"],
    target: Int[Tensor, "row time"],
    real: Bool[Tensor, "row 1 time"],
    label_smoothing: float,
) -> Likelihoods:
    """Return the likelihood of one target under several paths that write it."""
    logs = logits.log_softmax(dim=-1, dtype=torch.promote_types(logits.dtype, torch.float32))
    wanted = target[:, None, :, None].expand(*logits.shape[:-1], 1)
    own = logs.gather(-1, wanted).squeeze(-1)
    smoothed = own if not label_smoothing else (1 - label_smoothing) * own + label_smoothing * logs.mean(dim=-1)
    return Likelihoods(own * real, smoothed * real)


def compare_paths(
    options: ReinforceOptions,
    log_likelihood: Samples,
    entropy: Samples,
    real: Real,
    average: Float[Tensor, ""] | None,
) -> Surplus:
    """Return R_t − b_t of the sampled paths of each row; the last path may be that of the best choices.

    `average` is that of the previous batches; None means the first batch, for which a moving baseline is zero.
    """
    rewards = rewards_to_come(log_likelihood, entropy, real, entropy_weight=options.entropy, discount=options.discount)
    sampled, steps = slice(0, options.samples), real[:, : options.samples]
    surplus = rewards[:, sampled]
    if options.baseline == "leave-one-out":
        surplus = surplus - leave_one_out(surplus)
    elif options.baseline == "self-critical":
        surplus = surplus - rewards[:, -1:]
    elif options.baseline == "moving" and average is not None:
        surplus = surplus - same_for_all(average, steps, options.discount)
    now = moving_average(average, average_reward(log_likelihood[:, sampled], steps))
    # A batch in which nothing was sampled has no rewards.
    return Surplus(surplus, now if average is None else torch.where(steps.any(), now, average))


def learn_choices(
    options: ReinforceOptions,
    log_likelihood: Samples,
    log_probability: Samples,
    entropy: Samples,
    real: Real,
    average: Float[Tensor, ""] | None,
) -> Learnt:
    """Apply REINFORCE to paths with a choice at every step, whose rewards are compared step by step."""
    compared = compare_paths(options, log_likelihood, entropy, real, average)
    sampled = slice(0, options.samples)
    loss = reinforce_loss(
        compared.surplus,
        log_probability[:, sampled],
        entropy[:, sampled],
        real[:, sampled],
        reward_weight=options.reward,
        entropy_weight=options.entropy,
    )
    return Learnt(loss, compared.average, compared.surplus)
