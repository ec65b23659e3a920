"""Self-critical training (Rennie et al. 2017): sampled captions learn from their CIDEr reward.

    ∇L = −(r(w^s) − r(ŵ)) ∇ log p(w^s)

w^s is a sampled caption, ŵ the greedy one, and r is CIDEr-D against the human captions of the picture. Words are
weighted by how few training pictures have them, as in the paper's code. The end of a caption counts as a word;
otherwise captions would learn to stop at "with a" (appendix E).
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

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
    """Return the loss of sampled captions, with the sampled and greedy rewards as tallies."""
    pictures, is_training = batch.pictures, task.training
    # No dropout anywhere: a baseline leaves the gradient unbiased only if captions learn from the model that sampled
    # them.
    task.eval()
    sampled, greedy = (write_freely(task, pictures, draws) for draws in (True, False))
    worth, expected = (worth_of(task, captions, batch.references, critic) for captions in (sampled, greedy))
    written = pictures.writing(sampled)
    surplus = torch.tensor(worth, device=written.tokens.device) - torch.tensor(expected, device=written.tokens.device)
    learnt = written.real
    learnt[:, task.longest_written :] = False  # a caption that fills all the room has no sampled end
    total = -(surplus[:, None] * task.token_scores(written) * learnt).sum()
    task.train(is_training)
    rows = float(batch.rows)
    tallies = {"drawn": Tally((sum(worth), rows), mean), "greedy": Tally((sum(expected), rows), mean)}
    return Loss(total, int(learnt.sum()), tallies)


@torch.no_grad()
def write_freely(task: Any, pictures: CaptionBatch, draws: bool) -> list[list[int]]:
    """Write a caption for each picture, sampled or greedy; return tokens without their ends."""
    network: CaptionNetwork = task.model
    memory = network.read(task.annotations(pictures))
    past, tokens = network.begin(memory), torch.full((pictures.rows, 1), task.begin, device=task.device)
    written: list[Tensor] = []
    for _ in range(task.longest_written):
        step = network.write(tokens, memory, past)
        logits = network.logits(step.states[:, 0]).float()
        logits[:, [PAD, BEGIN]] = float("-inf")  # not words
        past, tokens = step.past, logits.softmax(dim=-1).multinomial(1) if draws else logits.argmax(-1, keepdim=True)
        written.append(tokens)
    rows: list[list[int]] = torch.cat(written, dim=1).tolist()
    return [row[: row.index(task.end)] if task.end in row else row for row in rows]


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
