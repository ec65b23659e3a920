"""Training objectives of translators: cross-entropy of the true tokens, and objectives that sample."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, runtime_checkable

import torch
from jaxtyping import Float, Int
from torch import Tensor

from regard.attention.editing import is_observed
from regard.base.faults import Fault
from regard.base.recipe import Options
from regard.models.cross_entropy import (
    TeacherOutput,
    consistent_cross_entropy,
    projected_cross_entropy,
    taught_cross_entropy,
)
from regard.models.ctc.head import ctc_loss
from regard.models.translator_options import CTCOptions, can_copy
from regard.protocols import Loss, Tally, mean
from regard.tasks.translation.batches import PairBatch, TranslationNetwork
from regard.tasks.translation.copying import CopyingCrossEntropy
from regard.tasks.translation.packs import PackedBatch, PackedPairs


@runtime_checkable
class Objective(Protocol):
    """The loss of a network on a batch; `carry` is what it passed on with the previous batch."""

    def __call__(self, network: Any, batch: Any, carry: dict[str, Tensor] | None) -> Loss: ...


class Forced(NamedTuple):
    """The states that predict the real target tokens, each given the true ones before it, and those tokens."""

    states: Float[Tensor, "token width"]
    wanted: Int[Tensor, " token"]


def forced(network: TranslationNetwork, batch: PairBatch | PackedBatch) -> Forced:
    """Teacher forcing: read the sources and write the given targets."""
    if isinstance(batch, PackedBatch):
        if is_observed():
            raise Fault("These sentences were packed before watching or editing began; make the batch in the block.")
        return _forced_packed(network, batch.packed, batch.room)
    memory = network.read(batch.source, batch.source_lengths)
    states, _ = network.write(batch.inputs, memory, network.begin(memory))
    return _real(states, batch)


def _forced_packed(network: Any, pairs: PackedPairs, room: int) -> Forced:
    from regard.models.transformer.packed import forced_states  # needs Triton

    return Forced(forced_states(network, pairs.source, pairs.target, room), pairs.wanted)


def _real(states: Float[Tensor, "batch target width"], batch: PairBatch) -> Forced:
    return Forced(states.flatten(0, 1).index_select(0, batch.places), batch.target.flatten()[batch.places])


@dataclass(frozen=True)
class CrossEntropy:
    """Cross-entropy with label smoothing (Szegedy et al. 2016, section 7)."""

    label_smoothing: float = 0.0

    def __call__(
        self, network: TranslationNetwork, batch: PairBatch | PackedBatch, carry: dict[str, Tensor] | None
    ) -> Loss:
        return Loss(self.of(network, forced(network, batch)), batch.tokens)

    def of(self, network: TranslationNetwork, written: Forced) -> Float[Tensor, ""]:
        weight, bias = network.token_weights(), network.token_biases()
        return projected_cross_entropy(written.states, weight, written.wanted, self.label_smoothing, bias)


@dataclass(frozen=True)
class Consistent:
    """R-Drop (Liang et al. 2021): two passes with different dropout, which should also agree."""

    label_smoothing: float
    consistency: float

    def __call__(
        self, network: TranslationNetwork, batch: PairBatch | PackedBatch, carry: dict[str, Tensor] | None
    ) -> Loss:
        return Loss(self.of(network, forced(network, batch.twice())), batch.tokens)

    def of(self, network: TranslationNetwork, written: Forced) -> Float[Tensor, ""]:
        """Return the loss of both passes, which follow one another."""
        states, targets = written.states.unflatten(0, (2, -1)), written.wanted.chunk(2)[0]
        weight, bias = network.token_weights(), network.token_biases()
        return consistent_cross_entropy(states, weight, targets, self.label_smoothing, self.consistency, bias)


@dataclass(frozen=True)
class Taught:
    """Cross-entropy, and the divergence from the mean of what some teachers would write at each place.

    Word-level distillation (Hinton et al. 2015; Kim and Rush 2016, section 3.1). The teachers have the same tokens and
    learn nothing: they belong to no task, so that they are neither saved nor switched to training.
    """

    label_smoothing: float
    teachers: Sequence[TranslationNetwork]
    weight: float
    temperature: float

    def __call__(
        self, network: TranslationNetwork, batch: PairBatch | PackedBatch, carry: dict[str, Tensor] | None
    ) -> Loss:
        written = forced(network, batch)
        total = taught_cross_entropy(
            written.states,
            network.token_weights(),
            written.wanted,
            self.label_smoothing,
            [self._output(teacher, batch) for teacher in self.teachers],
            self.weight,
            self.temperature,
            network.token_biases(),
        )
        return Loss(total, batch.tokens)

    @torch.no_grad()
    def _output(self, teacher: TranslationNetwork, batch: PairBatch | PackedBatch) -> TeacherOutput:
        return TeacherOutput(forced(teacher, batch).states, teacher.token_weights(), teacher.token_biases())


def taught(objective: Objective, teachers: Sequence[TranslationNetwork], weight: float, temperature: float) -> Taught:
    """Return an objective that also learns from teachers; refuse other objectives than plain cross-entropy."""
    if not isinstance(objective, CrossEntropy):
        raise Fault(
            "training.teachers needs a model that minimises plain cross-entropy: without model.copies, model.ctc, "
            "model.hard = 'reinforce' or training.consistency."
        )
    return Taught(objective.label_smoothing, teachers, weight, temperature)


@dataclass(frozen=True)
class Joint:
    """λ · L_CTC + (1 − λ) · L_attention (Kim et al. 2017, equation 9); with two passes, the mean of their CTC
    losses.
    """

    options: CTCOptions
    attention: CrossEntropy | Consistent

    def __call__(self, network: TranslationNetwork, batch: PairBatch, carry: dict[str, Tensor] | None) -> Loss:
        passes = 2 if isinstance(self.attention, Consistent) else 1
        pairs = batch.twice() if passes == 2 else batch
        memory = network.read(pairs.source, pairs.source_lengths)
        states, _ = network.write(pairs.inputs, memory, network.begin(memory))
        # The target's end token is not a label: CTC ends with its frames.
        lengths, labels = self.options.ctc_frames * pairs.source_lengths, pairs.target_lengths - 1
        ctc = ctc_loss(memory.frames[0], lengths, pairs.target, labels) / passes
        share = self.options.ctc
        total = share * ctc + (1 - share) * self.attention.of(network, _real(states, pairs))
        return Loss(total, batch.tokens, {"ctc": Tally((ctc.detach(), batch.tokens), mean)})


def objective_for(options: Options, label_smoothing: float, consistency: float = 0.0) -> Objective:
    """Return the training objective of a model with these options."""
    joint, explores = isinstance(options, CTCOptions) and options.ctc > 0, getattr(options, "explores", False)
    if joint and (can_copy(options) or explores):
        raise Fault(
            "model.ctc needs a decoder that writes the true tokens from its vocabulary, so it cannot be combined "
            "with model.copies, model.own_tokens or model.hard = 'reinforce'; omit one of them."
        )
    if can_copy(options):
        return CopyingCrossEntropy(label_smoothing, consistency, getattr(options, "coverage", 0.0))
    if explores:
        from regard.tasks.translation.exploring import exploring_for  # other translators do without it

        return exploring_for(options, label_smoothing, consistency)
    attention = Consistent(label_smoothing, consistency) if consistency else CrossEntropy(label_smoothing)
    return Joint(options, attention) if isinstance(options, CTCOptions) and joint else attention
