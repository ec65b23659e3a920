"""Going on with a prompt: from what is asked for, in text, to the searches, which know tokens."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol, runtime_checkable

import torch
from torch import Tensor

from regard.base.faults import Fault, faults_numbered
from regard.base.notebook import paragraph, tokens_by_probability
from regard.data.tokenisers.tokeniser import Tokeniser
from regard.decoding.beam import beam_search
from regard.decoding.fixed_beam import Reserves, fits, fixed_beam_search
from regard.decoding.fixed_sampling import fixed_sample
from regard.decoding.options import DecodingOptions, change_options
from regard.decoding.output import Demands, Hypothesis
from regard.decoding.sampling import sample
from regard.decoding.step_graphs import CapturedSteps, captures_of
from regard.protocols import State, Stepwise
from regard.tasks.language.batches import Prompts
from regard.tasks.language.gradient import GradientLanguage
from regard.tasks.language.reserving import ReservingLanguage, can_reserve
from regard.verbs.generate.request import GenerateRequest, WhenFull
from regard.verbs.generate.telling import Overheard, Teller, WrittenToken

ROWS = 256  # texts that are written at the same time


class Continues(Stepwise, Protocol):
    """A task that reads a prompt and writes on, token after token."""

    tokeniser: Tokeniser

    def read(self, inputs: Sequence[str]) -> Prompts: ...
    def limits(self, batch: Prompts, options: DecodingOptions) -> Tensor: ...
    def write(self, tokens: Sequence[int]) -> str: ...


@runtime_checkable
class Forgets(Protocol):
    """A task that may forget what it read first."""

    def forgotten(self, tokens: int) -> int: ...


Ending = Literal["end", "tokens", "context", "rules"]


@dataclass(frozen=True)
class Generated:
    """A prompt and what was written after it; `text` is both, tokens and scores are of what was written.

    It `ended` by itself, and then the end has a score too; or it was cut after as many tokens as were asked for, where
    the context was full, or where the rules of the search left nothing to write, and no end is counted. The `score` is
    the sum of the token scores, in a beam divided by the length penalty of as many tokens as there are scores.
    `forgotten` is how many tokens, of the prompt first, a model whose context was full did not see any more in the end.
    """

    prompt: str
    text: str
    score: float
    tokens: list[str]
    token_scores: list[float]
    ended: Ending = "end"
    forgotten: int = 0

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
            "ended": self.ended,
            "forgotten": self.forgotten,
        }

    @property
    def remark(self) -> str | None:
        """Say what the end of the context or the rules of the search did to it; None where they did nothing."""
        if self.ended == "context":
            return (
                f"The context was full after {len(self.tokens):,} tokens, and the text stops there; with --when-full "
                "forget it goes on, and the older half is forgotten."
            )
        if self.ended == "rules":
            return f"After {len(self.tokens):,} tokens the rules of the search left nothing to write; the text stops."
        if self.forgotten:
            return f"The context was full: the first {self.forgotten:,} tokens of the text were forgotten on the way."
        return None


def generate(
    task: Continues, options: DecodingOptions, request: GenerateRequest, number: int = 0
) -> Iterator[list[Generated]]:
    """For each prompt the texts that begin with it, best first or in the order drawn.

    What is not asked for is as `options` say. What is drawn for a prompt depends on its number, of which the first has
    the one that is given, and not on those beside it.
    """
    search = _search(options, request)
    rows = _rows(search, request)
    at_once = max(1, ROWS // rows)
    for first in range(0, len(request.prompt), at_once):
        portion = request.model_copy(update={"prompt": request.prompt[first : first + at_once]})
        with faults_numbered(range(first, first + at_once)):
            found = _generate_together(task, search, portion, number + first)
        yield from found


def _generate_together(
    task: Continues, search: DecodingOptions, request: GenerateRequest, number: int
) -> list[list[Generated]]:
    """The texts for all prompts of a request, which are written at the same time."""
    batch = read_prompts(task, request.prompt, request.when_full)
    limits = _limits(task, batch, search, request)
    numbers = range(number, number + batch.rows)
    captures = _captures_for(task, batch, limits, search)
    if captures is None:
        found = _find(_writer(task, task, request), batch, limits, search, request, numbers)
    else:
        writer = _writer(task, ReservingLanguage(task), request)
        drawn = numbers if request.draws else None
        found = _find_captured(writer, batch, limits, search, drawn, captures)
    return [
        [_generation(task, prompt, read, each, limit, request) for each in hypotheses]
        for prompt, read, limit, hypotheses in zip(request.prompt, batch.tokens, limits.tolist(), found, strict=True)
    ]


def generate_aloud(
    task: Continues, options: DecodingOptions, request: GenerateRequest, tell: Callable[[WrittenToken], None]
) -> list[Generated]:
    """The texts for the only prompt of a request, of which `tell` hears token by token while the first is written.

    Where several rows are written at a time, which of them is the first is known only in the end; it is told then.
    """
    (prompt,) = request.prompt
    search = _search(options, request)
    batch = read_prompts(task, [prompt], request.when_full)
    (read,) = batch.tokens
    limits = _limits(task, batch, search, request)
    writer, teller = _writer(task, task, request), Teller(task, read, tell)
    if _rows(search, request) == 1:
        writer = Overheard(writer, teller.hear)
    (found,) = _find(writer, batch, limits, search, request, range(1))
    teller.finish(found[0].tokens, found[0].token_scores)
    return [_generation(task, prompt, read, each, int(limits), request) for each in found]


def read_prompts(task: Continues, prompts: Sequence[str], when_full: WhenFull | None) -> Prompts:
    """The prompts, and what happens when the context is full, where a model has one."""
    batch, network = task.read(prompts), getattr(task, "model", None)
    if getattr(network, "context", None) is None:
        if when_full is not None:
            raise Fault("when_full is for models with a limited context; this one has none.")
        return batch
    assert network is not None
    stops = network.stops_when_full if when_full is None else when_full == "stop"
    return replace(batch, forgets=not stops)


def _limits(task: Continues, batch: Prompts, search: DecodingOptions, request: GenerateRequest) -> Tensor:
    """Return the number of tokens that may be written after each prompt, the end counted.

    The task keeps a place of its context for the end of a whole text, and a continuation may be cut before one.
    """
    return (task.limits(batch, search) - 1).clamp(max=request.tokens)


def _rows(search: DecodingOptions, request: GenerateRequest) -> int:
    """Return how many texts are written at a time for a prompt."""
    return search.sampling.samples if request.draws else search.beam


def _writer(task: Continues, writer: Any, request: GenerateRequest) -> Any:
    """The task, or what stands for it, as the search drives it."""
    return PastEnds(writer, task.tokeniser.size) if request.past_end else writer


def _find(
    writer: Stepwise,
    batch: Prompts,
    limits: Tensor,
    search: DecodingOptions,
    request: GenerateRequest,
    numbers: Sequence[int],
) -> list[list[Hypothesis]]:
    """Search for each prompt; samples depend on the prompts' numbers."""
    if request.draws:
        return sample(writer, batch, limits, search, numbers, must_end=False)
    return beam_search(writer, batch, limits, search, must_end=False)


def _search(options: DecodingOptions, request: GenerateRequest) -> DecodingOptions:
    given = {name: getattr(request, name) for name in ("beam", "length_penalty", "n_best")} | request.search
    if not request.draws:
        return change_options(options, given, None)
    drawn = request.sample.model_dump(exclude_unset=True) if request.sample else {}
    return change_options(options, given, drawn | ({"samples": request.samples} if request.samples else {}))


def _generation(
    task: Continues, prompt: str, read: Sequence[int], found: Hypothesis, limit: int, request: GenerateRequest
) -> Generated:
    """Say what was found."""
    before = task.write(read)
    text = stem_of(prompt, before) + task.write([*read, *found.tokens]).removeprefix(before)
    forgotten = task.forgotten(len(read) + len(found.tokens)) if isinstance(task, Forgets) else 0
    tokens = task.tokeniser.pieces(found.tokens)
    ended = _ending(found, limit, request)
    return Generated(prompt, text, found.score, tokens, found.token_scores, ended, forgotten)


def _ending(found: Hypothesis, limit: int, request: GenerateRequest) -> Ending:
    if found.has_ended:
        return "end"
    if len(found.tokens) < limit:
        return "rules"
    return "tokens" if limit == request.tokens else "context"


def stem_of(prompt: str, written: str) -> str:
    """A prompt, of which this is written by its tokens, as what follows is joined to it.

    It stays as it was given, unknown words and all, but for spaces at its end that no token stands for.
    """
    return prompt if written in ("", prompt) else prompt.rstrip(" ")


class PastEnds:
    """A task that goes on past the ends of lines, until it is cut where as much is written as may be.

    Searches end an output by an end token. This gives them another one, behind the vocabulary, which is never written.
    """

    def __init__(self, task: Any, vocabulary: int) -> None:
        self._task = task
        self.begin, self.end = task.begin, vocabulary

    def start(self, batch: Any) -> State:
        state: State = self._task.start(batch)
        return state

    def reserve(self, state: State, copies: int, length: int) -> State:
        """Reserve room, of a task that can."""
        reserved: State = self._task.reserve(state, copies, length)
        return reserved

    def extend(self, state: State, length: int) -> State:
        """Give the state more room."""
        extended: State = self._task.extend(state, length)
        return extended

    def step(self, tokens: Tensor, state: State) -> tuple[Tensor, State]:
        # Searches of a fixed shape go on with rows that have ended, and the task does not know this end.
        tokens = torch.where(tokens == self.end, self._task.end, tokens)
        scores, state = self._task.step(tokens, state)
        return torch.cat([scores, torch.full_like(scores[:, :1], float("-inf"))], dim=1), state


def _captures_for(task: Any, batch: Prompts, limits: Tensor, search: DecodingOptions) -> CapturedSteps | None:
    """Captured steps to search with; none off a GPU, for a search with rules, or where the context would overflow."""
    if not isinstance(task, GradientLanguage) or task.device.type != "cuda":
        return None
    if not can_reserve(task) or not fits(search, Demands()):
        return None
    context = task.model.context or 0
    most = max(len(tokens) + limit for tokens, limit in zip(batch.tokens, limits.tolist(), strict=True))
    return captures_of(task) if most <= context else None


def _find_captured(
    writer: Reserves,
    batch: Prompts,
    limits: Tensor,
    search: DecodingOptions,
    numbers: Sequence[int] | None,
    captures: CapturedSteps,
) -> list[list[Hypothesis]]:
    """Search for each prompt with captured steps; with `numbers` it samples, and depends on them."""
    if numbers is not None:
        return fixed_sample(writer, batch, limits, search, numbers, captures, must_end=False)
    return fixed_beam_search(writer, batch, limits, search, captures, must_end=False)
