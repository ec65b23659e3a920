"""What a translator minimises that decides at each input step whether to write: its tokens, and its decisions."""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from regard.attention.reinforce import Samples, from_here_on, leave_one_out, reinforce_loss
from regard.models.online import Course, Online, OnlineOptions
from regard.models.reinforcement import compare_paths, manners_of_paths
from regard.protocols import Loss, Tally, map_tree, mean
from regard.tasks.translation.batches import PairBatch
from regard.tasks.translation.exploring import likelihoods, real_places


@dataclass(frozen=True)
class WritingOnline:
    """Cross-entropy over drawn paths of each pair, and REINFORCE for their decisions to write or to wait.

    Paths write the same tokens at other steps, so what follows a decision is compared by tokens: one that is made when
    k tokens have been written answers for those from k on, and its baseline is what other paths got for the very same.
    The reward of a token is its log-probability, less `delay` for each input token that was read before it.
    The baseline knows how many tokens its own path has written, but nothing of what it decides from here on.
    """

    options: OnlineOptions
    label_smoothing: float

    def __call__(self, network: Online, batch: PairBatch, carry: dict[str, Tensor] | None) -> Loss:
        paths, drawn = self.options.paths, slice(0, self.options.samples)
        memory = network.read(batch.source, batch.source_lengths)
        past = map_tree(lambda leaf: leaf.repeat_interleave(paths, dim=0), network.begin(memory))
        manners = manners_of_paths(self.options, batch.rows, batch.target.device).view(-1, 1)
        inputs = batch.inputs.repeat_interleave(paths, dim=0)
        course, _ = network.follow(inputs, memory, past._replace(manner=manners))
        real = real_places(batch)
        states = course.states_of(batch.target.shape[1]).unflatten(0, (-1, paths))
        found = likelihoods(network, states, batch.target, real, self.label_smoothing)
        nothing = torch.zeros_like(found.own)  # the entropy of decisions has steps of its own, and comes in below
        late = course.places_of(batch.target.shape[1]).unflatten(0, (-1, paths)).to(found.own)
        rewards = found.own - self.options.delay * late
        average = carry["baseline"] if carry else None
        surplus, average = compare_paths(self.options, rewards, nothing, real, average)
        decisions, entropy = self._learn_decisions(course, surplus, real.sum(dim=-1, keepdim=True))
        total = -found.smoothed[:, drawn].sum() / self.options.samples
        # The gradient of what the decisions add counts; its value would say nothing.
        total = total + decisions - decisions.detach()
        place = Tally(((late * real)[:, drawn].sum(), batch.tokens * self.options.samples), mean)
        return Loss(total, batch.tokens, {"entropy": entropy, "place": place}, {"baseline": average})

    def _learn_decisions(
        self, course: Course, surplus: Samples, lengths: Int[Tensor, "row 1 1"]
    ) -> tuple[Float[Tensor, ""], Tally]:
        """REINFORCE by steps, of a surplus by tokens; and the mean entropy of a decision."""
        before, log_probability, entropy = (
            each.unflatten(0, (-1, self.options.paths))[:, : self.options.samples]
            for each in (course.before, course.log_probability, course.entropy)
        )
        decided: Bool[Tensor, "row sample step"] = before < lengths  # behind the last token nothing matters
        by_step = surplus.gather(2, before.clamp(max=surplus.shape[-1] - 1))
        if self.options.entropy:
            by_step = by_step + self.options.entropy * _entropy_to_come((entropy * decided).detach())
        loss = reinforce_loss(
            by_step,
            log_probability,
            entropy,
            decided,
            reward_weight=self.options.reward,
            entropy_weight=self.options.entropy,
        )
        return loss, Tally(((entropy.detach() * decided).sum(), decided.sum()), mean)


def _entropy_to_come(entropy: Samples) -> Samples:
    """The entropy of the decisions after each, which depends on it, compared with that of other paths."""
    later = from_here_on(entropy) - entropy
    return later - leave_one_out(later) if later.shape[1] > 1 else later
