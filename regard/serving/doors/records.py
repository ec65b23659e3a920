"""What answers of /v1 hold; the description of the interface is made from these."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from regard.verbs.look.request import Side
from regard.viewing.hypotheses import Fate


class DoorAnswer(BaseModel):
    """What all answers share."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Error(DoorAnswer):
    error: str


class Health(DoorAnswer):
    """That the server is there."""

    status: Literal["ok"]


class Readiness(DoorAnswer):
    """That it takes requests."""

    status: Literal["ready"]


class Language(DoorAnswer):
    code: str
    name: str


class Detection(DoorAnswer):
    language: str
    confidence: float


class Candidate(DoorAnswer):
    text: str
    score: float | None


class Span(DoorAnswer):
    """Places in a text, counted in code points."""

    start: int
    end: int


class SourceSpan(Span):
    text: str


class Explained(DoorAnswer):
    """A translation as `regard translate --json` has it."""

    text: str
    score: float | None
    tokens: list[str]
    token_scores: list[float]
    language_scores: list[float] = []
    unsure: bool | None = None
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


class TranslateAnswer(DoorAnswer):
    model: str
    source: str
    target: str
    engine: str
    detected: Detection | None
    seconds: float
    translations: list[TranslationAnswer]


class Begun(DoorAnswer):
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


class Over(DoorAnswer):
    """The last event of a stream."""

    seconds: float


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
    rows: list[str]
    columns: list[str]
    usual: int
    blocks: list[BlockAnswer]


class AttentionAnswer(DoorAnswer):
    model: str
    source: Text
    target: Text
    score: float
    seconds: float
    modes: dict[Literal["words", "tokens"], dict[Side, SideAnswer]]


class TokenAnswer(DoorAnswer):
    token: str
    text: str
    probability: float
    taken: bool
    end: bool


class Rest(DoorAnswer):
    count: int
    probability: float


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


class OneAnswer(DoorAnswer):
    """An answer, and how probable it is beside all others."""

    answer: str
    probability: float
    probabilities: dict[str, float]


class StoryAnswer(OneAnswer):
    """An answer about a story, and how many of its first facts were more than the model remembers."""

    forgotten: int


class PictureAnswer(OneAnswer):
    """An answer about a picture, and what was done to the picture before it was read, if anything was."""

    remark: str


class TagsAnswer(DoorAnswer):
    """A tag for each word, how probable each is and all together; spans, where tags spell any, from word to word."""

    words: list[str]
    answers: list[str]
    probabilities: list[float]
    probability: float
    spans: list[tuple[str, int, int]] | None


class AnswersAnswer(DoorAnswer):
    """The answers; `inputs` are what each of them answers, where inputs were unfolded."""

    model: str
    seconds: float
    answers: list[OneAnswer] | list[StoryAnswer] | list[PictureAnswer] | list[TagsAnswer]
    inputs: list[str] | None = None


class WordNeighbours(DoorAnswer):
    """The words nearest to one, as `regard neighbours --json` has them: each with its cosine.

    `word` is what stood for the query, perhaps the same in another case.
    """

    query: str
    word: str
    neighbours: list[tuple[str, float]]


class NeighboursAnswer(DoorAnswer):
    """The neighbours of each word, in the order in which they were asked for."""

    model: str
    seconds: float
    words: list[WordNeighbours]


class AnalogyAnswer(DoorAnswer):
    """The word that completes an analogy, and those that come next to it, each with its cosine."""

    model: str
    seconds: float
    words: tuple[str, str, str]
    word: str
    neighbours: list[tuple[str, float]]


class MapAnswer(DoorAnswer):
    """Words in the plane, as the page of `regard map` takes them."""

    model: str
    seconds: float
    map: dict[str, Any]


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
    """What a model makes of a prompt: its last thousand tokens, and those that may come next, the likeliest first.

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


class EmbeddedLayer(DoorAnswer):
    """The vectors of one layer: of the whole text, and of each of its tokens; layer 0 is the plain embedding."""

    layer: int
    sentence: list[float]
    tokens: list[list[float]]


class EmbeddedText(DoorAnswer):
    """A text as tokens and words, and its vectors in every layer that was asked for."""

    tokens: list[str]
    words: list[str]
    word_of_token: list[int]
    layers: list[EmbeddedLayer]


class EmbedAnswer(DoorAnswer):
    model: str
    seconds: float
    texts: list[EmbeddedText]


class LookAnswer(DoorAnswer):
    """The looks of a model, for the view of that name; the remark says how a picture was changed before."""

    model: str
    seconds: float
    view: Literal["facts", "frames", "graph", "overlay", "slots", "strip", "strokes", "tinted", "windows"]
    looks: dict[str, Any]
    remark: str = ""
