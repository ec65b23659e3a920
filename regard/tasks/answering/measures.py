"""How answers to questions about stories are measured, and whether hops look at the facts that support them."""

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor

from regard.models.stories.rows import Reading
from regard.protocols import Measure, Tally, mean
from regard.tasks.answering.batches import StoryBatch
from regard.tasks.base import mean_of

MEASURES = ("error", "mean_error", "loss", "agreement")


def nats_of(
    logits: Float[Tensor, "member batch class"], labels: Int[Tensor, " batch"]
) -> Float[Tensor, "member batch"]:
    """How surprising each right answer is; one that the model cannot give adds nothing, and counts for nothing."""
    log_probabilities = logits.log_softmax(-1, dtype=torch.promote_types(logits.dtype, torch.float32))
    index = labels.clamp_min(0).expand(len(logits), -1).unsqueeze(2)
    return -log_probabilities.gather(2, index).squeeze(2) * (labels >= 0)


def nats_of_hops(
    looks: Float[Tensor, "member batch hop slot"], support: Int[Tensor, "batch fact"]
) -> Float[Tensor, "member batch"]:
    """−Σ_k log p_k(f_k): each hop is to look at the supporting fact of its number, where there is one.

    Weston et al. 2015 train hops so, with a margin in the place of the logarithm.
    """
    hops = looks.shape[2]
    wanted = F.pad(support, (0, max(0, hops - support.shape[1])), value=-1)[:, :hops]
    index = wanted.clamp_min(0).expand(len(looks), -1, -1).unsqueeze(3)
    found = looks.gather(3, index).squeeze(3)
    return -(found.clamp_min(torch.finfo(found.dtype).tiny).log() * (wanted >= 0)).sum(-1)


def facts_looked_at(
    looks: Float[Tensor, "member batch hop slot"], support: Int[Tensor, "batch fact"]
) -> tuple[Float[Tensor, "member batch"], Float[Tensor, " batch"]]:
    """How many of the supporting facts of each question some hop looks at most, and how many there are."""
    most = looks.argmax(-1)
    is_seen = (most.unsqueeze(3) == support[:, None]).any(2) & (support >= 0)
    return is_seen.sum(-1).double(), (support >= 0).sum(-1).double()


def measures_of(reading: Reading, batch: StoryBatch, chosen: int) -> dict[str, Measure]:
    """The measures of a batch; error and agreement are those of the chosen restart, the others of all."""
    count, members = float(batch.rows), len(reading.logits)
    nats = nats_of(reading.logits, batch.labels).double().sum(-1).tolist()
    wrong = (100 * (reading.logits.argmax(-1) != batch.labels).double()).sum(-1).tolist()
    seen, supporting = facts_looked_at(reading.looks, batch.support)
    of = f"lowest training error of {members} restarts|" if members > 1 else ""
    mean_of_all = mean_of(members, "restarts")
    found = {"error": Measure(Tally((wrong[chosen], count), mean), "lower", f"{of}percent of the questions")}
    if members > 1:
        tallies = [Tally((each, count), mean) for each in wrong]
        found["mean_error"] = Measure.of_members(tallies, "lower", f"{mean_of_all}percent")
    learnt = float((batch.labels >= 0).sum())
    tallies = [Tally((each, learnt), mean) for each in nats]
    found["loss"] = Measure.of_members(
        tallies, "lower", f"{mean_of_all}nats per question whose answer was learnt|range:0-inf"
    )
    if total := float(supporting.sum()):
        tally = Tally((100 * float(seen[chosen].sum()), total), mean)
        found["agreement"] = Measure(tally, "higher", f"{of}percent of the supporting facts that a hop looks at most")
    return found
