"""The doors that explain a decision: by methods that score the input's units, and by the nearest training examples."""

from types import ModuleType
from typing import Any

from regard.base.doors import DoorAnswer, ModelBody, Price, Question, VerbDoor, check_amount, check_texts
from regard.base.faults import Fault
from regard.base.pauses import beside_pauses
from regard.verbs.answer.request import PictureInput
from regard.verbs.inputs import check_inputs, input_cost
from regard.verbs.look.request import DecisionRequest, ExamplesRequest
from regard.verbs.transcribe.request import SoundInput

# Passes through the model for each method, and those for each unit of the input; a gradient counts as three.
_PASSES = {
    "attention": (2, 0),
    "rollout": (2, 0),
    "flow": (2, 1),
    "gradient": (3, 0),
    "input-x-gradient": (3, 0),
    "integrated-gradients": (150, 0),
    "occlusion": (1, 1),
    "leave-one-out": (1, 2),
    "lens": (2, 0),
    "patching": (4, 8),
    "heads": (64, 0),
    "units": (4000, 0),
}
_MAPS = list(_PASSES)[:8]
_ORDERS, _STEPS = 22, 56  # curves of trust: random orders, each of two kinds; most steps of a curve
_LETTERS, _CELLS, _NODES = 4, 196, 50  # letters of a token, blocks of a picture, nodes in reach
_LINE = 40  # letters of a training text
_EXAMPLES = 5000  # training texts to compare with, if a request does not say


class WhyBody(DecisionRequest, ModelBody):
    """The decision of a model to explain, and the method."""


class ExamplesBody(ExamplesRequest, ModelBody):
    """A text, and how to find the training examples whose states are nearest to its own."""


class TokensAnswer(DoorAnswer):
    """Tokens, the words that they belong to, and the word of each token."""

    tokens: list[str]
    words: list[str]
    word_of_token: list[int]


class FigureAnswer(DoorAnswer):
    """A figure of a map, and its mean and standard deviation for random orders; null if it is not a number."""

    value: float | None
    random: float | None
    deviation: float | None


class AgreementAnswer(DoorAnswer):
    value: float | None
    random: float | None


class TruthAnswer(DoorAnswer):
    """The units that are known to matter, and how well the map agrees with them."""

    name: str
    units: list[int]
    area: AgreementAnswer
    mass: AgreementAnswer
    top: AgreementAnswer


class TrustAnswer(DoorAnswer):
    """Trust in a map: figures compared with chance, their curves, and the truth if it is known."""

    probability: float | None
    figures: dict[str, FigureAnswer]
    shares: dict[str, dict[str, FigureAnswer]]
    curves: dict[str, list[float | None]]
    truth: TruthAnswer | None = None


class MapAnswer(DoorAnswer):
    """The scores of the units by one method, larger where a unit mattered more; null if it is not a number."""

    method: str
    scores: list[float | None]
    remarks: list[str]
    trust: TrustAnswer | None = None


class WhyAnswer(DoorAnswer):
    """Reasons for a decision: maps of the input's units, or tables of what happens inside.

    `words` are those of an input that is a text. `choices` are what a place chooses from, counted from 1, of which
    `explained` counts from 0. A picture or a sound has a view of its maps, as at `/v1/look`. `refused` says why methods
    have no meaning here.
    """

    model: str
    seconds: float
    text: str
    output: str
    chosen: str
    method: str
    log_probability: float | None
    units: list[str]
    words: TokensAnswer | None
    choices: TokensAnswer | None
    explained: list[int]
    maps: list[MapAnswer]
    refused: dict[str, str]
    tables: list[dict[str, Any]]
    view: str | None
    looks: dict[str, Any] | None


class ExampleAnswer(DoorAnswer):
    """A training text with its place marked, its translation or label, and what followed there."""

    closeness: float
    text: str
    answer: str
    followed: str


class PlaceAnswer(DoorAnswer):
    name: str
    agreeing: int | None
    examples: list[ExampleAnswer]


class ExamplesAnswer(DoorAnswer):
    """The nearest training examples of each place, and how many states of how many texts were compared."""

    model: str
    seconds: float
    text: str
    by: str
    states: int
    texts: int
    total: int
    places: list[PlaceAnswer]


def _reasons() -> ModuleType:
    """Return the module that explains decisions; it loads torch on first use."""

    def load() -> ModuleType:
        from regard.verbs.look import reasons

        return reasons

    return beside_pauses(load)


def _check_decision(question: Question[WhyBody]) -> WhyBody:
    body = question.body
    check_inputs(question.model, [item for item in (body.input, body.other) if item is not None], question.limits)
    check_amount([text for text in (body.output, body.word) if text is not None], question.limits)
    if body.tokens is not None and "translate" not in question.model.can:
        raise Fault(f"'tokens' is for translators; the model {question.model.name} takes 'output'.")
    return body


def _count_units(item: Any) -> float:
    """Return about how many units an input has."""
    match item:
        case SoundInput():
            return input_cost(item)
        case PictureInput():
            return _CELLS
        case str():
            return 1 + len(item) / _LETTERS
    return _NODES


def _costs_of_decision(question: Question[WhyBody]) -> list[float]:
    """Return the letters that are read in all passes of a method, or of all methods, and of the figures of trust."""
    body, count = question.body, _count_units(question.body.input)
    methods = _MAPS if body.method == "all" else [body.method]
    passes = sum(fixed + count * each for fixed, each in (_PASSES[method] for method in methods))
    if body.trust:
        passes += min(count, _STEPS) * (_ORDERS + 2 * len(methods))
    if "translate" in question.model.can and body.output is None and body.tokens is None:
        translator: Any = question.model
        passes += translator.decoding.beam
    return [passes * input_cost(body.input, question.model.reads)]


def _check_examples(question: Question[ExamplesBody]) -> ExamplesBody:
    body, most = check_texts(question), question.limits.examples
    if not most:
        raise Fault("This server shows no training texts; its operator can allow it with --set limits.examples=5000.")
    if body.from_lines is not None and body.from_lines > most:
        raise Fault(f"'from_lines' is {body.from_lines}, but the limit here is {most}.")
    if body.output is not None:
        check_amount([body.output], question.limits)
    return body if body.from_lines else body.model_copy(update={"from_lines": min(most, _EXAMPLES)})


WHY = VerbDoor(
    path="/v1/why",
    can="why",
    summary="Which parts of an input made a model write or answer this, and how far to trust that.",
    body=WhyBody,
    answer=WhyAnswer,
    ready=_check_decision,
    price=Price("letters, frames of 10 ms or thousands of pixels, in each pass through the model", 5000),
    costs=_costs_of_decision,
    work=lambda question: _reasons().why(question),
)
EXAMPLES = VerbDoor(
    path="/v1/examples",
    can="examples",
    summary="The training examples whose states are nearest to those of a text.",
    body=ExamplesBody,
    answer=ExamplesAnswer,
    texts="text",
    ready=_check_examples,
    price=Price("letters of training texts", 5000),
    costs=lambda question: [len(question.body.text) + _LINE * float(question.body.from_lines)],
    work=lambda question: _reasons().examples(question),
)
