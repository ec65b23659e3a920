"""Training objectives that sample: the model's own tokens, hard attention, and when to write online."""

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
    """Cross-entropy over one or more paths of each pair, and REINFORCE for their sampled choices.

    It carries the number of batches and the moving average of the rewards. The reward is the plain log-probability of
    the true tokens, without label smoothing. The tallies are the entropy of a choice and its surplus: by how many nats
    its result differed from the expected one, as a root mean square.
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
        likelihood = likelihoods(
            network.logits(states.unflatten(0, (-1, paths))), batch.target, real, self.label_smoothing
        )
        samples = self.options.samples if network.chooses else 1
        total, onward = -likelihood.smoothed[:, :samples].sum() / samples, {"batches": batches + 1}
        if not network.chooses:
            return Loss(total, batch.tokens, carry=onward)
        chosen = real & (manners.view(-1, paths, 1)[:, :1] != Manner.MIXED)
        learnt, tallies = self._learn_choices(likelihood, past, chosen, carry["baseline"] if carry else None)
        onward["baseline"] = learnt.average
        # Only the gradient of the choices' term matters; its value would say nothing.
        return Loss(total + learnt.loss - learnt.loss.detach(), batch.tokens, tallies, onward)

    def _learn_choices(
        self, likelihood: Likelihoods, past: Writing, chosen: Bool[Tensor, "row 1 time"], average: Tensor | None
    ) -> tuple[Learnt, dict[str, Tally]]:
        """Return the loss of the choices, and tallies about them."""
        log_probability, entropy = (
            values.view(likelihood.own.shape) for values in (past.log_probability, past.entropy)
        )
        learnt = learn_choices(self.options, likelihood.own, log_probability, entropy, chosen, average)
        return learnt, choice_tallies(learnt.surplus, entropy[:, : self.options.samples], chosen)

    def _manners(self, batch: PairBatch) -> Int[Tensor, "row 1"]:
        """Return how each path attends: to the mixture for some sentences, by sampling for others, one path
        greedily.
        """
        manners = manners_of_paths(self.options, batch.rows, batch.target.device)
        if self.options.expected:
            mixed = torch.rand(batch.rows, 1, device=manners.device) < self.options.expected
            manners = manners.masked_fill(mixed, Manner.MIXED)
        return manners.view(-1, 1)

    def _share(self, batches: int) -> float:
        """Return the share of the model's own tokens at a batch; it grows evenly, so that true tokens come first."""
        after = self.options.own_tokens_after
        return self.options.own_tokens * (min(1.0, batches / after) if after else 1.0)


@dataclass(frozen=True)
class WritingOnline:
    """Cross-entropy over sampled paths of each pair, and REINFORCE for their decisions to write or wait."""

    label_smoothing: float

    def __call__(self, network: Online, batch: PairBatch, carry: dict[str, Tensor] | None) -> Loss:
        memory = network.read(batch.source, batch.source_lengths)
        real = real_targets(batch)
        result = learn_to_write(network, memory, batch.inputs, batch.target, real, carry, self.label_smoothing)
        tallies = {"entropy": Tally(result.entropy, mean), "place": Tally(result.place, mean)}
        return Loss(result.loss, batch.tokens, tallies, result.carry)


def exploring_for(options: Any, label_smoothing: float, consistency: float) -> Exploring | WritingOnline:
    """Return the objective of a model with these options; consistency is refused, since two passes sample
    differently.
    """
    if isinstance(options, OnlineOptions):
        if consistency:
            raise Fault(
                "training.consistency compares two passes over the true tokens, but an online model samples when it "
                "writes each of them; omit it."
            )
        return WritingOnline(label_smoothing)
    if consistency:
        raise Fault(
            "training.consistency compares two passes over the true tokens, so it cannot be combined with "
            "model.own_tokens or model.hard = 'reinforce'; omit one of them."
        )
    return Exploring(options, label_smoothing)


def real_targets(batch: PairBatch) -> Bool[Tensor, "row 1 time"]:
    """Return True where targets are not padding."""
    real = torch.zeros(batch.target.numel(), dtype=torch.bool, device=batch.target.device)
    real[batch.places] = True
    return real.view(batch.rows, 1, -1)
