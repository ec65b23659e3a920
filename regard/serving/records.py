"""Answers of the server itself: errors, health, and the served models."""

from typing import Any, Literal

from regard.base.doors import DoorAnswer
from regard.tasks import Reads
from regard.verbs.look.request import Side


class Error(DoorAnswer):
    error: str


class Health(DoorAnswer):
    """The server is running."""

    status: Literal["ok"]


class Readiness(DoorAnswer):
    """The server accepts requests."""

    status: Literal["ready"]


class Language(DoorAnswer):
    code: str
    name: str


class LearntAmount(DoorAnswer):
    count: int
    unit: Literal["pairs", "texts", "sentences", "tokens", "questions"]


class CertaintyAnswer(DoorAnswer):
    """The threshold below which a translator is unsure; `percentile` percent of validation outputs are below it."""

    measure: str
    threshold: float
    percentile: int
    outputs: int


class HardlyTrained(DoorAnswer):
    """The progress of a model that has hardly been trained: the step of its weights, and the steps planned."""

    step: int
    steps: int
    validated: bool


class ModelAnswer(DoorAnswer):
    """A served model of any kind; fields that its folder does not record are null.

    The description comes from its recipe, data are the names of its training data, and examples are texts that it was
    not trained on. The context is the number of tokens that a language model can look back at, if limited. Speakers are
    the voices of a model that speaks. The extent is the usual width and height of the drawings of a model that draws
    strokes. best_by is the measure that chose its weights, if any did. The card is the address of its model card on
    this server.
    """

    name: str
    description: str = ""
    data: list[str] = []
    amount: LearntAmount | None = None
    parameters: int | None = None
    examples: list[str] | None = None
    task: str
    reads: Reads
    family: str
    preset: str | None
    context: int | None = None
    pairs: bool = False  # it reads two texts at a time, separated by a tab
    speakers: list[str] = []
    extent: float | None = None
    can: list[str]
    scores: list[dict[str, Any]]
    best_by: str | None = None
    hardly_trained: HardlyTrained | None = None
    card: str | None = None


class TranslatorAnswer(ModelAnswer):
    """A model that translates."""

    source: Language
    target: Language
    engine: str
    engines: list[str]
    longest: int
    blocks: dict[Side, list[int]]
    decoding: dict[str, Any]
    certainty: CertaintyAnswer | None = None


class ModelsAnswer(DoorAnswer):
    version: str
    limits: dict[str, int | float]
    needs_key: bool
    models: list[TranslatorAnswer | ModelAnswer]
