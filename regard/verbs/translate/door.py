"""The door for translation: texts are split into sentences, translated in the model's thread, and joined again."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any

from pydantic import Field

from regard.base.doors import (
    EVENTS,
    DoorAnswer,
    Event,
    Job,
    LanguagesBody,
    Limits,
    Price,
    Question,
    VerbDoor,
    check_amount,
    check_numbers,
)
from regard.base.faults import Fault, TextFault
from regard.data.corpora.sentences import Sentence
from regard.engines.exported import CTRANSLATE2
from regard.engines.fast import CALLED
from regard.engines.translated import Translated, join_sentences
from regard.verbs.generate.door import check_draft, find_language_model
from regard.verbs.translate.plan import Plan, is_written, job_for, leave_untranslated
from regard.verbs.translate.request import DRAFTS, TranslateRequest


class TranslateBody(TranslateRequest, LanguagesBody):
    """Texts to translate, the model and the options; defaults come from the model's recipe."""

    stream: bool = Field(default=False, description="Answer sentence by sentence with server-sent events.")


class Detection(DoorAnswer):
    language: str
    confidence: float


class Candidate(DoorAnswer):
    text: str
    score: float | None


class Span(DoorAnswer):
    """A range of a text, in code points."""

    start: int
    end: int


class SourceSpan(Span):
    text: str


class Explained(DoorAnswer):
    """A translation as `regard translate --json` prints it."""

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
    """The first event of a stream: how the texts were split."""

    model: str
    source: str
    target: str
    engine: str
    detected: Detection | None
    texts: list[list[SourceSpan]]


class Told(Explained):
    """The event for a text after all its sentences."""

    index: int
    spans: list[Span]


class Over(DoorAnswer):
    """The last event of a stream."""

    seconds: float


@dataclass(frozen=True)
class Finished:
    """A finished sentence: the number of its text, its place in it, its translation, and the seconds it took."""

    index: int
    sentence: int
    translated: Translated
    seconds: float


_PRICE = Price("tokens, to read and to write in each row of the search", 1000, ordinary=250)
# CTranslate2 is faster, but cannot be interrupted.
_PRICE_BY_CTRANSLATE2 = Price("tokens, as above, by CTranslate2", 1000, ordinary=250, longest=1.0)


class TranslateJob(Job):
    """The sentences of a request, the plan for translating them, and the joining of their texts."""

    def __init__(
        self, question: Question[Any], plan: Plan | None = None, has_work: Callable[[str], bool] = is_written
    ) -> None:
        request, self.question = question.body, question
        self.model = question.model
        self.plan = self.key = plan or plan_within(question)
        cutting = self.translator.cutting(request, question.limits.sentence)
        job = job_for(request, self.plan, cutting, has_work=has_work)
        self.cut, self.places, self.items = job.cut, job.places, job.pieces
        self.price = _PRICE_BY_CTRANSLATE2 if self.plan.engine == CTRANSLATE2 else _PRICE
        self.characters, self.noted = sum(map(len, request.text)), {"sentences": len(job.pieces)}
        self._told: list[dict[int, Finished]] = [{} for _ in self.cut]  # by text, in a stream

    @property
    def translator(self) -> Any:
        """The model, which is a translator."""
        return self.model

    def costs(self) -> list[float]:
        """Return the costs of sentences: their tokens to read, and as many to write in every row of the search.

        Outputs are about as long as their sources; the limits on length are hardly ever reached.
        """
        plan = self.plan
        helpers = (plan.channel, plan.prior, plan.fuse, plan.draft)
        models = 1 + len(plan.together) + sum(helper is not None for helper in helpers)
        encoded = self.translator.tokenisers[0].encode_all([piece.text for piece in self.items])
        return [float((len(tokens) + 1) * (1 + plan.rows) * models) for tokens in encoded]

    def work(self, items: list[Any]) -> list[tuple[Translated, float]]:
        """Return the translations of sentences with the time they were finished.

        The sentences may belong to several requests, so errors do not give their numbers.
        """
        try:
            translations = self.translator.run(self.plan, items)
        except TextFault as fault:
            raise fault.without_number() from None
        now = time.monotonic()
        return [(translated, now) for translated in translations]

    def _finish(self, number: int, result: tuple[Translated, float]) -> Finished:
        translated, ended = result
        return Finished(*self.places[number], translated, self._seconds(ended))

    def _seconds(self, until: float) -> float:
        return round(until - self.question.began, 6)

    @cached_property
    def _idle(self) -> list[Finished]:
        """Sentences that need no translation and stay unchanged."""
        places = set(self.places)
        return [
            Finished(index, place, leave_untranslated(sentence.text), 0.0)
            for index, sentences in enumerate(self.cut)
            for place, sentence in enumerate(sentences)
            if (index, place) not in places
        ]

    def finished(self, results: Sequence[tuple[Translated, float]]) -> list[list[Finished]]:
        """Return all sentences of each text, in order."""
        done = [*self._idle, *(self._finish(number, result) for number, result in enumerate(results))]
        texts: list[list[Finished]] = [[] for _ in self.cut]
        for sentence in sorted(done, key=lambda sentence: sentence.sentence):
            texts[sentence.index].append(sentence)
        return texts

    def answer(self, results: Sequence[tuple[Translated, float]]) -> TranslateAnswer:
        translations = [self._translation(index, sentences) for index, sentences in enumerate(self.finished(results))]
        return TranslateAnswer(**self._headline, seconds=self._seconds(time.monotonic()), translations=translations)

    # A stream: the split of the texts, each sentence, each text, the end

    def begin(self) -> Iterator[Event]:
        yield "start", Begun(**self._headline, texts=self._spans)
        for sentence in self._idle:
            yield from self._tell(sentence)

    def follow(self, place: int, result: tuple[Translated, float]) -> Iterator[Event]:
        yield from self._tell(self._finish(place, result))

    def _tell(self, sentence: Finished) -> Iterator[Event]:
        yield "sentence", self._sentence(sentence)
        sentences = self._told[sentence.index]
        sentences[sentence.sentence] = sentence
        if len(sentences) == len(self.cut[sentence.index]):
            translated, spans = self._whole(sentence.index, [sentences[place] for place in sorted(sentences)])
            yield "translation", Told(**self._explain(translated), index=sentence.index, spans=spans)

    def end(self, results: Sequence[tuple[Translated, float]]) -> Over:
        return Over(seconds=self._seconds(time.monotonic()))

    # Records

    @property
    def _headline(self) -> dict[str, Any]:
        """The first fields of every answer."""
        detected = self.question.detected
        return {
            "model": self.model.name,
            "source": self.translator.source,
            "target": self.translator.target,
            "engine": self.plan.engine,
            "detected": detected and Detection(language=detected.language, confidence=detected.confidence),
        }

    @cached_property
    def _spans(self) -> list[list[SourceSpan]]:
        return [source_spans(sentences) for sentences in self.cut]

    def _whole(self, index: int, sentences: Sequence[Finished]) -> tuple[Translated, list[Span]]:
        """Return the translation of a text, and the spans of its sentences."""
        translated = join_sentences(self.cut[index], [sentence.translated for sentence in sentences])
        return translated, spans_in(translated.text, [sentence.translated.text for sentence in sentences])

    def _translation(self, index: int, sentences: Sequence[Finished]) -> TranslationAnswer:
        translated, spans = self._whole(index, sentences)
        answers = [self._sentence(sentence, span) for sentence, span in zip(sentences, spans, strict=True)]
        return TranslationAnswer(**self._explain(translated), sentences=answers)

    def _sentence(self, finished: Finished, span: Span | None = None) -> SentenceAnswer:
        return SentenceAnswer(
            **self._explain(finished.translated),
            index=finished.index,
            sentence=finished.sentence,
            source=self._spans[finished.index][finished.sentence],
            span=span,
            seconds=finished.seconds,
        )

    def _explain(self, translated: Translated) -> dict[str, Any]:
        return {
            "text": translated.text,
            "score": translated.score,
            "tokens": translated.tokens if self.plan.explained else [],
            "token_scores": translated.token_scores if self.plan.explained else [],
            "language_scores": translated.language_scores,
            "unsure": translated.unsure,
            "alignment": translated.alignment if self.plan.explained else [],
            "n_best": [Candidate(text=text, score=score) for text, score in translated.n_best],
        }


def source_spans(sentences: Sequence[Sentence]) -> list[SourceSpan]:
    """Return the span of each sentence in its text."""
    ends = list(accumulate(len(before) + len(text) + len(after) for before, text, after in sentences))
    begins = [0, *ends[:-1]]
    return [
        SourceSpan(
            start=begin + len(sentence.before),
            end=begin + len(sentence.before) + len(sentence.text),
            text=sentence.text,
        )
        for begin, sentence in zip(begins, sentences, strict=True)
    ]


def spans_in(text: str, parts: Sequence[str]) -> list[Span]:
    """Return the span of each part in the text they were joined into, with white space between them."""
    spans, place = [], 0
    for part in parts:
        start = max(text.find(part, place), place) if part else place
        place = start + len(part)
        spans.append(Span(start=start, end=place))
    return spans


def plan_within(question: Question[TranslateRequest]) -> Plan:
    """Return the plan for a request; refuse what this model or server does not allow."""
    request, limits = question.body, question.limits
    model: Any = question.model
    _check_limits(request, limits)
    if request.engine != "auto" and request.engine not in model.engines:
        engine, engines = CALLED[request.engine], " or ".join(model.engines)
        raise Fault(f"The model {model.name} is not served by {engine}; ask for {engines}.")
    translators = [name for name, other in model.others.items() if "translate" in other.can]
    for name in (*request.together, *([] if request.channel is None else [request.channel])):
        if name not in translators:
            raise Fault(f"There is no model {str(name)[:40]!r} here; there are {', '.join(translators)}.")
    for language_model in (request.fuse, request.prior):
        if language_model is not None:
            find_language_model(model, str(language_model))
    if request.draft is not None:
        check_draft(model, request.draft, DRAFTS)
    plan: Plan = model.plan(request)
    if plan.options.beam > limits.beam:
        raise Fault(f"The beam is {plan.options.beam} wide; here it may be at most {limits.beam}.")
    return plan


def _check_limits(request: TranslateRequest, limits: Limits) -> None:
    check_amount(request.text, limits)
    check_numbers(request, ("beam", "n_best", "samples"), limits)
    more = [*request.forbidden, *(request.vocabulary or []), *(request.prefix or []), *(request.forced or [])]
    more += [f"{word}{translation}" for word, translation in request.dictionary.items()]
    phrases = request.required or []
    more += [text for phrase in phrases for text in ([phrase] if isinstance(phrase, str) else phrase)]
    if len(more) > limits.texts or sum(map(len, more)) > limits.characters:
        raise Fault("Prefixes, phrases, outputs and words of a dictionary are more than is allowed here; give fewer.")


DOORS = (
    VerbDoor(
        path="/v1/translate",
        can="translate",
        summary="Translate, with all options of the command line.",
        body=TranslateBody,
        answer=TranslateAnswer,
        other_kinds=(EVENTS,),
        texts="text",
        price=_PRICE,
        job=TranslateJob,
    ),
)
