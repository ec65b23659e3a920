"""What requests to /v1 ask for and what answers hold; the description of the interface is made from these."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

from regard.engines.fast import Choice
from regard.recipe import Options
from regard.viewing.tree import Fate

Side = Literal["cross", "encoder", "decoder"]
Count = Annotated[int, Field(ge=1)]


def _listed(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


_ONE_OR_MORE = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}
Texts = Annotated[list[str], BeforeValidator(_listed), WithJsonSchema(_ONE_OR_MORE)]


class Sampling(Options):
    """How outputs are drawn."""

    temperature: float = Field(default=1.0, ge=0, le=100, description="Below 1 is cautious, above 1 bold.")
    top_k: int = Field(default=0, ge=0, lt=2**31, description="Only so many most probable tokens; 0 is all.")
    top_p: float = Field(default=1.0, gt=0, le=1, description="The fewest tokens that reach this probability.")
    min_p: float = Field(default=0.0, ge=0, le=1, description="Tokens at least this fraction as probable as the best.")
    typical: float = Field(default=1.0, gt=0, le=1, description="The most typical tokens that reach this probability.")
    seed: int = Field(default=1, ge=0, lt=2**63, description="What is drawn depends on it.")


class Question(Options):
    """Which model is asked."""

    model: str | None = Field(default=None, description="The name of a model; without it, the languages choose.")
    source: str | None = Field(default=None, description="The language of the text, or auto.")
    target: str | None = Field(default=None, description="The language to translate into.")
    api_key: str | None = Field(default=None, description="The key, where one is needed.")


class TranslateQuestion(Question):
    """What is to be translated, and how; what is not given is as the model's recipe says."""

    text: Texts = Field(description="A text, or several; each may have many sentences and lines.")
    engine: Choice = Field(default="auto", description="What computes.")
    split_sentences: bool | None = Field(
        default=None, description="Each sentence by itself; the default, but where something is asked of whole outputs."
    )
    too_long: Literal["split", "refuse"] = Field(default="split", description="What to do with overlong sentences.")
    beam: Count | None = Field(default=None, description="Width of the beam; 1 is greedy search.")
    length_penalty: Annotated[float, Field(ge=0, le=5)] | None = Field(default=None, description="Its alpha.")
    n_best: Count | None = Field(default=None, description="Candidates for each sentence, best first.")
    search: dict[str, Any] = Field(
        default_factory=dict, description="Any other option of the search, as in the decoding table of a recipe."
    )
    sample: Sampling | None = Field(default=None, description="Draw outputs at random, n_best of them.")
    mbr: str | None = Field(default=None, description="Choose among samples by minimum Bayes risk, by this metric.")
    samples: Annotated[int, Field(ge=2)] | None = Field(default=None, description="Samples that mbr chooses among.")
    prefix: Texts | None = Field(default=None, description="What outputs begin with: one for all, or one for each.")
    before: list[str] | None = Field(
        default=None, description="The tokens, by name, that the output of the one text begins with."
    )
    required: list[str] | list[list[str]] | None = Field(
        default=None, description="Phrases that every output must have, or a list for each text."
    )
    forbidden: list[str] = Field(default_factory=list, description="Phrases that no output may have.")
    vocabulary: list[str] | None = Field(default=None, description="Write with the tokens of these texts alone.")
    forced: Texts | None = Field(default=None, description="Score these outputs instead of searching for any.")
    together: list[str] = Field(
        default_factory=list, alias="with", description="Models of the same tokens that write along."
    )
    channel: str | None = Field(default=None, description="A model of the other direction, which reranks the beam.")
    channel_weight: Annotated[float, Field(ge=0, le=1e6)] | None = Field(
        default=None, description="How much it counts."
    )
    explain: bool = Field(default=True, description="Whether tokens, their scores and the alignment are wanted.")
    stream: bool = Field(default=False, description="Answer sentence by sentence, by server-sent events.")


class AttentionQuestion(Question):
    """Which attention is wanted, for one sentence."""

    text: str = Field(description="The sentence that is read.")
    output: str | None = Field(default=None, description="The output to look at; by default the model's own.")
    tokens: list[str] | None = Field(default=None, description="The same by the names of its tokens.")
    sides: list[Side] | None = Field(default=None, min_length=1, description="By default all that the model has.")
    mode: Literal["words", "tokens"] = Field(default="words", description="What stands on the axes.")
    layers: list[Count] | None = Field(default=None, min_length=1, description="Blocks, from 1; by default all.")
    heads: Literal["all", "mean", "max"] = Field(default="all", description="Every head, or all joined.")


class NextQuestion(Question):
    """The place at which the next token is wanted: after tokens, after a text, or along the best output."""

    text: str = Field(description="The sentence that is read.")
    before: list[str] | None = Field(default=None, description="The tokens written so far, by name.")
    prefix: str | None = Field(default=None, description="The text written so far.")
    at: Annotated[int, Field(ge=0)] | None = Field(default=None, description="So many tokens of the best output.")
    shown: int = Field(default=50, ge=1, le=200, description="Tokens that have names.")
    kept: int = Field(default=4096, ge=1, le=65_536, description="Tokens that have a probability of their own.")


class BeamQuestion(Question):
    """The beam search that is wanted as a tree, for one sentence."""

    text: str = Field(description="The sentence that is read.")
    beam: Count | None = Field(default=None, description="Width of the beam.")
    length_penalty: Annotated[float, Field(ge=0, le=5)] | None = Field(default=None, description="Its alpha.")


# Answers


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
