"""What answers of /v1 hold; the description of the interface is made from these."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from regard.verbs.requests.look import Side
from regard.viewing.tree.record import Fate


class Answer(BaseModel):
    """What all answers share."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Error(Answer):
    error: str


class Language(Answer):
    code: str
    name: str


class Detection(Answer):
    language: str
    confidence: float


class Candidate(Answer):
    text: str
    score: float | None


class Span(Answer):
    """Places in a text, counted in code points."""

    start: int
    end: int


class SourceSpan(Span):
    text: str


class Explained(Answer):
    """A translation as `regard translate --json` has it."""

    text: str
    score: float | None
    tokens: list[str]
    token_scores: list[float]
    alignment: list[tuple[int, int]]
    n_best: list[Candidate]


class SentenceAnswer(Explained):
    index: int
    sentence: int
    source: SourceSpan
    span: Span | None = None
    seconds: float


class TranslationAnswer(Explained):
    sentences: list[SentenceAnswer]


class TranslateAnswer(Answer):
    model: str
    source: str
    target: str
    engine: str
    detected: Detection | None
    seconds: float
    translations: list[TranslationAnswer]


class Begun(Answer):
    """The first event of a stream: how the texts were cut."""

    model: str
    source: str
    target: str
    engine: str
    detected: Detection | None
    texts: list[list[SourceSpan]]


class Told(Explained):
    """The event of a text all of whose sentences were told."""

    index: int
    spans: list[Span]


class Over(Answer):
    """The last event of a stream."""

    seconds: float


class Text(Answer):
    text: str
    language: str


class BlockAnswer(Answer):
    """The heads of a block; weights are whole ten-thousandths, row by row."""

    where: str
    layer: int
    heads: list[list[int]]
    entropy: list[float]


class SideAnswer(Answer):
    rows: list[str]
    columns: list[str]
    usual: int
    blocks: list[BlockAnswer]


class AttentionAnswer(Answer):
    model: str
    source: Text
    target: Text
    score: float
    seconds: float
    modes: dict[Literal["words", "tokens"], dict[Side, SideAnswer]]


class TokenAnswer(Answer):
    token: str
    text: str
    probability: float
    taken: bool
    end: bool


class Rest(Answer):
    count: int
    probability: float


class NextAnswer(Answer):
    model: str
    source: Text
    target: Text
    seconds: float
    before: list[str]
    vocabulary: int
    tokens: list[TokenAnswer]
    log_probabilities: list[float]
    rest: Rest


class NodeAnswer(Answer):
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


class Lanes(Answer):
    all: list[int]
    outputs: list[int | None]


class BeamAnswer(Answer):
    model: str
    source: Text
    target: Text
    seconds: float
    width: int
    leftwards: bool
    outputs: list[int]
    lanes: Lanes
    nodes: list[NodeAnswer]


class ModelAnswer(Answer):
    name: str
    source: Language
    target: Language
    family: str
    preset: str | None
    engine: str
    engines: list[str]
    longest: int
    blocks: dict[Side, list[int]]
    decoding: dict[str, Any]
    can: list[str]
    scores: list[dict[str, Any]]


class ModelsAnswer(Answer):
    version: str
    limits: dict[str, int | float]
    models: list[ModelAnswer]
