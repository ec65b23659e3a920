"""Doors of the server as rooms declare them: address, body, answer, limits, price, and how a model works there.

A room's door declares only what is specific to it. The server reads requests, runs the queue and writes answers for all
doors.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict, Field, SecretStr

from regard.base.faults import Fault
from regard.base.recipe import Options
from regard.base.requests.rules import VerbRequest

JSON, FORM, TEXT, EVENTS = "application/json", "application/x-www-form-urlencoded", "text/plain", "text/event-stream"
Event = tuple[str, BaseModel]  # name and data
Tell = Callable[[str, BaseModel], None]  # receives an event, in the thread of the model


class Limits(Options):
    """Most that one request may ask for, and that may wait at one time."""

    body: int = Field(default=2**21, ge=1024, description="Most bytes in a request's body.")
    characters: int = Field(default=50_000, ge=1, description="Most characters in all texts of a request.")
    texts: int = Field(default=1000, ge=1, description="Most texts in a request.")
    sentence: int = Field(
        default=256, ge=8, description="Most tokens in a sentence; longer ones are split, or refused."
    )
    picture: int = Field(default=2**20, ge=1, description="Most bytes in a picture file.")
    sound: int = Field(default=1_500_000, ge=1, description="Most bytes in a sound file.")
    pixels: int = Field(default=16_000_000, ge=64, description="Most pixels in a picture, or in all frames of a video.")
    sound_seconds: float = Field(default=60.0, gt=0, le=600, description="Longest sound, in seconds.")
    speech_seconds: float = Field(
        default=3600.0, gt=0, description="Most seconds of speech in all answers to a request."
    )
    points: int = Field(default=20_000, ge=1, description="Most points in all strokes of a request.")
    beam: int = Field(default=16, ge=1, le=64, description="Largest beam size.")
    n_best: int = Field(default=16, ge=1, le=64, description="Most candidates for a sentence.")
    samples: int = Field(
        default=64,
        ge=2,
        le=1024,
        description="Most samples for minimum Bayes risk or for a prompt.",
    )
    tokens: int = Field(default=1000, ge=1, description="Most tokens to write after a prompt.")
    drawings: int = Field(default=64, ge=1, description="Most drawings in a request.")
    mapped: int = Field(default=1000, ge=2, description="Most words on a map.")
    weights: int = Field(
        default=2_000_000, ge=1, description="Most attention weights, or numbers of a forward pass, in one answer."
    )
    vectors: int = Field(default=2_000_000, ge=1, description="Most numbers of vectors in one answer.")
    units: int = Field(
        default=1000, ge=1, description="Most units of an input to explain: tokens, patches, frames, nodes."
    )
    examples: int = Field(
        default=0,
        ge=0,
        description="Most training texts to compare with at /v1/examples; 0 shows nobody any training text.",
    )
    nodes: int = Field(default=5000, ge=1, description="Most hypotheses of a beam in one answer.")
    seconds: float = Field(default=60.0, gt=0, le=3600, description="Most seconds for a request, including waiting.")
    waiting: int = Field(default=4096, ge=1, description="Most sentences that may wait for one model.")
    connections: int = Field(
        default=1000,
        ge=8,
        description="Most connections at a time; at most half of the files that the system lets a process open.",
    )
    requests: int = Field(default=0, ge=0, description="Most requests per minute from one client; 0 means no limit.")


class TooLarge(Fault):
    """An answer that would be larger than a limit allows."""


def check_amount(texts: Sequence[str], limits: Limits) -> None:
    """Refuse more text than a request may have."""
    if len(texts) > limits.texts:
        raise Fault(f"Invalid request: request ({len(texts)} texts) exceeds batch text limit ({limits.texts}).")
    characters = sum(map(len, texts))
    if characters > limits.characters:
        raise Fault(f"Invalid request: request ({characters}) exceeds text limit ({limits.characters}).")


def check_numbers(request: VerbRequest, names: Sequence[str], limits: Limits) -> None:
    """Refuse numbers of a request above the limits of the same names."""
    for name in names:
        value, most = getattr(request, name), getattr(limits, name)
        if value is not None and value > most:
            raise Fault(f"'{name}' is {value}, but the limit here is {most}.")


class ModelBody(VerbRequest):
    """The requested model, and the key of the client."""

    model: str | None = Field(default=None, description="Name of a model; by default the first that can do this.")
    api_key: SecretStr | None = Field(default=None, description="API key, if the server needs one.")


class LanguagesBody(ModelBody):
    """The requested translator."""

    model: str | None = Field(default=None, description="Name of a model; by default the languages choose one.")
    source: str | None = Field(default=None, description="Language of the text, or auto.")
    target: str | None = Field(default=None, description="Language to translate into.")


class DoorAnswer(BaseModel):
    """Base of all answers."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Rest(DoorAnswer):  # tokens that an answer does not name, and their total probability
    count: int
    probability: float


class Asked(Protocol):
    """A served model, as seen by doors."""

    @property
    def name(self) -> str: ...

    @property
    def reads(self) -> str:
        """Kind of its inputs."""

    @property
    def can(self) -> Sequence[str]:
        """Verbs that the model has."""

    @property
    def model(self) -> Any:
        """The loaded model."""

    @property
    def others(self) -> Mapping[str, "Asked"]:
        """All served models, by name."""

    def ask(self, request: VerbRequest, **more: Any) -> list[Any]:
        """Answer a request of a verb."""


Body = TypeVar("Body", bound=VerbRequest)


@dataclass(frozen=True)
class Question(Generic[Body]):
    """A question to a model at a door: a request, or those of its items that are processed together."""

    model: Asked
    body: Body
    limits: Limits
    texts: Sequence[str] = ()  # from the field that the door names
    began: float = 0.0  # when it was read, on the monotonic clock in seconds
    streams: bool = False  # True if the client wants events
    detected: Any = None  # detected language of a text, and its certainty
    first: int = 0  # number of its first item in the request


@dataclass(frozen=True)
class Price:
    """Unit in which a kind of work is counted, and its assumed speed before it is measured.

    A price counts what the work takes time for: tokens to read and to write, frames of sound, pixels, drawings. It
    never counts the bytes of a file, since a few may hold much. The queue measures how many units a model does per
    second, for each price separately. The speed given here is assumed until then, and errs on the slow side.
    """

    unit: str
    a_second: float  # units per second, on two cores
    ordinary: float = 0.0  # units of an item that always shares a turn with similar ones
    longest: float = 5.0  # longest time of these together, in turns


class Job(ABC):
    """The work of a request: items for the queue, and an answer made from their results."""

    model: Asked
    price: Price
    key: Hashable | None = None  # jobs with equal keys share batches; one without a key shares none
    items: Sequence[Any]
    noted: Mapping[str, Any] = {}  # further facts for the log
    characters: int = 0  # counted as translated
    tell: Tell | None = None  # receives the events of a stream while an item is processed

    @abstractmethod
    def costs(self) -> Sequence[float]:
        """Return the cost of each item, in the unit of the price."""

    @abstractmethod
    def work(self, items: list[Any]) -> list[Any]:
        """Return the results of items, which may belong to several jobs; called in the thread of the model."""

    @abstractmethod
    def answer(self, results: Sequence[Any]) -> BaseModel | bytes:
        """Return the answer, as a record or as JSON, from the results of all items in order."""

    def check(self, results: Mapping[int, Any]) -> Fault | None:
        """Return the refusal if the results are too large together; called after each result."""
        return None

    def begin(self) -> Iterable[Event]:
        """Return the events of a stream before any item is processed."""
        return ()

    def follow(self, place: int, result: Any) -> Iterable[Event]:
        """Return the events of a stream for the result of an item."""
        return ()

    @abstractmethod
    def end(self, results: Sequence[Any]) -> BaseModel:
        """Return the data of the last event of a stream."""


@dataclass(frozen=True)
class Bound:
    """A limit on all answers of a request together: its name, the size of one answer, and the refusal."""

    limit: str
    size: Callable[[Any], int]
    sentence: str  # with {some}, {size} and {limit}


@dataclass(frozen=True, kw_only=True)
class Door:
    """One address of the server, and its description in the interface.

    If it belongs to something that models `can` do, it is open if a served model can do it; otherwise it says what they
    can do. A door without a summary is left out of the description of the interface.
    """

    path: str
    method: Literal["GET", "POST"] = "POST"
    can: str | None = None
    summary: str = ""
    body: type[BaseModel] | None = None
    answer: type[BaseModel] | None = None
    is_list: bool = False  # True if there are several such answers
    body_kinds: tuple[str, ...] = (JSON,)
    other_kinds: tuple[str, ...] = ()  # content types of answers
    may_fail: tuple[int, ...] = ()  # statuses in addition to those of all doors


@dataclass(frozen=True)
class Stream:
    """The way to process an item while sending its events, and the record of the last event."""

    work: Callable[[Question[Any], Tell], Any]  # returns the result of the only item
    done: type[DoorAnswer]


def check_texts(question: Question[Any]) -> Any:
    """Refuse more text than a request may have, and return the body unchanged."""
    check_amount(question.texts, question.limits)
    return question.body


def _unchanged(question: Question[Any]) -> Any:
    return question.body


def _run(question: Question[Any]) -> list[Any]:
    return question.model.ask(question.body)


@dataclass(frozen=True, kw_only=True)
class VerbDoor(Door):
    """A door behind which a model works, in the thread that owns it.

    With `listed`, the items of a body are processed a few at a time, so that other requests can pass, and that list of
    the answer holds what `write` makes of each. Without it, the body is processed at once, and `work` returns the
    fields of the answer. The server adds the name of the model and the seconds. A verb that needs more brings a `job`.
    """

    body: type[VerbRequest]
    answer: type[BaseModel]
    price: Price
    costs: Callable[[Question[Any]], Sequence[float]] | None = None  # costs of the items, in the unit of the price
    texts: str = ""  # field whose texts are counted, also in the log
    ready: Callable[[Question[Any]], Any] = _unchanged  # refuses what is not allowed, and returns the body to process
    key: Callable[[Any], Hashable | None] = lambda body: None  # key of a body; bodies with equal keys share batches
    work: Callable[[Question[Any]], Any] = _run
    write: Callable[[Any], Any] = lambda result: result  # makes the record of one result
    listed: str = ""
    more: Callable[[Any], Mapping[str, Any]] = lambda body: {}  # further fields of an answer with a list
    bound: Bound | None = None
    stream: Stream | None = None
    job: Callable[[Question[Any]], Job] | None = None

    def __post_init__(self) -> None:
        if self.costs is None and self.job is None:
            raise TypeError(f"the door {self.path} does not say what its work costs")
