"""Training objective of a network that decides at each step whether to write: its tokens and its decisions."""

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from regard.attention.reinforce import Samples, from_here_on, leave_one_out, reinforce_loss
from regard.models.online.steps import Course, OnlineMemory, OnlineWriter, WritingOptions
from regard.models.reinforcement import compare_paths, likelihoods, manners_of_paths

Carry = dict[str, Tensor]  # passed from batch to batch: their number, and the moving average of the rewards
Ratio = tuple[Tensor, Tensor]  # a sum, and its count


class LearntWriting(NamedTuple):
    """The loss, the mean entropy of a decision, where tokens are written, and the carry to the next batch."""

    loss: Float[Tensor, ""]
    entropy: Ratio
    place: Ratio
    carry: Carry


def learn_to_write(
    network: OnlineWriter,
    memory: OnlineMemory,
    inputs: Int[Tensor, "row token"],
    target: Int[Tensor, "row token"],
    real: Bool[Tensor, "row 1 token"],
    carry: Carry | None,
    label_smoothing: float = 0.0,
) -> LearntWriting:
    """Return the cross-entropy over sampled paths of each row, and REINFORCE for their decisions to write or wait.

    Paths write the same tokens at different steps, so rewards are compared by tokens: a decision made after k tokens is
    responsible for those from k on, and its baseline is the reward of other paths for the same tokens. The reward of a
    token is its log-probability, minus `delay` for each input token read before it. The baseline depends on how many
    tokens its own path has written, but not on what that path decides from here on.
    """
    options, tokens = network.options, target.shape[1]
    paths, sampled = options.paths, slice(0, options.samples)
    manners = manners_of_paths(options, len(target), target.device).view(-1, 1)
    past = network.begin(memory, paths)._replace(manner=manners)
    course, _ = network.follow(inputs.repeat_interleave(paths, dim=0), memory, past)
    states = course.states_of(tokens).unflatten(0, (-1, paths))
    likelihood = likelihoods(network.logits(states), target, real, label_smoothing)
    nothing = torch.zeros_like(likelihood.own)  # the entropy of decisions is per step, and is added below
    late = course.places_of(tokens).unflatten(0, (-1, paths)).to(likelihood.own)
    carried = carry or {}
    batches = carried.get("batches", torch.zeros((), dtype=torch.long))
    rewards = likelihood.own - _delay_cost(options, int(batches)) * late
    surplus, average = compare_paths(options, rewards, nothing, real, carried.get("baseline"))
    weight = _entropy_weight(options, int(batches))
    decisions, entropy = _learn_decisions(options, weight, course, surplus, real.sum(dim=-1, keepdim=True))
    # Only the gradient of the decisions' term counts; its value would mean nothing.
    loss = -likelihood.smoothed[:, sampled].sum() / options.samples + decisions - decisions.detach()
    place = (late * real)[:, sampled].sum(), real.sum() * options.samples
    return LearntWriting(loss, entropy, place, {"baseline": average, "batches": batches + 1})


def _delay_cost(options: WritingOptions, batches: int) -> float:
    """Return the cost of a step of delay after `batches` batches: waiting is free at first, and then costs more."""
    rises = options.delay_rises
    return options.delay * (min(1.0, batches / rises) if rises else 1.0)


def _entropy_weight(options: WritingOptions, batches: int) -> float:
    """Return λ_e after `batches` batches: it keeps decisions open at first, and may fall so that they settle."""
    falls = options.entropy_falls
    return options.entropy * (max(0.0, 1 - batches / falls) if falls else 1.0)


def _learn_decisions(
    options: WritingOptions, entropy_weight: float, course: Course, surplus: Samples, lengths: Int[Tensor, "row 1 1"]
) -> tuple[Float[Tensor, ""], Ratio]:
    """Return the REINFORCE loss by steps, from a surplus by tokens, and the entropy of the decisions."""
    before, log_probability, entropy = (
        tensor.unflatten(0, (-1, options.paths))[:, : options.samples]
        for tensor in (course.before, course.log_probability, course.entropy)
    )
    decided: Bool[Tensor, "row sample step"] = before < lengths  # nothing matters after the last token
    by_step = surplus.gather(2, before.clamp(max=surplus.shape[-1] - 1))
    if entropy_weight:
        by_step = by_step + entropy_weight * _entropy_to_come((entropy * decided).detach())
    loss = reinforce_loss(
        by_step,
        log_probability,
        entropy,
        decided,
        reward_weight=options.reward,
        entropy_weight=entropy_weight,
    )
    return loss, ((entropy.detach() * decided).sum(), decided.sum())


def _entropy_to_come(entropy: Samples) -> Samples:
    """Return the entropy of later decisions, which depends on each, minus that of other paths."""
    later = from_here_on(entropy) - entropy
    return later - leave_one_out(later) if later.shape[1] > 1 else later
