"""Translation by a transducer: its loss; it writes token by token, so searches need not know about it."""

from dataclasses import dataclass

import torch
from torch import Tensor

from regard.data.tokenisers.tokeniser import Tokeniser
from regard.models.transducer.lattice import lattice_of, steps_of
from regard.models.transducer.text import TextTransducer
from regard.protocols import Loss
from regard.tasks.translation.aligned_task import AlignedTranslation
from regard.tasks.translation.batches import PairBatch
from regard.tasks.translation.options import TranslationRecipe


@dataclass(frozen=True)
class TransducerLoss:
    """−log p(l | x), with label smoothing and consistency of two passes.

        (1−ε) · −log p(l | x)  −  ε · Σ_{t,u} γ(t, u) · mean over symbols of log y(t, u)      ε: label smoothing
        + α/2 · Σ_{t,u} γ(t, u) · (KL(y‖z) + KL(z‖y))                α: consistency, y and z of two passes

    γ(t, u) is the probability that an alignment of l passes through this cell, without a gradient, so that each
    decision counts as often as it is made. Two passes use the mean of their γ and halve the sum.
    """

    label_smoothing: float = 0.0
    consistency: float = 0.0

    def __call__(self, network: TextTransducer, batch: PairBatch, carry: dict[str, Tensor] | None) -> Loss:
        passes = 2 if self.consistency else 1
        pairs = batch.twice() if self.consistency else batch
        heard = network.read(pairs.source, pairs.source_lengths)
        # The target's end token is not a label: a transducer ends with its frames.
        labels = pairs.target[:, :-1]
        counts = (pairs.target_lengths - 1).to(labels.device, non_blocking=True)
        logs = network.every_cell(heard, labels)
        steps = steps_of(lattice_of(logs, labels, heard.counts, counts))
        total, passed = -(1 - self.label_smoothing) * steps.score.sum(), steps.waits + steps.writes
        if self.label_smoothing:
            total = total - self.label_smoothing * (passed * logs.mean(-1)).sum()
        if self.consistency:
            one, two = logs.chunk(2)
            apart = ((one.exp() - two.exp()) * (one - two)).sum(-1)  # KL(y‖z) + KL(z‖y)
            total = total + self.consistency / 2 * (torch.stack(passed.chunk(2)).mean(0) * apart).sum()
        return Loss((total / passes).to(logs.dtype), batch.tokens)


class TransducerTranslation(AlignedTranslation):
    """A translator that writes along its source."""

    model: TextTransducer

    def __init__(
        self, model: TextTransducer, source: Tokeniser, target: Tokeniser, objective: TransducerLoss | None = None
    ) -> None:
        super().__init__(model, source, target, objective or TransducerLoss())

    @classmethod
    def of_recipe(cls, recipe: TranslationRecipe, source: Tokeniser, target: Tokeniser) -> "TransducerTranslation":
        objective = TransducerLoss(recipe.training.label_smoothing, recipe.training.consistency)
        return cls(cls.network_of(recipe, source, target), source, target, objective)
