"""Training objectives of taggers, and the choice of tags where nothing is searched."""

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor

from regard.models.tagging.tagger import Tagger
from regard.tasks.tagging.batches import NO_TAG, TagBatch

States = Float[Tensor, "batch time width"]
TagNumbers = Int[Tensor, "batch time"]


def surprise(
    network: Tagger, batch: TagBatch, own_labels: float = 0.0
) -> tuple[Float[Tensor, " batch"], Float[Tensor, " batch"]]:
    """−log p of the true tags of each sentence, and of how many words that is.

    With a chain it is that of the whole sentence, −log p(y | x); otherwise −Σ_t log p(y_t | x), or, where the tag
    before is known, −Σ_t log p(y_t | y_{t−1}, x). A word whose tag the model does not have cannot be counted, nor,
    with a chain, its sentence.
    """
    states, tags = network.states(batch.inputs), batch.tags
    countable = batch.real & (tags != NO_TAG)
    if network.chain is not None:
        is_whole = (countable | ~batch.real).all(dim=1)
        found = network.chain.log_probability(network.scores(states), batch.inputs.lengths, tags.clamp(min=0))
        return -found.masked_fill(~is_whole, 0.0), (countable & is_whole[:, None]).sum(dim=1).to(found)
    before = None if network.after_label is None else _labels_before(network, states, tags, own_labels)
    log_probabilities = network.scores(states, before).log_softmax(dim=-1)
    of_true = log_probabilities.gather(2, tags.clamp(min=0)[..., None]).squeeze(2)
    return -of_true.masked_fill(~countable, 0.0).sum(dim=1), countable.sum(dim=1).to(of_true)


def _labels_before(network: Tagger, states: States, tags: TagNumbers, own_labels: float) -> TagNumbers:
    """The tag before each word: the true one, or for a share of the words drawn at random the model's own.

    Scheduled sampling (Bengio et al. 2015) in two passes (Mihaylova and Martins 2019, section 3): the model's own tags
    are those that it gives after the true ones. The share is constant, where the papers let it grow.
    """
    true = shift_right(tags.clamp(min=0), network.begin)
    if not own_labels:
        return true
    with torch.no_grad():
        own = shift_right(network.scores(states, true).argmax(dim=-1), network.begin)
    is_own = torch.rand(true.shape, device=true.device) < own_labels
    return torch.where(is_own, own, true)


def shift_right(tags: TagNumbers, begin: int) -> TagNumbers:
    """Each tag one word later, behind what stands for the tag before the first word."""
    return F.pad(tags[:, :-1], (1, 0), value=begin)


@torch.no_grad()
def choose_tags(network: Tagger, states: States, lengths: Int[Tensor, " batch"]) -> TagNumbers:
    """The tags of each sentence: the best sequence of a chain, or at each word the best, one after another."""
    if network.chain is not None:
        return network.chain.best(network.scores(states), lengths)
    if network.after_label is None:
        return network.scores(states).argmax(dim=-1)
    before = torch.full((len(states),), network.begin, device=states.device)
    chosen = []
    for place in range(states.shape[1]):
        before = network.scores(states[:, place], before).argmax(dim=-1)
        chosen.append(before)
    return torch.stack(chosen, dim=1)


@torch.no_grad()
def probabilities_of(
    network: Tagger, states: States, lengths: Int[Tensor, " batch"], real: Bool[Tensor, "batch time"], tags: TagNumbers
) -> tuple[Float[Tensor, "batch time"], Float[Tensor, " batch"]]:
    """Return the probability of each of these tags, and of all tags of a sentence together.

    With a chain the first is the marginal probability, whatever the other tags are; where the tag before is known, it
    is that after it.
    """
    if network.chain is not None:
        emissions = network.scores(states)
        every = network.chain.marginals(emissions, lengths)
        together = network.chain.log_probability(emissions, lengths, tags)
        return every.gather(2, tags[..., None]).squeeze(2), together.exp()
    before = None if network.after_label is None else shift_right(tags, network.begin)
    every = network.scores(states, before).log_softmax(dim=-1)
    own = every.gather(2, tags[..., None]).squeeze(2)
    return own.exp(), own.masked_fill(~real, 0.0).sum(dim=1).exp()
