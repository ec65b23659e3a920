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
    """Return −Σ log p(y_t), smoothed, plus λ Σ_i (1 − Σ_t α_ti)² for every caption if the network asks for it."""
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
    """Return Σ_i (1 − Σ_t α_ti)², summed over captions; least if every place is attended to once (equation 14)."""
    looked = (weights * real[..., None]).sum(dim=1)
    return (1 - looked).square().sum()


@dataclass(frozen=True)
class DrawnLooks:
    """Cross-entropy over several paths of each caption, with REINFORCE for the places they sampled (section 4.1).

    It carries the moving average of the rewards from batch to batch. A share of the captions learns with the expected
    context. The reward is plain log p(y_t), without label smoothing.
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
        likelihood = likelihoods(logits, batch.tokens, batch.real[:, None], self.label_smoothing)
        samples, chosen = self.options.samples, batch.real[:, None] & (manners[:, :1, None] != Manner.MIXED)
        log_probability, entropy = (
            values.view(likelihood.own.shape) for values in (written.log_probability, written.entropy)
        )
        average = carry["baseline"] if carry else None
        learnt = learn_choices(self.options, likelihood.own, log_probability, entropy, chosen, average)
        total = -likelihood.smoothed[:, :samples].sum() / samples
        # Only the gradient of the choices' term matters; its value would say nothing.
        return Loss(
            total + learnt.loss - learnt.loss.detach(),
            batch.count,
            choice_tallies(learnt.surplus, entropy[:, :samples], chosen),
            {"baseline": learnt.average},
        )

    def _manners(self, batch: CaptionBatch) -> Int[Tensor, "row path"]:
        """Return how each path attends: to the mixture for some captions, by sampling for others, one path greedily."""
        manners = manners_of_paths(self.options, batch.rows, batch.tokens.device)
        mixed = torch.rand(batch.rows, 1, device=manners.device) < self.options.expected
        return manners.masked_fill(mixed, Manner.MIXED)
