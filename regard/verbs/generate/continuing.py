"""Going on with a prompt: from what is asked for, in text, to the searches, which know tokens."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from torch import Tensor

from regard.base.notebook import paragraph, tokens_by_probability
from regard.data.tokenisers.tokeniser import Tokeniser
from regard.decoding.beam import beam_search
from regard.decoding.options import DecodingOptions, change_options
from regard.decoding.output import Hypothesis
from regard.decoding.sampling import sample
from regard.protocols import Stepwise
from regard.tasks.language.batches import Prompts
from regard.verbs.generate.lines import PastEnds
from regard.verbs.generate.telling import Overheard, Teller, WrittenToken
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

    def __repr__(self) -> str:
        return f"Generated({self.text!r}, score {self.score:.3f})"

    def _repr_html_(self) -> str:
        return paragraph(self.text) + tokens_by_probability(self.tokens, self.token_scores)

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
    rows = _rows(search, request)
    for first in range(0, len(request.prompt), max(1, ROWS // rows)):
        prompts = request.prompt[first : first + max(1, ROWS // rows)]
        batch = task.read(prompts)
        limits = _limits(task, batch, search, request)
        writer = _writer(task, request, limits)
        found = _find(writer, batch, limits, search, request, range(number + first, number + first + len(prompts)))
        for prompt, read, limit, hypotheses in zip(prompts, batch.tokens, limits.tolist(), found, strict=True):
            yield [_generation(task, prompt, read, each, limit, request.draws) for each in hypotheses]


def generate_aloud(
    task: Continues, options: DecodingOptions, request: GenerateRequest, tell: Callable[[WrittenToken], None]
) -> list[Generated]:
    """The texts for the only prompt of a request, of which `tell` hears token by token while the first is written.

    Where several rows are written at a time, which of them is the first is known only in the end; it is told then.
    """
    (prompt,) = request.prompt
    search = _search(options, request)
    batch = task.read([prompt])
    (read,) = batch.tokens
    limits = _limits(task, batch, search, request)
    writer, teller = _writer(task, request, limits), Teller(task, read, tell)
    if _rows(search, request) == 1:
        writer = Overheard(writer, teller.hear)
    (found,) = _find(writer, batch, limits, search, request, range(1))
    teller.finish(found[0].tokens, found[0].token_scores)
    return [_generation(task, prompt, read, each, int(limits), request.draws) for each in found]


def _limits(task: Continues, batch: Prompts, search: DecodingOptions, request: GenerateRequest) -> Tensor:
    """How long each text may be: one more than what may be written, for the end."""
    return task.limits(batch, search).clamp(max=request.tokens + 1)


def _rows(search: DecodingOptions, request: GenerateRequest) -> int:
    """How many texts are written at a time for a prompt."""
    return search.sampling.samples if request.draws else search.beam


def _writer(task: Continues, request: GenerateRequest, limits: Tensor) -> Stepwise:
    return PastEnds(task, task.tokeniser.size, limits) if request.past_end else task


def _find(
    writer: Stepwise,
    batch: Prompts,
    limits: Tensor,
    search: DecodingOptions,
    request: GenerateRequest,
    numbers: Sequence[int],
) -> list[list[Hypothesis]]:
    """What the search finds for each prompt; what is drawn depends on their numbers."""
    if request.draws:
        return sample(writer, batch, limits, search, numbers)
    return beam_search(writer, batch, limits, search)


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
    before = task.write(read)
    text = stem_of(prompt, before) + task.write([*read, *found.tokens]).removeprefix(before)
    score = sum(scores) if drawn else found.score
    return Generated(prompt, text, score, task.tokeniser.pieces(found.tokens), list(scores))


def stem_of(prompt: str, written: str) -> str:
    """A prompt, of which this is written by its tokens, as what follows is joined to it.

    It stays as it was given, unknown words and all, but for spaces at its end that no token stands for.
    """
    return prompt if written in ("", prompt) else prompt.rstrip(" ")
