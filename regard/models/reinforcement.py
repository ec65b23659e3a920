"""What networks that draw in training share: how many paths they draw, and how these are made into a gradient."""

from typing import NamedTuple

from jaxtyping import Float
from pydantic import Field
from torch import Tensor

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
    """How choices that were drawn are learnt by REINFORCE."""

    samples: int = Field(default=4, ge=1, le=256, description="Paths drawn of each input in training.")
    baseline: Baseline = Field(
        default="leave-one-out",
        description="What a path's reward is compared with: nothing, a moving average of all rewards, the mean of the "
        "input's other paths, or the path of the most probable choices.",
    )
    reward: float = Field(default=1.0, ge=0, description="Weight of the rewards, λ_r; at 1 the gradient is exact.")
    entropy: float = Field(default=0.01, ge=0, description="Weight of the choices' entropy, λ_e.")
    discount: float = Field(
        default=1.0,
        ge=0,
        le=1,
        description="By how much less each later reward counts for a choice; 0 counts that of its own step alone.",
    )

    def check_baseline(self) -> None:
        """Refuse a mean over no others."""
        if self.baseline == "leave-one-out" and self.samples < 2:
            raise ValueError("baseline = 'leave-one-out' is the mean of the other samples, so it needs samples = 2")

    @property
    def paths(self) -> int:
        """Paths that an input needs: the drawn ones, and behind them that of the best choices where it is compared."""
        return self.samples + (self.baseline == "self-critical")


class Learnt(NamedTuple):
    """What choices add to the loss, and the moving average of the rewards with this batch in it."""

    loss: Float[Tensor, ""]
    average: Float[Tensor, ""]


def learn_choices(
    options: ReinforceOptions,
    log_likelihood: Samples,
    log_probability: Samples,
    entropy: Samples,
    real: Real,
    average: Float[Tensor, ""] | None,
) -> Learnt:
    """REINFORCE over paths of each row, the last of which is that of the best choices where they are compared with it.

    `average` is that of the batches before; None is the first batch, for which a moving baseline expects nothing.
    """
    drawn = slice(0, options.samples)
    rewards = rewards_to_come(log_likelihood, entropy, real, entropy_weight=options.entropy, discount=options.discount)
    log_likelihood, log_probability, entropy, real = (
        each[:, drawn] for each in (log_likelihood, log_probability, entropy, real)
    )
    surplus = rewards[:, drawn]
    if options.baseline == "leave-one-out":
        surplus = surplus - leave_one_out(rewards)
    elif options.baseline == "self-critical":
        surplus = surplus - rewards[:, -1:]
    elif options.baseline == "moving" and average is not None:
        surplus = surplus - same_for_all(average, real, options.discount)
    loss = reinforce_loss(
        surplus,
        log_probability,
        entropy,
        real,
        reward_weight=options.reward,
        entropy_weight=options.entropy,
    )
    return Learnt(loss, moving_average(average, average_reward(log_likelihood, real)))
