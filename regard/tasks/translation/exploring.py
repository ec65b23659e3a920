"""Training objectives that sample: tokens of the model's own, hard attention, and when to write online."""

from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from regard.attention.hard import Manner
from regard.base.faults import Fault
from regard.models.online.learning import learn_to_write
from regard.models.online.text import Online, OnlineOptions
from regard.models.recurrent.decoders import Writing
from regard.models.recurrent.seq2seq import Seq2Seq
from regard.models.recurrent.seq2seq_options import Seq2SeqOptions
from regard.models.reinforcement import Learnt, Likelihoods, learn_choices, likelihoods, manners_of_paths
from regard.protocols import Loss, Tally, map_tree, mean
from regard.tasks.drawn_paths import choice_tallies
from regard.tasks.translation.batches import PairBatch


@dataclass(frozen=True)
class Exploring:
    """Cross-entropy over one or more paths of each pair, and REINFORCE for what they drew on their way.

    What it carries from batch to batch: how many there were, and the moving average of the rewards. The reward is the
    log-probability of the true tokens as it is, without label smoothing. Beside the loss are shown the entropy of a
    choice, and its surplus: by how many nats what followed it differed from what was expected, as a root of squares.
    """

    options: Seq2SeqOptions
    label_smoothing: float

    def __call__(self, network: Seq2Seq, batch: PairBatch, carry: dict[str, Tensor] | None) -> Loss:
        batches = carry["batches"] if carry else torch.zeros((), dtype=torch.long)
        paths = self.options.paths if network.chooses else 1
        memory = network.read(batch.source, batch.source_lengths)
        past = map_tree(lambda leaf: leaf.repeat_interleave(paths, dim=0), network.begin(memory))
        manners = self._manners(batch) if network.chooses else past.manner
        inputs = batch.inputs.repeat_interleave(paths, dim=0)
        states, past = network.write(inputs, memory, past._replace(manner=manners), self._share(int(batches)))
        real = real_targets(batch)
        found = likelihoods(network.logits(states.unflatten(0, (-1, paths))), batch.target, real, self.label_smoothing)
        drawn = self.options.samples if network.chooses else 1
        total, onward = -found.smoothed[:, :drawn].sum() / drawn, {"batches": batches + 1}
        if not network.chooses:
            return Loss(total, batch.tokens, carry=onward)
        chosen = real & (manners.view(-1, paths, 1)[:, :1] != Manner.MIXED)
        learnt, tallies = self._learn_choices(found, past, chosen, carry["baseline"] if carry else None)
        onward["baseline"] = learnt.average
        # The gradient of what the choices add counts; its value would say nothing.
        return Loss(total + learnt.loss - learnt.loss.detach(), batch.tokens, tallies, onward)

    def _learn_choices(
        self, found: Likelihoods, past: Writing, chosen: Bool[Tensor, "row 1 time"], average: Tensor | None
    ) -> tuple[Learnt, dict[str, Tally]]:
        """Return what the choices add to the loss, and figures on them."""
        log_probability, entropy = (each.view(found.own.shape) for each in (past.log_probability, past.entropy))
        learnt = learn_choices(self.options, found.own, log_probability, entropy, chosen, average)
        return learnt, choice_tallies(learnt.surplus, entropy[:, : self.options.samples], chosen)

    def _manners(self, batch: PairBatch) -> Int[Tensor, "row 1"]:
        """Return how each path looks: some sentences at mixes, others at samples, but one path takes the best."""
        manners = manners_of_paths(self.options, batch.rows, batch.target.device)
        if self.options.expected:
            mixed = torch.rand(batch.rows, 1, device=manners.device) < self.options.expected
            manners = manners.masked_fill(mixed, Manner.MIXED)
        return manners.view(-1, 1)

    def _share(self, batches: int) -> float:
        """The share of own tokens at a batch: it grows evenly, so that the model can first learn from the true ones."""
        after = self.options.own_tokens_after
        return self.options.own_tokens * (min(1.0, batches / after) if after else 1.0)


@dataclass(frozen=True)
class WritingOnline:
    """Cross-entropy over drawn paths of each pair, and REINFORCE for their decisions to write or to wait."""

    label_smoothing: float

    def __call__(self, network: Online, batch: PairBatch, carry: dict[str, Tensor] | None) -> Loss:
        memory = network.read(batch.source, batch.source_lengths)
        real = real_targets(batch)
        found = learn_to_write(network, memory, batch.inputs, batch.target, real, carry, self.label_smoothing)
        tallies = {"entropy": Tally(found.entropy, mean), "place": Tally(found.place, mean)}
        return Loss(found.loss, batch.tokens, tallies, found.carry)


def exploring_for(options: Any, label_smoothing: float, consistency: float) -> Exploring | WritingOnline:
    """Return what a model with these options minimises; it cannot compare two passes, which would sample otherwise."""
    if isinstance(options, OnlineOptions):
        if consistency:
            raise Fault(
                "training.consistency compares two passes over the true tokens, and an online model draws where it "
                "writes each of them; leave it out."
            )
        return WritingOnline(label_smoothing)
    if consistency:
        raise Fault(
            "training.consistency compares two passes over the true tokens, so it goes neither with "
            "model.own_tokens nor with model.hard = 'reinforce'; leave one of them out."
        )
    return Exploring(options, label_smoothing)


def real_targets(batch: PairBatch) -> Bool[Tensor, "row 1 time"]:
    """Where the targets are no padding."""
    real = torch.zeros(batch.target.numel(), dtype=torch.bool, device=batch.target.device)
    real[batch.places] = True
    return real.view(batch.rows, 1, -1)
