"""The doors of language models: going on with a prompt, whole or token by token, and what they make of one."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from regard.base.doors import (
    EVENTS,
    Asked,
    DoorAnswer,
    ModelBody,
    Price,
    Question,
    Rest,
    Stream,
    Tell,
    VerbDoor,
    check_amount,
    check_numbers,
    check_texts,
)
from regard.base.faults import Fault
from regard.verbs.generate.request import GenerateRequest, PromptRequest

if TYPE_CHECKING:
    from regard.verbs.generate.continuing import Generated


class GenerateBody(GenerateRequest, ModelBody):
    """Prompts to continue, how, and the model."""

    stream: bool = Field(
        default=False, description="Answer token by token, by server-sent events; for a single prompt."
    )


class PromptBody(PromptRequest, ModelBody):
    """A prompt, and by which model it is read."""


class GeneratedText(DoorAnswer):
    """A prompt and what was written after it, as `regard generate --json` has it; `text` is both."""

    prompt: str
    text: str
    score: float | None
    tokens: list[str]
    token_scores: list[float | None]
    ended: Literal["end", "tokens", "context", "rules"]
    forgotten: int


class GenerateAnswer(DoorAnswer):
    """For each prompt its texts, best first or in the order drawn."""

    model: str
    seconds: float
    texts: list[list[GeneratedText]]


class WrittenTokenAnswer(DoorAnswer):
    """A token of a text: its name, what it adds to the text, and the logarithm of its probability.

    A letter may take several tokens; then the last of them adds it, and the others nothing.
    """

    token: str
    text: str
    score: float | None


class NextTokenAnswer(DoorAnswer):
    """A token that may come next, and what it adds to the text: nothing where it is only a part of a letter.

    `drawn` is with which probability it would be drawn, where that was asked for.
    """

    token: str
    text: str
    probability: float
    drawn: float | None
    end: bool


class PromptAnswer(DoorAnswer):
    """A model's reading of a prompt: its last thousand tokens, and the likeliest next ones.

    What is chosen of them is added to `stem`, the prompt as it is gone on with. `perplexity` says among how many
    tokens alike the next one would be as hard to guess. `room` is how many may be written before the context is full
    and the text ends, and `forgotten` how many of the first the model does not see any more.
    """

    model: str
    seconds: float
    stem: str
    tokens: list[WrittenTokenAnswer]
    next: list[NextTokenAnswer]
    rest: Rest
    perplexity: float
    room: int | None
    forgotten: int


class Continued(DoorAnswer):
    """The last event of a stream of tokens: the texts, the first of which was told."""

    model: str
    seconds: float
    texts: list[GeneratedText]


def find_language_model(model: Asked, name: str) -> Any:
    """Return the language model of a name among those that are served beside a model."""
    served = [other for other, each in model.others.items() if "generate" in each.can]
    if name not in served:
        there = f"there are {', '.join(served)}" if served else "none is served"
        raise Fault(f"There is no language model {name[:40]!r} here; {there}.")
    return model.others[name].model


def _check(question: Question[GenerateBody]) -> GenerateBody:
    body = question.body
    check_amount(body.prompt, question.limits)
    check_numbers(body, ("tokens", "samples", "beam", "n_best"), question.limits)
    if question.streams and len(body.prompt) != 1:
        raise Fault("A stream continues one prompt only; give one, or ask without 'stream'.")
    return body


def _costs(question: Question[GenerateBody]) -> list[float]:
    body = question.body
    rows = body.samples or body.beam or body.n_best or 1
    return [float(1 + len(prompt) + body.tokens * rows) for prompt in body.prompt]


def _generate(question: Question[GenerateBody]) -> list[Any]:
    return list(question.model.model.generate_by(question.body, question.first))


def _generate_aloud(question: Question[GenerateBody], tell: Tell) -> Any:
    """Return the texts for the only prompt; each token of the first is told as it is written."""
    model = question.model.model
    return model.generate_aloud(question.body, lambda token: tell("token", WrittenTokenAnswer(**asdict(token))))


def _write(texts: "list[Generated]") -> list[GeneratedText]:
    return [GeneratedText(**text.as_dict()) for text in texts]


def _read_prompt(question: Question[PromptBody]) -> dict[str, Any]:
    found = question.model.model.read_prompt(question.body)
    return {
        "stem": found.stem,
        "tokens": [WrittenTokenAnswer(**asdict(token)) for token in found.tokens],
        "next": [NextTokenAnswer(**asdict(token)) for token in found.next],
        "rest": Rest(count=found.others, probability=found.others_share),
        "perplexity": found.perplexity,
        "room": found.room,
        "forgotten": found.forgotten,
    }


DOORS = (
    VerbDoor(
        path="/v1/generate",
        can="generate",
        summary="Go on with prompts.",
        body=GenerateBody,
        answer=GenerateAnswer,
        other_kinds=(EVENTS,),
        texts="prompt",
        ready=_check,
        price=Price("tokens to write in each row, and letters to read", 1000, ordinary=250),
        costs=_costs,
        work=_generate,
        write=_write,
        listed="texts",
        stream=Stream(_generate_aloud, Continued),
    ),
    VerbDoor(
        path="/v1/prompt",
        can="generate",
        summary="How probable a prompt is, and what may come next.",
        body=PromptBody,
        answer=PromptAnswer,
        texts="prompt",
        ready=check_texts,
        price=Price("letters", 1000),
        costs=lambda question: [1.0 + len(question.body.prompt)],
        work=_read_prompt,
    ),
)
