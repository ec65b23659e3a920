"""Training objectives of taggers, and the greedy choice of tags."""

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor

from regard.models.tagging.tagger import Tagger
from regard.tasks.tagging.batches import NO_TAG, TagBatch

States = Float[Tensor, "batch time width"]
TagNumbers = Int[Tensor, "batch time"]


def surprise(
    network: Tagger, states: States, batch: TagBatch, own_labels: float = 0.0
) -> tuple[Float[Tensor, " batch"], Float[Tensor, " batch"]]:
    """Return −log p of each sentence's true tags by the states of its words, and the number of words it counts.

    With a chain it is −log p(y | x) of the whole sentence; otherwise −Σ_t log p(y_t | x), or −Σ_t log p(y_t | y_{t−1},
    x) if the previous tag is known. A word whose tag the model lacks is not counted; with a chain, neither is its
    sentence.
    """
    tags = batch.tags
    countable = batch.real & (tags != NO_TAG)
    if network.chain is not None:
        is_whole = (countable | ~batch.real).all(dim=1)
        log_probability = network.chain.log_probability(network.scores(states), batch.inputs.lengths, tags.clamp(min=0))
        return -log_probability.masked_fill(~is_whole, 0.0), (countable & is_whole[:, None]).sum(dim=1).to(
            log_probability
        )
    before = None if network.after_label is None else _labels_before(network, states, tags, own_labels)
    log_probabilities = network.scores(states, before).log_softmax(dim=-1)
    of_true = log_probabilities.gather(2, tags.clamp(min=0)[..., None]).squeeze(2)
    return -of_true.masked_fill(~countable, 0.0).sum(dim=1), countable.sum(dim=1).to(of_true)


def _labels_before(network: Tagger, states: States, tags: TagNumbers, own_labels: float) -> TagNumbers:
    """Return the tag before each word: the true one, or for a random share of the words the model's own.

    This is scheduled sampling (Bengio et al. 2015) in two passes (Mihaylova and Martins 2019, section 3): the model's
    own tags are those it gives after the true ones. The share is constant, while the papers let it grow.
    """
    true = shift_right(tags.clamp(min=0), network.begin)
    if not own_labels:
        return true
    with torch.no_grad():
        predicted = shift_right(network.scores(states, true).argmax(dim=-1), network.begin)
    is_own = torch.rand(true.shape, device=true.device) < own_labels
    return torch.where(is_own, predicted, true)


def shift_right(tags: TagNumbers, begin: int) -> TagNumbers:
    """Shift each tag one word later, after the symbol that precedes the first word."""
    return F.pad(tags[:, :-1], (1, 0), value=begin)


@torch.no_grad()
def choose_tags(network: Tagger, states: States, lengths: Int[Tensor, " batch"]) -> TagNumbers:
    """Return the tags of each sentence: the best sequence of a chain, or the best at each word in turn."""
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
    """Return the probability of each tag, and of all tags of a sentence together.

    With a chain the first is the marginal probability; if the previous tag is known, it is conditioned on it.
    """
    if network.chain is not None:
        emissions = network.scores(states)
        every = network.chain.marginals(emissions, lengths)
        together = network.chain.log_probability(emissions, lengths, tags)
        return every.gather(2, tags[..., None]).squeeze(2), together.exp()
    before = None if network.after_label is None else shift_right(tags, network.begin)
    every = network.scores(states, before).log_softmax(dim=-1)
    log_probabilities = every.gather(2, tags[..., None]).squeeze(2)
    return log_probabilities.exp(), log_probabilities.masked_fill(~real, 0.0).sum(dim=1).exp()
