"""Doors of the server as rooms declare them: address, body, answer, limits, price, and how a model works there.

A room's door says what is its own. The server reads requests, keeps the queue and writes answers, for all doors alike.
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
Event = tuple[str, BaseModel]  # its name and its data
Tell = Callable[[str, BaseModel], None]  # what hears of an event, in the thread of the model


class Limits(Options):
    """The most that one request may ask for, and that may wait at one time."""

    body: int = Field(default=2**21, ge=1024, description="Bytes of a request's body.")
    characters: int = Field(default=50_000, ge=1, description="Characters of all texts of a request together.")
    texts: int = Field(default=1000, ge=1, description="Texts of a request.")
    sentence: int = Field(default=256, ge=8, description="Tokens of a sentence; longer ones are cut, or refused.")
    picture: int = Field(default=2**20, ge=1, description="Bytes of the file of a picture.")
    sound: int = Field(default=1_500_000, ge=1, description="Bytes of the file of a sound.")
    pixels: int = Field(
        default=16_000_000, ge=64, description="Pixels of a picture, or of all frames of a video together."
    )
    sound_seconds: float = Field(default=60.0, gt=0, le=600, description="Seconds that a sound lasts.")
    speech_seconds: float = Field(
        default=3600.0, gt=0, description="Seconds that the sounds spoken for a request may last together, at most."
    )
    points: int = Field(default=20_000, ge=1, description="Points of all strokes that a request gives.")
    beam: int = Field(default=16, ge=1, le=64, description="Width of a beam.")
    n_best: int = Field(default=16, ge=1, le=64, description="Candidates of a sentence.")
    samples: int = Field(
        default=64,
        ge=2,
        le=1024,
        description="Samples that minimum Bayes risk chooses among, or for a prompt.",
    )
    tokens: int = Field(default=1000, ge=1, description="Tokens that are written after a prompt.")
    drawings: int = Field(default=64, ge=1, description="Drawings of a request.")
    mapped: int = Field(default=1000, ge=2, description="Words on a map.")
    weights: int = Field(default=2_000_000, ge=1, description="Weights of attention in one answer.")
    vectors: int = Field(default=2_000_000, ge=1, description="Numbers of vectors in one answer.")
    nodes: int = Field(default=5000, ge=1, description="Hypotheses of a beam in one answer.")
    seconds: float = Field(default=60.0, gt=0, le=3600, description="Time for a request, waiting included.")
    waiting: int = Field(default=4096, ge=1, description="Sentences that may wait for one model.")
    connections: int = Field(
        default=1000,
        ge=8,
        description="Connections at a time, and at most half of the files that the system lets a process open.",
    )
    requests: int = Field(default=0, ge=0, description="Requests a minute of one client; 0 is as many as it likes.")


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
    """Refuse numbers of a request that are above the limits of the same names."""
    for name in names:
        value, most = getattr(request, name), getattr(limits, name)
        if value is not None and value > most:
            raise Fault(f"'{name}' is {value}, but the limit here is {most}.")


class ModelBody(VerbRequest):
    """Which model is asked, and by whom."""

    model: str | None = Field(default=None, description="The name of a model; without it, the first that can.")
    api_key: SecretStr | None = Field(default=None, description="The key, where one is needed.")


class LanguagesBody(ModelBody):
    """Which translator is asked."""

    model: str | None = Field(default=None, description="The name of a model; without it, the languages choose.")
    source: str | None = Field(default=None, description="The language of the text, or auto.")
    target: str | None = Field(default=None, description="The language to translate into.")


class DoorAnswer(BaseModel):
    """Base of all answers."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Rest(DoorAnswer):  # tokens that an answer does not name, and their probability together
    count: int
    probability: float


class Asked(Protocol):
    """A served model, as doors know it."""

    @property
    def name(self) -> str: ...

    @property
    def reads(self) -> str:
        """The kind of its inputs."""

    @property
    def can(self) -> Sequence[str]:
        """Verbs that the model has."""

    @property
    def model(self) -> Any:
        """The loaded model."""

    @property
    def others(self) -> Mapping[str, "Asked"]:
        """All models that are served, by name."""

    def ask(self, request: VerbRequest, **more: Any) -> list[Any]:
        """Answer a request of a verb, by what runs the verb."""


Body = TypeVar("Body", bound=VerbRequest)


@dataclass(frozen=True)
class Question(Generic[Body]):
    """A question to a model at a door: a request, or those of its items that are worked on together."""

    model: Asked
    body: Body
    limits: Limits
    texts: Sequence[str] = ()  # of the field that the door names
    began: float = 0.0  # when it was read, in seconds of the monotonic clock
    streams: bool = False  # whether the client wants events
    detected: Any = None  # the language that was found for a text, and how surely
    first: int = 0  # the number of the first item in its request


@dataclass(frozen=True)
class Price:
    """The unit that a kind of work is counted in, and what is believed of it before it is measured.

    A price counts what the work takes time for: tokens to read and to write, frames of sound, pixels, drawings. It
    never counts the bytes of a file, of which few may hold much. The queue measures how many units a model does in a
    second, for each price by itself; the speed given here is believed until then, and errs on the slow side.
    """

    unit: str
    a_second: float  # units, on two cores
    ordinary: float = 0.0  # units of an item that always shares a turn with others like it
    longest: float = 5.0  # times a turn's time that these may last together


class Job(ABC):
    """The work of a request: items for the queue, and an answer made of their results."""

    model: Asked
    price: Price
    key: Hashable | None = None  # jobs of equal keys share batches; one without shares none
    items: Sequence[Any]
    noted: Mapping[str, Any] = {}  # what the log says besides
    characters: int = 0  # that are counted as translated
    tell: Tell | None = None  # what hears of the events of a stream while an item is worked on

    @abstractmethod
    def costs(self) -> Sequence[float]:
        """Return what each item costs, in the unit of the price."""

    @abstractmethod
    def work(self, items: list[Any]) -> list[Any]:
        """Return the results of items, which may be of several jobs; called in the thread of the model."""

    @abstractmethod
    def answer(self, results: Sequence[Any]) -> BaseModel | bytes:
        """Return the answer, as a record or as JSON, from the results of all items in their order."""

    def check(self, results: Mapping[int, Any]) -> Fault | None:
        """Return the refusal of results that are too large together; asked whenever there is another."""
        return None

    def begin(self) -> Iterable[Event]:
        """Return the events of a stream before any item is worked on."""
        return ()

    def follow(self, place: int, result: Any) -> Iterable[Event]:
        """Return the events of a stream that the result of an item brings."""
        return ()

    @abstractmethod
    def end(self, results: Sequence[Any]) -> BaseModel:
        """Return the data of the last event of a stream."""


@dataclass(frozen=True)
class Bound:
    """A limit on all answers of a request together: its name, the size of one answer, and the refusal."""

    limit: str
    size: Callable[[Any], int]
    sentence: str  # of {some}, {size} and {limit}


@dataclass(frozen=True, kw_only=True)
class Door:
    """One address of the server, and how the interface describes it.

    Where it belongs to something that models `can` do, it is open if one that is served can; otherwise it says what
    they can. Without a summary the description of the interface does not have it.
    """

    path: str
    method: Literal["GET", "POST"] = "POST"
    can: str | None = None
    summary: str = ""
    body: type[BaseModel] | None = None
    answer: type[BaseModel] | None = None
    is_list: bool = False  # whether there are several such answers
    body_kinds: tuple[str, ...] = (JSON,)
    other_kinds: tuple[str, ...] = ()  # of answers
    may_fail: tuple[int, ...] = ()  # in what other ways than all do


@dataclass(frozen=True)
class Stream:
    """The way to work on an item while its events are told, and the record of the last event."""

    work: Callable[[Question[Any], Tell], Any]  # gives the result of the only item
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

    With `listed`, the items of a body are worked on some at a time, so that other requests can pass, and that list of
    the answer has what is written of each. Without it the body is worked on at once, and `work` gives the fields of
    the answer. The server adds the name of the model and the seconds. A verb that needs more brings a `job`.
    """

    body: type[VerbRequest]
    answer: type[BaseModel]
    price: Price
    costs: Callable[[Question[Any]], Sequence[float]] | None = None  # of the items, in the unit of the price
    texts: str = ""  # the field whose texts are counted, also in the log
    ready: Callable[[Question[Any]], Any] = _unchanged  # refuses what is not granted, and gives the body to work on
    key: Callable[[Any], Hashable | None] = lambda body: None  # of a body; equal ones share batches
    work: Callable[[Question[Any]], Any] = _run
    write: Callable[[Any], Any] = lambda result: result  # the record of one result
    listed: str = ""
    more: Callable[[Any], Mapping[str, Any]] = lambda body: {}  # other fields of an answer with a list
    bound: Bound | None = None
    stream: Stream | None = None
    job: Callable[[Question[Any]], Job] | None = None

    def __post_init__(self) -> None:
        if self.costs is None and self.job is None:
            raise TypeError(f"the door {self.path} does not say what its work costs")
