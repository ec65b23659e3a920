"""Training objectives of captioners: cross-entropy, evenly spread attention, and REINFORCE for sampled looks."""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor

from regard.attention.hard import Manner
from regard.data.tokenisers.symbols import PAD
from regard.models.captions.captioner import Captioner, CaptionerOptions
from regard.models.captions.written import Annotations, CaptionNetwork
from regard.models.reinforcement import learn_choices, likelihoods, manners_of_paths
from regard.protocols import Loss, Tally, map_tree, mean
from regard.tasks.captioning.batches import CaptionBatch
from regard.tasks.drawn_paths import choice_tallies


def cross_entropy(
    network: CaptionNetwork, annotations: Annotations, batch: CaptionBatch, label_smoothing: float
) -> Loss:
    """−Σ log p(y_t), some of it smoothed; and, where it is asked for, λ Σ_i (1 − Σ_t α_ti)² of every caption."""
    memory = network.read(annotations)
    written = network.write(batch.inputs, memory, network.begin(memory))
    logits = network.logits(written.states).flatten(0, 1).float()
    total = F.cross_entropy(
        logits, batch.tokens.flatten(), ignore_index=PAD, reduction="sum", label_smoothing=label_smoothing
    )
    if not network.evenness:
        return Loss(total, batch.count)
    uneven = unevenness(written.weights, batch.real)
    tallies = {"uneven": Tally((uneven.detach(), float(batch.rows)), mean)}
    return Loss(total + network.evenness * uneven, batch.count, tallies)


def unevenness(weights: Float[Tensor, "row time place"], real: Bool[Tensor, "row time"]) -> Float[Tensor, ""]:
    """Σ_i (1 − Σ_t α_ti)², summed over captions: least where every place is looked at once (equation 14)."""
    looked = (weights * real[..., None]).sum(dim=1)
    return (1 - looked).square().sum()


@dataclass(frozen=True)
class DrawnLooks:
    """Cross-entropy over some paths of each caption, and REINFORCE for the places that they drew (section 4.1).

    What it carries from batch to batch is the moving average of the rewards. A share of the captions is learnt with the
    expected context. The reward is log p(y_t) as it is, without label smoothing.
    """

    options: CaptionerOptions
    label_smoothing: float

    def __call__(
        self, network: Captioner, annotations: Annotations, batch: CaptionBatch, carry: dict[str, Tensor] | None
    ) -> Loss:
        paths, manners = self.options.paths, self._manners(batch)
        memory = network.read(annotations)
        past = map_tree(lambda leaf: leaf.repeat_interleave(paths, dim=0), network.begin(memory))
        inputs = batch.inputs.repeat_interleave(paths, dim=0)
        written = network.write(inputs, memory, past._replace(manner=manners.view(-1, 1)))
        logits = network.logits(written.states).unflatten(0, (batch.rows, paths))
        found = likelihoods(logits, batch.tokens, batch.real[:, None], self.label_smoothing)
        drawn, chosen = self.options.samples, batch.real[:, None] & (manners[:, :1, None] != Manner.MIXED)
        log_probability, entropy = (each.view(found.own.shape) for each in (written.log_probability, written.entropy))
        average = carry["baseline"] if carry else None
        learnt = learn_choices(self.options, found.own, log_probability, entropy, chosen, average)
        total = -found.smoothed[:, :drawn].sum() / drawn
        # The gradient of what the choices add counts; its value would say nothing.
        return Loss(
            total + learnt.loss - learnt.loss.detach(),
            batch.count,
            choice_tallies(learnt.surplus, entropy[:, :drawn], chosen),
            {"baseline": learnt.average},
        )

    def _manners(self, batch: CaptionBatch) -> Int[Tensor, "row path"]:
        """Return how each path looks: some captions at mixes, others at samples, but one path takes the best."""
        manners = manners_of_paths(self.options, batch.rows, batch.tokens.device)
        mixed = torch.rand(batch.rows, 1, device=manners.device) < self.options.expected
        return manners.masked_fill(mixed, Manner.MIXED)
