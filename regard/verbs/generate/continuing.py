"""Going on with a prompt: from what is asked for, in text, to the searches, which know tokens."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from torch import Tensor

from regard.data.tokenisers.tokeniser import Tokeniser
from regard.decoding.beam import beam_search
from regard.decoding.options import DecodingOptions, change_options
from regard.decoding.output import Hypothesis
from regard.decoding.sampling import sample
from regard.protocols import Stepwise
from regard.tasks.language.batches import Prompts
from regard.verbs.requests.generate import GenerateRequest

ROWS = 256  # texts that are written at the same time


class Continues(Stepwise, Protocol):
    """A task that reads a prompt and writes on, token after token."""

    tokeniser: Tokeniser

    def read(self, inputs: Sequence[str]) -> Prompts: ...
    def limits(self, batch: Prompts, options: DecodingOptions) -> Tensor: ...
    def write(self, tokens: Sequence[int]) -> str: ...


@dataclass(frozen=True)
class Generated:
    """A prompt and what was written after it; `text` is both, tokens and scores are of what was written."""

    prompt: str
    text: str
    score: float
    tokens: list[str]
    token_scores: list[float]

    def as_dict(self) -> dict[str, Any]:
        return {
            "prompt": self.prompt,
            "text": self.text,
            "score": self.score,
            "tokens": self.tokens,
            "token_scores": self.token_scores,
        }


def generate(
    task: Continues, options: DecodingOptions, request: GenerateRequest, number: int = 0
) -> Iterator[list[Generated]]:
    """For each prompt the texts that begin with it, best first or in the order drawn.

    What is not asked for is as `options` say. What is drawn for a prompt depends on its number, of which the first has
    the one that is given, and not on those beside it.
    """
    search = _search(options, request)
    rows = search.sampling.samples if request.draws else search.beam
    for first in range(0, len(request.prompt), max(1, ROWS // rows)):
        prompts = request.prompt[first : first + max(1, ROWS // rows)]
        batch = task.read(prompts)
        # One more than what may be written, for the end.
        limits = task.limits(batch, search).clamp(max=request.tokens + 1)
        if request.draws:
            found = sample(task, batch, limits, search, range(number + first, number + first + len(prompts)))
        else:
            found = beam_search(task, batch, limits, search)
        for prompt, read, limit, hypotheses in zip(prompts, batch.tokens, limits.tolist(), found, strict=True):
            yield [_generation(task, prompt, read, each, limit, request.draws) for each in hypotheses]


def _search(options: DecodingOptions, request: GenerateRequest) -> DecodingOptions:
    given = {name: getattr(request, name) for name in ("beam", "length_penalty", "n_best")} | request.search
    if not request.draws:
        return change_options(options, given, None)
    drawn = request.sample.model_dump(exclude_unset=True) if request.sample else {}
    return change_options(options, given, drawn | ({"samples": request.samples} if request.samples else {}))


def _generation(
    task: Continues, prompt: str, read: Sequence[int], found: Hypothesis, limit: int, drawn: bool
) -> Generated:
    """What was found, as people read it.

    A text that is as long as it may be had no choice but to end there, so that the end has no score of its own.
    """
    ended = len(found.tokens) < limit - 1
    scores = found.token_scores if ended else found.token_scores[: len(found.tokens)]
    # The prompt stays as it was written, unknown words and all, but for spaces at its end that no token stands for.
    before, after = task.write(read), task.write([*read, *found.tokens])
    text = (prompt if before in ("", prompt) else prompt.rstrip()) + after.removeprefix(before)
    score = sum(scores) if drawn else found.score
    return Generated(prompt, text, score, task.tokeniser.pieces(found.tokens), list(scores))
