"""What a language model makes of a prompt: how probable each of its tokens is, and what may come next."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor

from regard.tasks.language.batches import Prompts
from regard.verbs.generate.continuing import Continues, stem_of
from regard.verbs.generate.telling import Teller, WrittenToken
from regard.verbs.requests.generate import PromptRequest


class ReadsPrompts(Continues, Protocol):
    """A task that goes on with a prompt, and knows how probable the prompt itself is."""

    @property
    def device(self) -> torch.device: ...
    def prompt_scores(self, tokens: Sequence[int]) -> np.ndarray: ...


@dataclass(frozen=True)
class NextToken:
    """A token that may come next, what it adds to the text, and its probability.

    What ends the text, and what is only a part of a letter, adds nothing that could be written.
    """

    token: str
    text: str
    probability: float
    is_end: bool


@dataclass(frozen=True)
class ReadPrompt:
    """The tokens of a prompt and those that may follow it, the likeliest first.

    `stem` is the prompt as it is gone on with; `others` are the tokens that have no name here, and `others_share` is
    the probability of them all. `perplexity` is of the next token: among how many alike it would be as hard to guess.
    """

    stem: str
    tokens: list[WrittenToken]
    next: list[NextToken]
    others: int
    others_share: float
    perplexity: float


@torch.no_grad()
def next_log_probabilities(task: ReadsPrompts, batch: Prompts) -> Tensor:
    """The log-probabilities (token) of what may follow the only prompt of a batch; float64, on the CPU."""
    log_probabilities, _ = task.step(torch.tensor([task.begin], device=task.device), task.start(batch))
    return log_probabilities[0].double().cpu()


def read_prompt(task: ReadsPrompts, request: PromptRequest) -> ReadPrompt:
    """What the model makes of a prompt."""
    batch = task.read([request.prompt])
    (read,) = batch.tokens
    before = task.write(read)
    own, order = next_log_probabilities(task, batch).sort(descending=True, stable=True)
    shares = own.exp()
    numbers = order[: request.shown].tolist()
    possible = int(own.isfinite().sum())
    entropy = -(shares * own.clamp(min=-1e9)).sum()
    return ReadPrompt(
        stem_of(request.prompt, before),
        _read_tokens(task, read),
        [
            NextToken(name, _added(task, read, before, number), share, number == task.end)
            for number, name, share in zip(numbers, task.tokeniser.pieces(numbers), shares.tolist(), strict=False)
            if share
        ],
        max(0, possible - len(numbers)),
        float(shares[len(numbers) :].sum()),
        float(entropy.exp()),
    )


def _read_tokens(task: ReadsPrompts, read: Sequence[int]) -> list[WrittenToken]:
    """The tokens of a prompt as if they had been written one by one."""
    found: list[WrittenToken] = []
    Teller(task, [], found.append).finish(read, task.prompt_scores(read).tolist())
    return found


def _added(task: Any, read: Sequence[int], before: str, number: int) -> str:
    added = task.write([*read, number]).removeprefix(before)
    return "" if "\N{REPLACEMENT CHARACTER}" in added else added
