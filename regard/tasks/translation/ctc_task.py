"""Translation by CTC alone, without a decoder; it still writes token by token, so searches need not know about it.

The probability after a prefix sums over all paths (`regard/models/ctc/prefixes.py`). So a beam of n keeps the n most
probable prefixes, the score of an output is log p(l | x), and perplexities compare with those of all translators.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from regard.attention.masks import real_places
from regard.base.faults import Fault
from regard.data.corpora.prepared import PreparedPairs
from regard.data.tokenisers.tokeniser import Tokeniser
from regard.decoding.options import DecodingOptions
from regard.models.ctc.head import ctc_loss
from regard.models.ctc.text import CTCText
from regard.protocols import Loss
from regard.tasks.translation.aligned_task import AlignedTranslation
from regard.tasks.translation.batches import PairBatch
from regard.tasks.translation.options import TranslationRecipe


@dataclass(frozen=True)
class CTCLoss:
    """−log p(l | x), with label smoothing of the frames and consistency of two passes.

        (1−ε) · −log p(l | x)  −  ε · Σ_t mean over symbols of log y^t        ε: label smoothing
        + α/2 · Σ_t (KL(y‖z) + KL(z‖y))                                       α: consistency, y and z of two passes

    The last term is R-Drop on frames (Yao et al. 2024, consistency regularisation of CTC); two passes halve the sum.
    """

    label_smoothing: float = 0.0
    consistency: float = 0.0

    def __call__(self, network: CTCText, batch: PairBatch, carry: dict[str, Tensor] | None) -> Loss:
        passes = 2 if self.consistency else 1
        pairs = batch.twice() if self.consistency else batch
        frames = network.read(pairs.source, pairs.source_lengths).frames
        lengths = network.options.frames * pairs.source_lengths
        # The target's end token is not a label: CTC ends with its frames.
        total = (1 - self.label_smoothing) * ctc_loss(frames, lengths, pairs.target, pairs.target_lengths - 1)
        real = real_places(lengths.to(frames.device), frames.shape[1])
        if self.label_smoothing:
            total = total - self.label_smoothing * torch.where(real, frames.mean(-1), 0.0).sum()
        if self.consistency:
            # Beyond the real frames both are −∞, whose difference is NaN.
            one, two = frames.masked_fill(~real[..., None], 0.0).chunk(2)
            apart = ((one.exp() - two.exp()) * (one - two)).sum(-1)  # KL(y‖z) + KL(z‖y)
            total = total + self.consistency / 2 * apart.sum()
        return Loss(total / passes, batch.tokens)


class CTCTranslation(AlignedTranslation):
    """A translator without a decoder."""

    model: CTCText

    def __init__(self, model: CTCText, source: Tokeniser, target: Tokeniser, objective: CTCLoss | None = None) -> None:
        super().__init__(model, source, target, objective or CTCLoss())

    @classmethod
    def of_recipe(cls, recipe: TranslationRecipe, source: Tokeniser, target: Tokeniser) -> "CTCTranslation":
        objective = CTCLoss(recipe.training.label_smoothing, recipe.training.consistency)
        return cls(cls.network_of(recipe, source, target), source, target, objective)

    def learn_from(self, prepared: PreparedPairs, recipe: TranslationRecipe) -> None:
        pairs, frames = prepared.train, self.model.options.frames
        # The end token of each source makes frames too.
        self._too_long = int((pairs.target_lengths > frames * (pairs.source_lengths + 1)).sum())
        if self._too_long == len(pairs.target_lengths):
            raise Fault(
                f"Every target has more tokens than its source has frames ({frames} per token), so CTC can learn "
                "none of them; raise model.frames."
            )
        super().learn_from(prepared, recipe)

    def outline(self, recipe: TranslationRecipe) -> list[str]:
        pairs = "pair has a target" if self._too_long == 1 else "pairs have targets"
        more = [f"{self._too_long:,} {pairs} longer than the frames, so CTC cannot learn from them"]
        return super().outline(recipe) + (more if self._too_long else [])

    def limits(self, batch: PairBatch, options: DecodingOptions) -> Tensor:
        """Return the longest length of each output, including its end: a frame gives at most one token."""
        frames = self.model.options.frames * batch.source_lengths.to(self.device)
        return torch.minimum(super().limits(batch, options), frames + 1)
