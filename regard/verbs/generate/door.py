"""The doors of language models: continue a prompt, at once or token by token, and read one."""

from collections.abc import Sequence
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
from regard.base.requests.fields import Held
from regard.verbs.generate.request import LOOKUP, GenerateRequest, PromptRequest

if TYPE_CHECKING:
    from regard.verbs.generate.generated import Generated


class GenerateBody(GenerateRequest, ModelBody):
    """Prompts to continue, how, and the model."""

    stream: bool = Field(
        default=False, description="Answer token by token with server-sent events; for a single prompt."
    )


class PromptBody(PromptRequest, ModelBody):
    """A prompt to read, and the model."""


class GeneratedText(DoorAnswer):
    """A prompt and its continuation, as `regard generate --json` prints them; `text` is both."""

    prompt: str
    text: str
    score: float | None
    tokens: list[str]
    token_scores: list[float | None]
    ended: Literal["end", "tokens", "context", "rules"]
    forgotten: int


class GenerateAnswer(DoorAnswer):
    """The texts for each prompt, best first or in the order drawn."""

    model: str
    seconds: float
    texts: list[list[GeneratedText]]


class WrittenTokenAnswer(DoorAnswer):
    """A token of a text: its name, what it adds to the text, and its log-probability.

    A letter may take several tokens; then only the last of them adds text.
    """

    token: str
    text: str
    score: float | None


class NextTokenAnswer(DoorAnswer):
    """A token that may come next, and what it adds to the text: nothing if it is only part of a letter.

    `drawn` is its probability under the sampling options of the request, if there are any.
    """

    token: str
    text: str
    probability: float
    drawn: float | None
    end: bool


class PromptAnswer(DoorAnswer):
    """A model's reading of a prompt: its last thousand tokens, and the most likely next ones.

    `stem` is the prompt to which a chosen token is added. `perplexity` is that of the next token: the number of equally
    likely tokens that would be as hard to guess. `room` is how many tokens may be written before the context is full,
    and `forgotten` is how many of the first tokens the model no longer sees.
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
    """The last event of a token stream: the texts, of which the first was streamed."""

    model: str
    seconds: float
    texts: list[GeneratedText]


def find_language_model(model: Asked, name: str) -> Any:
    """Return the language model of this name among the other served models."""
    served = [other for other, candidate in model.others.items() if "generate" in candidate.can]
    if name not in served:
        available = f"there are {', '.join(served)}" if served else "none is served"
        raise Fault(f"There is no language model {name[:40]!r} here; {available}.")
    return model.others[name].model


def check_draft(model: Asked, draft: str, words: Sequence[str]) -> None:
    """Refuse a draft that is none of these words and no served model that writes."""
    served = [name for name, other in model.others.items() if {"generate", "translate"} & set(other.can)]
    if draft not in (*words, *served):
        raise Fault(f"There is no draft {draft[:40]!r} here; there are {', '.join((*words, *served))}.")


def _check(question: Question[GenerateBody]) -> GenerateBody:
    body = question.body
    check_amount(body.prompt, question.limits)
    check_numbers(body, ("tokens", "samples", "beam", "n_best"), question.limits)
    if question.streams and len(body.prompt) != 1:
        raise Fault("A stream continues one prompt only; give one, or ask without 'stream'.")
    if isinstance(body.draft, str):
        check_draft(question.model, body.draft, [LOOKUP])
        if body.draft != LOOKUP:
            return body.model_copy(update={"draft": Held(question.model.others[body.draft].model)})
    return body


def _costs(question: Question[GenerateBody]) -> list[float]:
    body = question.body
    rows = (body.samples or body.beam or body.n_best or 1) * (1 if body.draft is None else 2)
    return [float(1 + len(prompt) + body.tokens * rows) for prompt in body.prompt]


def _generate(question: Question[GenerateBody]) -> list[Any]:
    return list(question.model.model.generate_by(question.body, question.first))


def _generate_aloud(question: Question[GenerateBody], tell: Tell) -> Any:
    """Return the texts for the only prompt, and tell each token of the first as it is written."""
    model = question.model.model
    return model.generate_aloud(question.body, lambda token: tell("token", WrittenTokenAnswer(**asdict(token))))


def _write(texts: "list[Generated]") -> list[GeneratedText]:
    return [GeneratedText(**text.as_dict()) for text in texts]


def _read_prompt(question: Question[PromptBody]) -> dict[str, Any]:
    reading = question.model.model.read_prompt(question.body)
    return {
        "stem": reading.stem,
        "tokens": [WrittenTokenAnswer(**asdict(token)) for token in reading.tokens],
        "next": [NextTokenAnswer(**asdict(token)) for token in reading.next],
        "rest": Rest(count=reading.others, probability=reading.others_share),
        "perplexity": reading.perplexity,
        "room": reading.room,
        "forgotten": reading.forgotten,
    }


DOORS = (
    VerbDoor(
        path="/v1/generate",
        can="generate",
        summary="Continue prompts.",
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
        summary="Token probabilities of a prompt, and what may come next.",
        body=PromptBody,
        answer=PromptAnswer,
        texts="prompt",
        ready=check_texts,
        price=Price("letters", 1000),
        costs=lambda question: [1.0 + len(question.body.prompt)],
        work=_read_prompt,
    ),
)
