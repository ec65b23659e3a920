"""From a request to a plan, which sentences of several requests can share, and to the sentences it is for. No torch."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from regard.base.faults import Fault
from regard.data.corpora.sentences import Sentence
from regard.decoding.options import DecodingOptions, change_options
from regard.engines.fast import CALLED
from regard.engines.plain_beam import first_unsupported
from regard.engines.translated import Cutting, Translated, join_sentences, line_key
from regard.verbs.translate.request import (
    BEYOND_A_PLAIN_BEAM,
    CHANNEL_WEIGHT,
    FUSE_WEIGHT,
    PRIOR_WEIGHT,
    SAMPLES,
    TranslateRequest,
)

Engine = Literal["ctranslate2", "onnx", "torch"]


@dataclass(frozen=True)
class Plan:
    """How sentences are translated; those with equal plans can be translated together."""

    engine: Engine
    options: DecodingOptions
    explained: bool = True  # whether tokens, their scores and the alignment are wanted
    draws: bool = False
    begins: bool = False  # whether sentences say how their outputs begin
    requires: bool = False  # and what they must have
    forced: bool = False  # whether outputs are given, and only to be scored
    before: tuple[str, ...] | None = None  # the exact tokens that outputs go on from
    forbidden: tuple[str, ...] = ()
    allowed: tuple[str, ...] | None = None
    risk: str | None = None
    channel: tuple[str, float] | None = None
    fuse: tuple[str, float] | None = None  # the name of a language model, and how much it counts
    prior: tuple[str, float] | None = None  # the same of one that reranks beside the channel
    together: tuple[str, ...] = ()
    dictionary: tuple[tuple[str, str], ...] | None = None  # by which unknown words are replaced, if they are
    count: int = 1  # candidates that are given in the end

    @property
    def rows(self) -> int:
        """Outputs that are written at the same time for one sentence."""
        return 1 if self.forced else self.options.sampling.samples if self.draws else self.options.beam


@dataclass(frozen=True)
class Piece:
    """One sentence to translate, and what is asked of its output."""

    text: str
    key: int = 0  # what sampling depends on beside the seed
    prefix: str = ""
    required: tuple[str, ...] = ()
    output: str = ""  # if it is given


def number_of_outputs(request: TranslateRequest, decoding: DecodingOptions) -> int:
    """Candidates that each text is given, where the model's recipe asks for this search."""
    return request.n_best or (1 if request.draws or request.forced is not None else decoding.n_best)


def plan_for(
    request: TranslateRequest, decoding: DecodingOptions, fast: Callable[[], Literal["ctranslate2", "onnx"] | None]
) -> Plan:
    """How a model whose recipe asks for this search is to translate what is asked for.

    `fast` names the engine of its export, if it has one; it is called only where that engine might be taken.
    """
    refuse_idle(
        fuse=request.fuse,
        fuse_weight=request.fuse_weight,
        channel=request.channel,
        prior=request.prior,
        prior_weight=request.prior_weight,
    )
    options, count = _options(request, decoding), number_of_outputs(request, decoding)
    channel_weight = CHANNEL_WEIGHT if request.channel_weight is None else request.channel_weight
    fuse_weight = FUSE_WEIGHT if request.fuse_weight is None else request.fuse_weight
    prior_weight = PRIOR_WEIGHT if request.prior_weight is None else request.prior_weight
    return Plan(
        _engine(request, options, fast),
        options,
        explained=request.explain,
        draws=request.draws,
        begins=request.prefix is not None,
        requires=request.required is not None,
        forced=request.forced is not None,
        before=None if request.before is None else tuple(request.before),
        forbidden=tuple(request.forbidden),
        allowed=None if request.vocabulary is None else tuple(request.vocabulary),
        risk=request.mbr,
        channel=None if request.channel is None else (request.channel, channel_weight),
        fuse=None if request.fuse is None else (request.fuse, fuse_weight),
        prior=None if request.prior is None else (request.prior, prior_weight),
        together=tuple(request.together),
        dictionary=tuple(request.dictionary.items()) if request.replace_unknown else None,
        count=count,
    )


def refuse_idle(
    *, fuse: object, fuse_weight: float | None, channel: object, prior: object, prior_weight: float | None
) -> None:
    """Refuse what would do nothing; as rules of a request these are too many for generators of requests."""
    if prior is not None and channel is None:
        raise Fault("A prior reranks beside a channel model; name a channel model too.")
    if prior_weight is not None and prior is None:
        raise Fault("The weight of a prior would do nothing without a prior.")
    if fuse_weight is not None and fuse is None:
        raise Fault("The weight of a fusion would do nothing without a language model to fuse with.")


def _options(request: TranslateRequest, decoding: DecodingOptions) -> DecodingOptions:
    given = {**request.search, "beam": request.beam, "length_penalty": request.length_penalty}
    count: int | None = number_of_outputs(request, decoding)
    if request.channel is not None:  # which chooses from all that the beam has found
        beam = change_options(decoding, given | {"n_best": 1}, None).beam
        if number_of_outputs(request, decoding) > beam:
            raise Fault(f"A beam of {beam} cannot give the {count} best; widen it.")
        count = beam
    elif request.mbr is not None:
        count = request.samples or SAMPLES
    elif not request.draws and request.n_best is None:
        count = None
    sample = None
    if request.draws:
        sample = request.sample.model_dump(exclude_unset=True) if request.sample else {}
    return change_options(decoding, given | {"n_best": count}, sample)


def _engine(
    request: TranslateRequest, options: DecodingOptions, fast: Callable[[], Literal["ctranslate2", "onnx"] | None]
) -> Engine:
    """The engine of the export where it is there and can do all that is asked, else torch."""
    beyond = first_unsupported(options)
    if beyond and request.engine not in ("auto", "torch"):
        raise Fault(f"{CALLED[request.engine]} cannot do '{beyond}'; omit it, or translate with torch.")
    if request.engine == "torch" or beyond or request.has_any(*BEYOND_A_PLAIN_BEAM):
        return "torch"
    return fast() or "torch"


@dataclass(frozen=True)
class Job:
    """The sentences of a request's texts, and the plan by which they are translated."""

    plan: Plan
    cut: list[list[Sentence]]
    places: list[tuple[int, int]]  # of the sentences that are worked on: which text, which of its sentences
    pieces: list[Piece]  # those sentences

    def join(self, found: Sequence[Translated]) -> list[Translated]:
        """The translations of the texts from those of the pieces."""
        parts = dict(zip(self.places, found, strict=True))
        return [
            join_sentences(
                sentences,
                [parts.get((index, place)) or leave_untranslated(each.text) for place, each in enumerate(sentences)],
            )
            for index, sentences in enumerate(self.cut)
        ]


def is_written(text: str) -> bool:
    """Whether a text is more than white space."""
    return bool(text.strip())


def job_for(
    request: TranslateRequest,
    plan: Plan,
    cutting: Cutting,
    first: int = 0,
    has_work: Callable[[str], bool] = is_written,
) -> Job:
    """The sentences of a request; what is drawn depends on the numbers of its texts, which begin with `first`.

    Sentences without work are not translated, unless their outputs are given and to be scored.
    """
    cut, places, pieces = [cutting(text) for text in request.text], list[tuple[int, int]](), list[Piece]()
    for index, sentences in enumerate(cut):
        for place, sentence in enumerate(sentences):
            if plan.forced or has_work(sentence.text):
                places.append((index, place))
                pieces.append(_piece(request, index, sentence.text, line_key(first + index, place)))
    return Job(plan, cut, places, pieces)


def _piece(request: TranslateRequest, index: int, text: str, key: int) -> Piece:
    """A sentence of one text, with what is asked of it."""
    required = request.required or []
    if required and isinstance(required[0], list):
        required = _one_for(required, index)
    phrases = tuple(phrase for phrase in required if isinstance(phrase, str))
    return Piece(text, key, _one_for(request.prefix, index) or "", phrases, _one_for(request.forced, index) or "")


def _one_for(given: Sequence[Any] | None, index: int) -> Any:
    """What is given for all texts, or for this one."""
    return None if not given else given[0] if len(given) == 1 else given[index]


def leave_untranslated(text: str) -> Translated:
    """The translation of what no model is asked about; white space alone becomes nothing."""
    text = text if text.strip() else ""
    return Translated(text, 0.0, [], [0.0], [(text, 0.0)], list)
