"""Self-critical training (Rennie et al. 2017): sampled captions learn from their CIDEr reward.

    ∇L = −(r(w^s) − r(ŵ)) ∇ log p(w^s)

w^s is a sampled caption, ŵ the greedy one, and r is CIDEr-D against the human captions of the picture. With several
samples, the mean reward of the others can replace r(ŵ) (Luo 2020). Words are weighted by how few training pictures
have them, as in the paper's code. The end of a caption counts as a word; otherwise captions would learn to stop at
"with a" (appendix E).
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any, NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from regard.attention.reinforce import leave_one_out
from regard.data.tokenisers.symbols import BEGIN, PAD
from regard.metrics.cider import CiderAgreement
from regard.models.captions.written import CaptionNetwork
from regard.protocols import Loss, Tally, mean
from regard.tasks.captioning.batches import CaptionBatch, PictureReferences

_END = "endofcaption"  # a word that no caption contains


def critic_of(references: Sequence[Sequence[str]]) -> CiderAgreement:
    """Return the reward function for captions, from all human captions of the training pictures."""
    return CiderAgreement([[_with_end(text) for text in captions] for captions in references])


def self_critical_loss(task: Any, batch: PictureReferences, critic: CiderAgreement) -> Loss:
    """Return the loss of sampled captions, with their rewards and those of greedy captions as tallies."""
    options, is_training = task.training_options, task.training
    repeated = [row for row in range(batch.rows) for _ in range(options.samples)]
    pictures, references = batch.pictures.of_rows(repeated), [batch.references[row] for row in repeated]
    task.eval()
    # A baseline leaves the gradient unbiased only if captions learn from the model that sampled them, so probabilities
    # are those of sampling, with its dropout if there is any.
    with _dropout_of(task) if options.sampling_dropout else nullcontext():
        sampled = sample_captions(task, pictures)
    worth = worth_of(task, sampled.captions, references, critic)
    rewards = torch.tensor(worth, device=sampled.scores.device).view(batch.rows, options.samples, 1)
    tallies = {"drawn": Tally((sum(worth), float(len(worth))), mean)}
    if options.baseline == "greedy":
        expected = worth_of(task, write_greedily(task, batch.pictures), batch.references, critic)
        baseline = torch.tensor(expected, device=rewards.device).view(-1, 1, 1)
        tallies["greedy"] = Tally((sum(expected), float(batch.rows)), mean)
    else:
        baseline = leave_one_out(rewards)
    task.train(is_training)
    total = -((rewards - baseline).view(-1, 1) * sampled.scores * sampled.real).sum()
    return Loss(total, int(sampled.real.sum()), tallies)


class Sampled(NamedTuple):
    """Sampled captions as tokens without their ends, the log-probability of each token, and which tokens are real."""

    captions: list[list[int]]
    scores: Float[Tensor, "row time"]
    real: Bool[Tensor, "row time"]


def sample_captions(task: Any, pictures: CaptionBatch) -> Sampled:
    """Sample a caption for each picture, with gradients where they are enabled."""
    tokens, scores = _write_freely(task, pictures, lambda logits: logits.softmax(dim=-1).multinomial(1))
    ends = tokens == task.end
    real = ends.cumsum(dim=1) - ends.long() == 0  # the end itself was sampled too
    return Sampled(_without_ends(task, tokens), scores, real)


@torch.no_grad()
def write_greedily(task: Any, pictures: CaptionBatch) -> list[list[int]]:
    """Write the greedy caption of each picture; return tokens without their ends."""
    return _without_ends(task, _write_freely(task, pictures, lambda logits: logits.argmax(-1, keepdim=True))[0])


def _write_freely(
    task: Any, pictures: CaptionBatch, choose: Callable[[Tensor], Tensor]
) -> tuple[Int[Tensor, "row time"], Float[Tensor, "row time"]]:
    """Return the tokens chosen one after another until every caption has ended, and their log-probabilities."""
    network: CaptionNetwork = task.model
    memory = network.read(task.annotations(pictures))
    past, tokens = network.begin(memory), torch.full((pictures.rows, 1), task.begin, device=task.device)
    written, scores, ended = list[Tensor](), list[Tensor](), torch.zeros_like(tokens, dtype=torch.bool)
    for _ in range(task.longest_written):
        step = network.write(tokens, memory, past)
        logits = network.logits(step.states[:, 0]).float()
        logits = logits.index_fill(1, torch.tensor([PAD, BEGIN], device=logits.device), float("-inf"))  # not words
        past, tokens = step.past, choose(logits.detach())
        written.append(tokens)
        scores.append(logits.log_softmax(dim=-1).gather(1, tokens))
        ended = ended | (tokens == task.end)
        if ended.all():
            break
    return torch.cat(written, dim=1), torch.cat(scores, dim=1)


def _without_ends(task: Any, tokens: Int[Tensor, "row time"]) -> list[list[int]]:
    rows: list[list[int]] = tokens.tolist()
    return [row[: row.index(task.end)] if task.end in row else row for row in rows]


@contextmanager
def _dropout_of(task: Any) -> Iterator[None]:
    """Apply the network's dropout, and nothing else that differs in training, within this context."""
    layers = [layer for layer in task.modules() if isinstance(layer, nn.Dropout)]
    for layer in layers:
        layer.train()
    try:
        yield
    finally:
        for layer in layers:
            layer.eval()


def worth_of(
    task: Any, captions: Sequence[Sequence[int]], references: Sequence[Sequence[str]], critic: CiderAgreement
) -> list[float]:
    """Return the CIDEr-D of captions, given as tokens; one that fills all the room has no end."""
    written = (
        task.write(tokens) if len(tokens) == task.longest_written else _with_end(task.write(tokens))
        for tokens in captions
    )
    return [
        critic(text, [_with_end(reference) for reference in human])
        for text, human in zip(written, references, strict=True)
    ]


def _with_end(text: str) -> str:
    return f"{text} {_END}"
