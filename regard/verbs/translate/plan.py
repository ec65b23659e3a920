"""From a request to its plan, which sentences of several requests can share, and to its sentences. No torch."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

from regard.base.faults import Fault, faults_numbered
from regard.data.corpora.sentences import Sentence
from regard.data.tokenisers.tokeniser import Tokeniser
from regard.decoding.options import DecodingOptions, DrawOptions, change_options, refuse_speculation
from regard.engines.beam_rules import first_unsupported
from regard.engines.fast import CALLED
from regard.engines.translated import Cutting, Translated, join_sentences, line_key
from regard.verbs.translate.request import (
    BEYOND_A_PLAIN_BEAM,
    CHANNEL_WEIGHT,
    FUSE_WEIGHT,
    PRIOR_WEIGHT,
    SAMPLES,
    ModelName,
    TranslateRequest,
    refuse_idle,
)

Engine = Literal["ctranslate2", "onnx", "torch"]


@dataclass(frozen=True)
class Plan:
    """Plan for translating texts; those with equal plans can be translated together."""

    options: DecodingOptions
    engine: Engine = "torch"
    explained: bool = True  # include tokens, their scores and the alignment
    draws: bool = False
    begins: bool = False  # pieces have prefixes
    requires: bool = False  # pieces have required phrases
    forced: bool = False  # outputs are given and only scored
    before: tuple[str, ...] | None = None  # the exact tokens that outputs continue
    forbidden: tuple[str, ...] = ()
    allowed: tuple[str, ...] | None = None
    risk: str | None = None
    channel: tuple[ModelName, float] | None = None  # a model of the reverse direction, and its weight
    fuse: tuple[ModelName, float] | None = None  # a language model in the search, and its weight
    prior: tuple[ModelName, float] | None = None  # a language model that reranks with the channel, and its weight
    draft: ModelName | None = None  # proposes tokens for the model to check
    together: tuple[str, ...] = ()
    dictionary: tuple[tuple[str, str], ...] | None = None  # translations for unknown words, if these are replaced
    count: int = 1  # candidates to return

    @property
    def rows(self) -> int:
        """Number of outputs written at the same time for one text."""
        return 1 if self.forced else self.options.sampling.samples if self.draws else self.options.beam

    @property
    def is_searched(self) -> bool:
        """True if outputs come from a search; sampled and forced outputs do not show how sure a model is."""
        return not (self.draws or self.forced)


@dataclass(frozen=True)
class Piece:
    """A text to translate as a whole, and the constraints on its output."""

    text: str
    key: int = 0  # sampling depends on it and on the seed
    prefix: str = ""
    required: tuple[str, ...] = ()
    output: str = ""  # a forced output


def number_of_outputs(request: TranslateRequest, decoding: DecodingOptions) -> int:
    """Return the number of candidates for each text, given the search options of the model's recipe."""
    drawing: Any = request.sample
    if request.n_best is None and isinstance(drawing, Mapping):  # from Python, where it may also give the number
        samples: int = drawing.get("samples", decoding.sampling.samples)
        return samples
    usual = 1 if request.draws or request.forced is not None else decoding.n_best
    return usual if request.n_best is None else request.n_best


def plan_for(
    request: TranslateRequest,
    decoding: DecodingOptions,
    fast: Callable[[], Literal["ctranslate2", "onnx"] | None] = lambda: None,
) -> Plan:
    """Return the plan for a request, given the search options of the model's recipe.

    `fast` names the engine of its export, if it has one; it is called only if that engine could be used.
    """
    refuse_idle(request)
    count = number_of_outputs(request, decoding)
    if request.draft is not None and count > 1 and not request.draws:
        raise Fault("A draft is for greedy search, which gives one output; omit the draft or ask for one.")
    options = _options(request, decoding)
    if request.draft is not None:
        refuse_speculation(options, request.draws)
    return Plan(
        options,
        _engine(request, options, fast),
        explained=request.explain,
        draws=request.draws,
        begins=request.prefix is not None,
        requires=request.required is not None,
        forced=request.forced is not None,
        before=None if request.before is None else tuple(request.before),
        forbidden=tuple(request.forbidden),
        allowed=None if request.vocabulary is None else tuple(request.vocabulary),
        risk=request.mbr,
        channel=_weighted("channel model", request.channel, request.channel_weight, CHANNEL_WEIGHT),
        fuse=_weighted("fusion", request.fuse, request.fuse_weight, FUSE_WEIGHT),
        prior=_weighted("prior", request.prior, request.prior_weight, PRIOR_WEIGHT),
        draft=request.draft,
        together=tuple(request.together),
        dictionary=tuple(request.dictionary.items()) if request.replace_unknown else None,
        count=count,
    )


def _weighted(what: str, model: ModelName | None, weight: float | None, usual: float) -> tuple[ModelName, float] | None:
    if model is None:
        return None
    weight = usual if weight is None else weight
    if not (math.isfinite(weight) and weight >= 0):
        raise Fault(f"The weight of a {what} is {weight}; give a number of at least 0.")
    return model, weight


def _options(request: TranslateRequest, decoding: DecodingOptions) -> DecodingOptions:
    changes = {**request.search, "beam": request.beam, "length_penalty": request.length_penalty}
    if request.draft is not None and "beam" not in request.search and request.beam is None:
        changes["beam"] = 1  # a draft is for greedy search
    count: int | None = number_of_outputs(request, decoding)
    if request.channel is not None:  # which chooses among all outputs of the beam
        beam = change_options(decoding, changes | {"n_best": 1}, None).beam
        if number_of_outputs(request, decoding) > beam:
            raise Fault(f"A beam of {beam} cannot give the {count} best outputs; widen it.")
        count = beam
    elif request.mbr is not None:
        count = request.samples or SAMPLES
    elif not request.draws and request.n_best is None:
        count = None
    sample: Any = request.sample  # a table when it comes from Python
    if isinstance(sample, DrawOptions):
        sample = sample.model_dump(exclude_unset=True)
    return change_options(decoding, changes | {"n_best": count}, (sample or {}) if request.draws else None)


def _engine(
    request: TranslateRequest, options: DecodingOptions, fast: Callable[[], Literal["ctranslate2", "onnx"] | None]
) -> Engine:
    """Return the engine of the export if it exists and can do everything, else torch."""
    beyond = first_unsupported(options)
    if beyond and request.engine not in ("auto", "torch"):
        raise Fault(f"{CALLED[request.engine]} cannot do '{beyond}'; omit it, or translate with torch.")
    if request.engine == "torch" or beyond or request.has_any(*BEYOND_A_PLAIN_BEAM):
        return "torch"
    return fast() or "torch"


@dataclass(frozen=True)
class Job:
    """The sentences of a request's texts, and the plan to translate them."""

    plan: Plan
    cut: list[list[Sentence]]
    places: list[tuple[int, int]]  # of the sentences to translate: number of the text, number of its sentence
    pieces: list[Piece]  # those sentences

    def join(self, translations: Sequence[Translated]) -> list[Translated]:
        """Return the translations of the texts, joined from those of the pieces."""
        parts = dict(zip(self.places, translations, strict=True))
        return [
            join_sentences(
                sentences,
                [
                    parts.get((index, place)) or leave_untranslated(sentence.text)
                    for place, sentence in enumerate(sentences)
                ],
            )
            for index, sentences in enumerate(self.cut)
        ]

    @contextmanager
    def faults(self) -> Iterator[None]:
        """Report what is wrong with a sentence by the number of its text."""
        with faults_numbered([index for index, _ in self.places]):
            yield


def is_written(text: str) -> bool:
    """Return True if a text is more than white space."""
    return bool(text.strip())


def job_for(
    request: TranslateRequest,
    plan: Plan,
    cutting: Cutting,
    first: int = 0,
    has_work: Callable[[str], bool] = is_written,
) -> Job:
    """Return the job of a request; samples depend on the numbers of its texts, which begin with `first`.

    Sentences without work are not translated, unless their outputs are forced.
    """
    cut, places, pieces = [cutting(text) for text in request.text], list[tuple[int, int]](), list[Piece]()
    for index, sentences in enumerate(cut):
        for place, sentence in enumerate(sentences):
            if plan.forced or has_work(sentence.text):
                places.append((index, place))
                pieces.append(_piece(request, index, sentence.text, line_key(first + index, place)))
    return Job(plan, cut, places, pieces)


def _piece(request: TranslateRequest, index: int, text: str, key: int) -> Piece:
    """Return a sentence of one text with its constraints."""
    required = request.required or []
    if required and isinstance(required[0], list):
        required = _one_for(required, index)
    phrases = tuple(phrase for phrase in required if isinstance(phrase, str))
    return Piece(text, key, _one_for(request.prefix, index) or "", phrases, _one_for(request.forced, index) or "")


def cutting_for(request: TranslateRequest, language: str, source: Tokeniser, longest: int) -> Cutting:
    """Return how to split a request's texts into sentences of at most `longest` tokens, including the end."""
    return Cutting(
        language, lambda text: len(source.encode(text)) + 1, longest, request.splits_sentences, request.long_texts
    )


def whole_pieces(request: TranslateRequest) -> list[Piece]:
    """Return the texts of a request as whole pieces; constraints are given for none of them or for each."""
    for name, values in (("prefixes", request.prefix), ("lists of required phrases", request.required)):
        if values and len(values) != len(request.text):
            raise Fault(f"There are {len(values)} {name} for {len(request.text)} texts; give one for each.")
    return [_piece(request, index, text, index) for index, text in enumerate(request.text)]


def whole_texts(texts: Sequence[str]) -> list[Piece]:
    """Return texts as pieces without constraints."""
    return [Piece(text, number) for number, text in enumerate(texts)]


def _one_for(values: Sequence[Any] | None, index: int) -> Any:
    """Return the value for all texts, or for this one."""
    return None if not values else values[0] if len(values) == 1 else values[index]


def leave_untranslated(text: str) -> Translated:
    """Return an untranslated text as its own translation; white space alone becomes empty."""
    text = text if text.strip() else ""
    return Translated(text, 0.0, [], [0.0], [(text, 0.0)], list)
