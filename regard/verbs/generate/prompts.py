"""A language model's reading of a prompt: the probability of each token, and what may come next."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor

from regard.decoding.filters import distribution
from regard.decoding.following import log_probabilities_after
from regard.decoding.options import DecodingOptions, DrawOptions, SamplingOptions
from regard.tasks.language.language_task import ENDLESS
from regard.verbs.generate.continuing import Continues, read_prompts
from regard.verbs.generate.generated import Forgets, stem_of
from regard.verbs.generate.request import PromptRequest
from regard.verbs.generate.telling import BROKEN, Teller, WrittenToken, last_line

_MOST_TOLD = 1000  # tokens of a prompt


class ReadsPrompts(Continues, Protocol):
    """A task that continues a prompt and knows the probability of the prompt itself."""

    @property
    def device(self) -> torch.device: ...
    def prompt_scores(self, tokens: Sequence[int]) -> np.ndarray: ...


@dataclass(frozen=True)
class NextToken:
    """A token that may come next: what it adds to the text, its probability, and its probability when sampling.

    A token that is only part of a letter adds nothing.
    """

    token: str
    text: str
    probability: float
    drawn: float | None
    end: bool


@dataclass(frozen=True)
class ReadPrompt:
    """The last thousand tokens of a prompt, and those that may follow, most likely first.

    `stem` is the prompt to which a continuation is joined; `others` counts the tokens not listed here, and
    `others_share` is their total probability. `perplexity` is that of the next token. `room` is how many tokens may be
    written before the context is full and the text ends; None if it never ends that way. `forgotten` is how many of the
    prompt's first tokens the model no longer sees.
    """

    stem: str
    tokens: list[WrittenToken]
    next: list[NextToken]
    others: int
    others_share: float
    perplexity: float
    room: int | None
    forgotten: int


def read_prompt(task: ReadsPrompts, request: PromptRequest) -> ReadPrompt:
    """Read a prompt with the model."""
    batch = read_prompts(task, [request.prompt], request.when_full)
    (read,) = batch.tokens
    room = int(task.limits(batch, DecodingOptions())) - 1  # without the end; refuses prompts longer than the context
    log_probabilities, order = log_probabilities_after(task, batch, (), task.device).sort(descending=True, stable=True)
    shares, drawn = log_probabilities.exp(), _drawn(log_probabilities, request.sample)
    possible = int(log_probabilities.isfinite().sum())
    numbers = order[: min(request.shown, possible)].tolist()
    entropy = -(shares[:possible] * log_probabilities[:possible]).sum()
    return ReadPrompt(
        stem_of(request.prompt, task.write(read)),
        _read_tokens(task, read),
        [
            NextToken(name, _added(task, read, number), float(shares[rank]), drawn[rank], number == task.end)
            for rank, (number, name) in enumerate(zip(numbers, task.tokeniser.pieces(numbers), strict=True))
        ],
        possible - len(numbers),
        float(shares[len(numbers) :].sum()),
        float(entropy.exp()),
        room if room < ENDLESS - 1 else None,
        task.forgotten(len(read)) if isinstance(task, Forgets) else 0,
    )


def _drawn(log_probabilities: Tensor, options: DrawOptions | None) -> list[float] | list[None]:
    """Return the probabilities that these options sample from; None for each if there are no options."""
    if options is None:
        return [None] * len(log_probabilities)
    return distribution(log_probabilities[None], SamplingOptions(**options.model_dump()))[0].exp().tolist()


def _read_tokens(task: ReadsPrompts, read: Sequence[int]) -> list[WrittenToken]:
    """Return the last tokens of a prompt as if they had been written one by one."""
    tokens: list[WrittenToken] = []
    first = max(0, len(read) - _MOST_TOLD)
    Teller(task, read[:first], tokens.append).finish(read[first:], task.prompt_scores(read)[first:].tolist())
    return tokens


def _added(task: Any, read: Sequence[int], number: int) -> str:
    line = last_line(read, task.end)
    added = task.write([*line, number]).removeprefix(task.write(line))
    return "" if BROKEN in added else added
