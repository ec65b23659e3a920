"""Answers of the server itself: faults, its health, and the models that it serves."""

from typing import Any, Literal

from regard.base.doors import DoorAnswer
from regard.tasks import Reads
from regard.verbs.look.request import Side


class Error(DoorAnswer):
    error: str


class Health(DoorAnswer):
    """Answer that the server is there."""

    status: Literal["ok"]


class Readiness(DoorAnswer):
    """Answer that it takes requests."""

    status: Literal["ready"]


class Language(DoorAnswer):
    code: str
    name: str


class LearntAmount(DoorAnswer):
    count: int
    unit: Literal["pairs", "texts", "sentences", "tokens", "questions"]


class CertaintyAnswer(DoorAnswer):
    """Below which threshold a translator is unsure of an output: so many percent of validation outputs lie there."""

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
    """A model that is served, whatever it does; what its folder does not say is null.

    The description is whatever its recipe says of it, data are the names of what it learnt from, and examples are texts
    that it was not learnt from. The context is how many tokens a language model can look back at, if that has an end.
    Speakers are those in whose voices it speaks, if it does. The extent is how wide and high the drawings of one that
    draws strokes usually are. Its weights were chosen by the measure best_by, if by any.
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
    pairs: bool = False  # whether it reads two texts at a time, with a tab between them
    speakers: list[str] = []
    extent: float | None = None
    can: list[str]
    scores: list[dict[str, Any]]
    best_by: str | None = None
    hardly_trained: HardlyTrained | None = None


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
