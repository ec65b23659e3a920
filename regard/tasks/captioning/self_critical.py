"""Self-critical training (Rennie et al. 2017): captions that were drawn learn from what they are worth by CIDEr.

    ∇L = −(r(w^s) − r(ŵ)) ∇ log p(w^s)

w^s is a caption that the network draws word after word, ŵ the one it writes by taking the most probable word each time,
and r is CIDEr-D beside what people wrote of the picture. Words are weighed by how few pictures of the training data
have them, where the paper's code does so as well. The end of a caption counts as a word, without which captions would
learn to stop at "with a" (appendix E).
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

_END = "endofcaption"  # a word that no caption has


def critic_of(references: Sequence[Sequence[str]]) -> CiderAgreement:
    """Return the reward of captions, from all captions that people wrote of the training pictures."""
    return CiderAgreement([[_with_end(text) for text in own] for own in references])


def self_critical_loss(task: Any, batch: PictureReferences, critic: CiderAgreement) -> Loss:
    """Return the loss of sampled captions; sampled and greedy rewards are shown next to it."""
    pictures, is_training = batch.pictures, task.training
    # Without dropout throughout: a baseline changes no gradient only where captions learn by what they were drawn by.
    task.eval()
    drawn, greedy = (write_freely(task, pictures, draws) for draws in (True, False))
    worth, expected = (worth_of(task, captions, batch.references, critic) for captions in (drawn, greedy))
    written = pictures.writing(drawn)
    surplus = torch.tensor(worth, device=written.tokens.device) - torch.tensor(expected, device=written.tokens.device)
    learnt = written.real
    learnt[:, task.longest_written :] = False  # behind a caption that fills all the room, no end was drawn
    total = -(surplus[:, None] * task.token_scores(written) * learnt).sum()
    task.train(is_training)
    rows = float(batch.rows)
    tallies = {"drawn": Tally((sum(worth), rows), mean), "greedy": Tally((sum(expected), rows), mean)}
    return Loss(total, int(learnt.sum()), tallies)


@torch.no_grad()
def write_freely(task: Any, pictures: CaptionBatch, draws: bool) -> list[list[int]]:
    """A caption of each picture, every word of it drawn, or the most probable; tokens without their ends."""
    network: CaptionNetwork = task.model
    memory = network.read(task.annotations(pictures))
    past, tokens = network.begin(memory), torch.full((pictures.rows, 1), task.begin, device=task.device)
    written: list[Tensor] = []
    for _ in range(task.longest_written):
        found = network.write(tokens, memory, past)
        logits = network.logits(found.states[:, 0]).float()
        logits[:, [PAD, BEGIN]] = float("-inf")  # which are no words
        past, tokens = found.past, logits.softmax(dim=-1).multinomial(1) if draws else logits.argmax(-1, keepdim=True)
        written.append(tokens)
    rows: list[list[int]] = torch.cat(written, dim=1).tolist()
    return [row[: row.index(task.end)] if task.end in row else row for row in rows]


def worth_of(
    task: Any, captions: Sequence[Sequence[int]], references: Sequence[Sequence[str]], critic: CiderAgreement
) -> list[float]:
    """CIDEr-D of captions, given as tokens; one that fills all the room there is has no end."""
    written = (
        task.write(tokens) if len(tokens) == task.longest_written else _with_end(task.write(tokens))
        for tokens in captions
    )
    return [critic(text, [_with_end(each) for each in own]) for text, own in zip(written, references, strict=True)]


def _with_end(text: str) -> str:
    return f"{text} {_END}"
