"""Continue prompts: from a request in text to the searches over tokens."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Protocol

import torch
from torch import Tensor

from regard.base.faults import Fault, faults_numbered
from regard.data.tokenisers.tokeniser import Tokeniser
from regard.decoding.beam import beam_search
from regard.decoding.fixed_beam import Reserves, fits, fixed_beam_search
from regard.decoding.fixed_sampling import fixed_sample
from regard.decoding.options import DecodingOptions
from regard.decoding.output import Demands, Hypothesis
from regard.decoding.sampling import sample
from regard.decoding.step_graphs import CapturedSteps, captures_of
from regard.protocols import State, Stepwise
from regard.tasks.language.batches import Prompts
from regard.tasks.language.gradient import GradientLanguage
from regard.tasks.language.reserving import ReservingLanguage, can_reserve
from regard.verbs.generate.drafting import Drafting
from regard.verbs.generate.generated import Generated, generation_of, search_of
from regard.verbs.generate.request import GenerateRequest, WhenFull
from regard.verbs.generate.telling import Overheard, Teller, WrittenToken

ROWS = 256  # texts written at the same time


class Continues(Stepwise, Protocol):
    """A task that reads a prompt and continues it token by token."""

    tokeniser: Tokeniser

    def read(self, inputs: Sequence[str]) -> Prompts: ...
    def limits(self, batch: Prompts, options: DecodingOptions) -> Tensor: ...
    def write(self, tokens: Sequence[int]) -> str: ...


def generate(
    task: Continues,
    options: DecodingOptions,
    request: GenerateRequest,
    number: int = 0,
    drafting: Drafting | None = None,
) -> Iterator[list[Generated]]:
    """Yield the texts for each prompt, best first or in the order drawn.

    `options` are the defaults for what the request leaves out. Samples depend on the number of the prompt, counted from
    `number`, and not on the other prompts.
    """
    search = search_of(options, request)
    rows = _rows(search, request)
    at_once = max(1, ROWS // rows)
    for first in range(0, len(request.prompt), at_once):
        portion = request.model_copy(update={"prompt": request.prompt[first : first + at_once]})
        with faults_numbered(range(first, first + at_once)):
            texts = _generate_together(task, search, portion, number + first, drafting)
        yield from texts


def _generate_together(
    task: Continues, search: DecodingOptions, request: GenerateRequest, number: int, drafting: Drafting | None
) -> list[list[Generated]]:
    """Return the texts for all prompts of a request, written at the same time."""
    batch = read_prompts(task, request.prompt, request.when_full)
    limits = _limits(task, batch, search, request)
    numbers = range(number, number + batch.rows)
    captures = _captures_for(task, batch, limits, search) if drafting is None else None
    if drafting is not None:
        writer = _writer(task, drafting.writer, request)
        results = drafting.search(writer, batch, limits, search, numbers if request.draws else None)
    elif captures is None:
        results = _find(_writer(task, task, request), batch, limits, search, request, numbers)
    else:
        writer = _writer(task, ReservingLanguage(task), request)
        sample_numbers = numbers if request.draws else None
        results = _find_captured(writer, batch, limits, search, sample_numbers, captures)
    return [
        [generation_of(task, prompt, read, hypothesis, limit, request) for hypothesis in hypotheses]
        for prompt, read, limit, hypotheses in zip(request.prompt, batch.tokens, limits.tolist(), results, strict=True)
    ]


def generate_aloud(
    task: Continues,
    options: DecodingOptions,
    request: GenerateRequest,
    tell: Callable[[WrittenToken], None],
    drafting: Drafting | None = None,
) -> list[Generated]:
    """Return the texts for the only prompt of a request, and call `tell` for each token of the first as it is written.

    If several rows are written at once, the first is known only at the end, and its tokens are reported then.
    """
    (prompt,) = request.prompt
    search = search_of(options, request)
    batch = read_prompts(task, [prompt], request.when_full)
    (read,) = batch.tokens
    limits = _limits(task, batch, search, request)
    writer, teller = _writer(task, drafting.writer if drafting else task, request), Teller(task, read, tell)
    is_heard = _rows(search, request) == 1
    if drafting is not None:
        numbers = range(1) if request.draws else None
        (hypotheses,) = drafting.search(writer, batch, limits, search, numbers, teller.hear if is_heard else None)
    else:
        writer = Overheard(writer, teller.hear) if is_heard else writer
        (hypotheses,) = _find(writer, batch, limits, search, request, range(1))
    teller.finish(hypotheses[0].tokens, hypotheses[0].token_scores)
    return [generation_of(task, prompt, read, hypothesis, int(limits), request) for hypothesis in hypotheses]


def read_prompts(task: Continues, prompts: Sequence[str], when_full: WhenFull | None) -> Prompts:
    """Read the prompts, and set what happens when the model's context is full."""
    batch, network = task.read(prompts), getattr(task, "model", None)
    if getattr(network, "context", None) is None:
        if when_full is not None:
            raise Fault("when_full is for models with a limited context; this one has none.")
        return batch
    assert network is not None
    stops = network.stops_when_full if when_full is None else when_full == "stop"
    return replace(batch, forgets=not stops)


def _limits(task: Continues, batch: Prompts, search: DecodingOptions, request: GenerateRequest) -> Tensor:
    """Return the number of tokens that may be written after each prompt, including the end.

    The task reserves a place of its context for the end of a text; a continuation may be cut without one.
    """
    return (task.limits(batch, search) - 1).clamp(max=request.tokens)


def _rows(search: DecodingOptions, request: GenerateRequest) -> int:
    """Return the number of texts written at the same time for a prompt."""
    return search.sampling.samples if request.draws else search.beam


def _writer(task: Continues, writer: Any, request: GenerateRequest) -> Any:
    """Return the task that the search drives, wrapped to pass ends if the request says so."""
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


class PastEnds:
    """A task that continues past the ends of lines until the limit of tokens.

    Searches end an output at an end token. This gives them another one, after the vocabulary, that is never written.
    """

    def __init__(self, task: Any, vocabulary: int) -> None:
        self._task = task
        self.begin, self.end = task.begin, vocabulary

    def start(self, batch: Any) -> State:
        state: State = self._task.start(batch)
        return state

    def reserve(self, state: State, copies: int, length: int) -> State:
        """Reserve room, if the task can."""
        reserved: State = self._task.reserve(state, copies, length)
        return reserved

    def extend(self, state: State, length: int) -> State:
        """Give the state more room."""
        extended: State = self._task.extend(state, length)
        return extended

    def steps(self, tokens: Tensor, state: State) -> tuple[Tensor, State]:
        """Read several tokens in one pass, if the task can."""
        scores, state = self._task.steps(tokens, state)
        return torch.cat([scores, torch.full_like(scores[..., :1], float("-inf"))], dim=-1), state

    def take_back(self, state: State, count: int) -> State:
        """Take back the last tokens, if the task can."""
        earlier: State = self._task.take_back(state, count)
        return earlier

    def room(self, state: State) -> int:
        return int(self._task.room(state))

    def step(self, tokens: Tensor, state: State) -> tuple[Tensor, State]:
        # Searches of a fixed shape continue rows that have ended, and the task does not know this end token.
        tokens = torch.where(tokens == self.end, self._task.end, tokens)
        scores, state = self._task.step(tokens, state)
        return torch.cat([scores, torch.full_like(scores[:, :1], float("-inf"))], dim=1), state


def _captures_for(task: Any, batch: Prompts, limits: Tensor, search: DecodingOptions) -> CapturedSteps | None:
    """Return captured steps to search with; None off a GPU, with search rules, or if the context would overflow."""
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
    """Search for each prompt with captured steps; with `numbers`, sample by them."""
    if numbers is not None:
        return fixed_sample(writer, batch, limits, search, numbers, captures, must_end=False)
    return fixed_beam_search(writer, batch, limits, search, captures, must_end=False)
