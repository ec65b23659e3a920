"""The doors for looking inside a model: attention, next token, beam, forward pass, reasons and nearest examples."""

from collections.abc import Callable
from operator import attrgetter
from types import ModuleType
from typing import Annotated, Any, Literal

from pydantic import Field

from regard.base.doors import DoorAnswer, LanguagesBody, ModelBody, Price, Question, Rest, VerbDoor, check_texts
from regard.base.faults import Fault
from regard.base.pauses import beside_pauses
from regard.verbs.answer.request import Input
from regard.verbs.inputs import check_inputs, input_cost
from regard.verbs.look.reasons_door import EXAMPLES, WHY
from regard.verbs.look.request import AttentionRequest, BeamRequest, ForwardRequest, NextRequest, RequestEdits, Side
from regard.viewing.hypotheses import Fate

_LAYERS = 20.0  # recording all layers costs about as much as reading this many letters


class LookBody(ModelBody):
    """The input to look at, and the model."""

    input: Input = Field(description="What the model reads: a text, a node number, a picture, a sound.")
    speaker: str | None = Field(default=None, description="For models that speak: the speaker; by default the first.")
    as_is: bool = Field(default=False, description="Refuse a picture of the wrong size instead of scaling it.")
    edits: RequestEdits | None = Field(default=None, description="Edits under which the model answers again.")
    mode: Literal["words", "tokens"] | None = Field(
        default=None, description="For models that read a text: return all weights among its words, or its tokens."
    )
    write: Annotated[int, Field(ge=1, le=200)] | None = Field(
        default=None,
        description="For language models, with `mode`: the number of tokens to write after the text. They are the "
        "output, instead of the next token.",
    )


class AttentionBody(AttentionRequest, LanguagesBody):
    """Which attention of which model to show, for one sentence."""


class NextBody(NextRequest, LanguagesBody):
    """The place of the next token: after tokens, after a text, or along the best output."""


class BeamBody(BeamRequest, LanguagesBody):
    """The beam search to show as a tree, for one sentence."""


class ForwardBody(ForwardRequest, ModelBody):
    """The sentence to follow through a model, from tokens to logits."""


class Text(DoorAnswer):
    text: str
    language: str


class BlockAnswer(DoorAnswer):
    """The heads of a block; weights are whole ten-thousandths, row by row."""

    where: str
    layer: int
    heads: list[list[int]]
    entropy: list[float]


class SideAnswer(DoorAnswer):
    """The attention of one side; the row or column of each token says which places an edit of a word names."""

    rows: list[str]
    columns: list[str]
    row_of_token: list[int]
    column_of_token: list[int]
    usual: int
    blocks: list[BlockAnswer]


class AttentionAnswer(DoorAnswer):
    """Attention weights; for a request with edits, also the output without them and the checksum of the model."""

    model: str
    source: Text
    target: Text
    unedited: Text | None = None
    checksum: str | None = None
    score: float
    seconds: float
    modes: dict[Literal["words", "tokens"], dict[Side, SideAnswer]]


class TokenAnswer(DoorAnswer):
    token: str
    text: str
    probability: float
    taken: bool
    end: bool


class NextAnswer(DoorAnswer):
    model: str
    source: Text
    target: Text
    seconds: float
    before: list[str]
    vocabulary: int
    tokens: list[TokenAnswer]
    log_probabilities: list[float]
    rest: Rest


class NodeAnswer(DoorAnswer):
    token: str
    parent: int | None
    step: int
    group: int
    log_probability: float
    total: float
    score: float | None
    rank: int | None
    fate: Fate
    text: str


class Lanes(DoorAnswer):
    all: list[int]
    outputs: list[int | None]


class BeamAnswer(DoorAnswer):
    model: str
    source: Text
    target: Text
    seconds: float
    width: int
    leftwards: bool
    outputs: list[int]
    lanes: Lanes
    nodes: list[NodeAnswer]


class LookAnswer(DoorAnswer):
    """The attention of a model, for the named view; the remark says how a picture was scaled, if it was.

    For a request with edits, the outputs with and without them follow. With `mode`, the view is "attention", whose data
    have `modes` and texts as the answer of /v1/attention has them, and the checksum of the model follows too.
    """

    model: str
    seconds: float
    view: Literal["attention", "facts", "frames", "graph", "overlay", "slots", "strip", "strokes", "tinted", "windows"]
    looks: dict[str, Any]
    remark: str = ""
    output: str | None = None
    unedited: str | None = None
    checksum: str | None = None


class LayerAnswer(DoorAnswer):
    """The output of one layer: a row for each token, of which the row `query` is followed.

    The place counts from 0 on each level: 3.0 is the first layer inside the fourth. The shape is that of the whole
    output, of which only the first columns are sent, and the norm is the mean length of its rows. A layer that is not
    opened has no values. A value of minus infinity is null.
    """

    place: str
    name: str
    kind: str
    number: int
    norm: float
    shape: list[int]
    query: int
    rows: list[str]
    columns: list[str]
    values: list[list[float | None]] | None
    inside: list["LayerAnswer"]


class GuessAnswer(DoorAnswer):
    """The most probable tokens at one place, each with its logit and its probability."""

    place: str
    tokens: list[tuple[str, float, float]]


class ForwardAnswer(DoorAnswer):
    """The way of a sentence through a model; the output is that of a translator."""

    model: str
    seconds: float
    text: str
    output: str
    layers: list[LayerAnswer]
    guesses: list[GuessAnswer]


def _views() -> ModuleType:
    """Return the module that looks inside models; it loads torch on first use."""

    def load() -> ModuleType:
        from regard.verbs.look import views

        return views

    return beside_pauses(load)


def _check(question: Question[LookBody]) -> LookBody:
    body, model = question.body, question.model
    check_inputs(model, [body.input], question.limits)
    if body.mode is not None and not isinstance(body.input, str):
        raise Fault(f"'mode' is for models that read a text; the model {model.name} does not.")
    if body.write is not None and (body.mode is None or "generate" not in model.can):
        raise Fault("'write' is for language models, together with 'mode'; omit it.")
    return body


def _costs(question: Question[LookBody]) -> list[float]:
    body = question.body
    times = 2 if body.edits else 1  # without the edits, and with them
    return [times * (input_cost(body.input, question.model.reads) + (body.write or 0))]


def _costs_of_sentence(question: Question[Any]) -> list[float]:
    translator: Any = question.model
    beam = getattr(question.body, "beam", None) or translator.decoding.beam
    times = 2 if getattr(question.body, "edits", None) else 1  # without the edits, and with them
    return [times * (1.0 + len(question.body.text)) * (1 + beam)]


def _costs_of_pass(question: Question[ForwardBody]) -> list[float]:
    """Return the cost of a pass; only a translator whose output is not given searches for one."""
    body, is_translator = question.body, "translate" in question.model.can
    is_searched = is_translator and body.output is None and body.tokens is None
    (letters,) = _costs_of_sentence(question) if is_searched else [1.0 + len(body.text)]
    return [_LAYERS + letters]


def _door_of_sentence(
    view: str, summary: str, body: type[LanguagesBody], answer: type[DoorAnswer], look: Callable[[Any], Any]
) -> VerbDoor:
    """Return the door for a view of one sentence in a translator."""
    return VerbDoor(
        path=f"/v1/{view}",
        can=view,
        summary=summary,
        body=body,
        answer=answer,
        texts="text",
        price=Price("letters, in each row of the search", 1000),
        costs=_costs_of_sentence,
        work=lambda question: look(_views())(question),
    )


DOORS = (
    _door_of_sentence(
        "attention",
        "Attention weights of every block and head.",
        AttentionBody,
        AttentionAnswer,
        attrgetter("attention"),
    ),
    _door_of_sentence("next", "The distribution of the next token.", NextBody, NextAnswer, attrgetter("next_token")),
    _door_of_sentence("beam", "The beam as a tree.", BeamBody, BeamAnswer, attrgetter("beam")),
    VerbDoor(
        path="/v1/forward",
        can="forward",
        summary="The way of a sentence from tokens to logits, layer by layer.",
        body=ForwardBody,
        answer=ForwardAnswer,
        texts="text",
        ready=check_texts,
        price=Price("letters, in each row of the search, and layers as letters", 500),
        costs=_costs_of_pass,
        work=lambda question: _views().forward(question),
    ),
    VerbDoor(
        path="/v1/look",
        can="look",
        summary="What a model attends to as it answers.",
        body=LookBody,
        answer=LookAnswer,
        ready=_check,
        price=Price("letters, tokens to write, frames of 10 ms, thousands of pixels or points", 500),
        costs=_costs,
        work=lambda question: _views().look(question),
    ),
    WHY,
    EXAMPLES,
)
