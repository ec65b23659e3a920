"""The door of translating: texts are cut into sentences, worked on by the model's thread, and put together again."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import accumulate
from typing import Any, TypeVar

from starlette.requests import Request
from starlette.responses import Response

from regard.data.corpora.sentences import Sentence
from regard.engines.translated import Translated, join_sentences
from regard.serving.catalogue import Catalogue
from regard.serving.doors.bodies import TranslateBody
from regard.serving.doors.door import EVENTS, Door, Service
from regard.serving.doors.limits import check_amount, plan_within
from regard.serving.doors.records import (
    Begun,
    Candidate,
    Detection,
    DoorAnswer,
    Over,
    SentenceAnswer,
    SourceSpan,
    Span,
    Told,
    TranslateAnswer,
    TranslationAnswer,
)
from regard.serving.http.bodies import read_json
from regard.serving.http.refusals import read_request
from regard.serving.http.replies import Event, EventStream, json_response, note_failure
from regard.serving.languages import Detected
from regard.serving.served import ServedTranslator
from regard.verbs.translate.plan import Job, Plan, is_written, job_for, leave_untranslated
from regard.verbs.translate.request import TranslateRequest

_PATH = "/v1/translate"
_AT_ONCE = 2000  # characters that are worked on without leaving the event loop
T = TypeVar("T")


@dataclass(frozen=True)
class Finished:
    """A sentence that is finished: its text and its place in it, its translation, and the seconds it took."""

    index: int
    sentence: int
    translated: Translated
    seconds: float


@dataclass(frozen=True)
class ServedJob(Job):
    """The same with the model that does it, and when it was asked for."""

    model: ServedTranslator
    detected: Detected | None = None
    began: float = field(default_factory=time.monotonic)

    @property
    def seconds(self) -> float:
        return round(time.monotonic() - self.began, 6)

    @cached_property
    def spans(self) -> list[list[SourceSpan]]:
        """Where each sentence stands in its text."""
        return [source_spans(sentences) for sentences in self.cut]


async def beside(work: Callable[[], T], texts: Sequence[str]) -> T:
    """What work on texts gives; much text is worked on in another thread, so that others are not kept waiting."""
    return work() if sum(map(len, texts)) <= _AT_ONCE else await asyncio.to_thread(work)


async def prepare(catalogue: Catalogue, body: TranslateBody) -> ServedJob:
    """What a request to /v1/translate comes to."""
    began, limits = time.monotonic(), catalogue.options.limits
    check_amount(body.text, limits)
    # In another thread, because finding the language takes a second the first time.
    model, detected = await asyncio.to_thread(catalogue.choose, body, "\n".join(body.text))
    job = await served_job(catalogue, body, model, plan_within(limits, body, model))
    return replace(job, detected=detected, began=began)


async def served_job(
    catalogue: Catalogue,
    request: TranslateRequest,
    model: ServedTranslator,
    plan: Plan,
    has_work: Callable[[str], bool] = is_written,
) -> ServedJob:
    """What a request comes to that a model is asked."""
    cutting = model.cutting(request, catalogue.options.limits.sentence)
    job = await beside(lambda: job_for(request, plan, cutting, has_work=has_work), request.text)
    catalogue.metrics.characters.labels(model.name).inc(sum(map(len, request.text)))
    return ServedJob(**vars(job), model=model)


async def finished_sentences(catalogue: Catalogue, job: ServedJob) -> AsyncGenerator[Finished, None]:
    """Each sentence when it is finished; those that nobody works on stay as they are, and come at once."""
    waiting = set(job.places)
    for index, sentences in enumerate(job.cut):
        for place, sentence in enumerate(sentences):
            if (index, place) not in waiting:
                yield Finished(index, place, leave_untranslated(sentence.text), 0.0)
    if not job.pieces:
        return
    costs = await beside(partial(catalogue.costs, _PATH, job.model, job), [piece.text for piece in job.pieces])
    work = partial(job.model.run, job.plan)
    answers = catalogue.each(_PATH, job.model, job, job.plan, work, job.pieces, costs)
    async with aclosing(answers):
        async for number, translated in answers:
            yield Finished(*job.places[number], translated, job.seconds)


async def all_finished(catalogue: Catalogue, job: ServedJob) -> list[list[Finished]]:
    """All sentences of each text, in their order."""
    found: list[list[Finished | None]] = [[None] * len(sentences) for sentences in job.cut]
    async with aclosing(finished_sentences(catalogue, job)) as coming:
        async for each in coming:
            found[each.index][each.sentence] = each
    return [[each for each in own if each is not None] for own in found]


def whole(sentences: Sequence[Sentence], told: Sequence[Finished]) -> Translated:
    """The translation of a text."""
    return join_sentences(sentences, [each.translated for each in told])


# Answers


async def events(catalogue: Catalogue, job: ServedJob) -> AsyncGenerator[tuple[str, DoorAnswer], None]:
    """A translation as it comes about: how the texts were cut, each sentence, each text, the end."""
    yield "start", Begun(**headline(job), texts=job.spans)
    found: list[dict[int, Finished]] = [{} for _ in job.cut]
    async with aclosing(finished_sentences(catalogue, job)) as coming:
        async for told in coming:
            yield "sentence", sentence_answer(job, told)
            own = found[told.index]
            own[told.sentence] = told
            if len(own) == len(job.cut[told.index]):
                yield "translation", _tell(job, told.index, [own[place] for place in sorted(own)])
    yield "done", Over(seconds=job.seconds)


def _tell(job: ServedJob, index: int, found: Sequence[Finished]) -> Told:
    translated = whole(job.cut[index], found)
    spans = spans_in(translated.text, [each.translated.text for each in found])
    return Told(**_explain(job.plan, translated), index=index, spans=spans)


def translate_answer(job: ServedJob, told: Sequence[Sequence[Finished]]) -> TranslateAnswer:
    """The whole answer of /v1/translate."""
    translations = [translation_answer(job, index, own) for index, own in enumerate(told)]
    return TranslateAnswer(**headline(job), seconds=job.seconds, translations=translations)


def headline(job: ServedJob) -> dict[str, Any]:
    """What every answer begins with."""
    detected = job.detected and Detection(language=job.detected.language, confidence=job.detected.confidence)
    return {
        "model": job.model.name,
        "source": job.model.source,
        "target": job.model.target,
        "engine": job.plan.engine,
        "detected": detected,
    }


def translation_answer(job: ServedJob, index: int, told: Sequence[Finished]) -> TranslationAnswer:
    """One text of an answer."""
    translated = whole(job.cut[index], told)
    spans = spans_in(translated.text, [each.translated.text for each in told])
    sentences = [sentence_answer(job, each, span) for each, span in zip(told, spans, strict=True)]
    return TranslationAnswer(**_explain(job.plan, translated), sentences=sentences)


def sentence_answer(job: ServedJob, told: Finished, span: Span | None = None) -> SentenceAnswer:
    """One sentence of an answer."""
    return SentenceAnswer(
        **_explain(job.plan, told.translated),
        index=told.index,
        sentence=told.sentence,
        source=job.spans[told.index][told.sentence],
        span=span,
        seconds=told.seconds,
    )


def _explain(plan: Plan, translated: Translated) -> dict[str, Any]:
    return {
        "text": translated.text,
        "score": translated.score,
        "tokens": translated.tokens,
        "token_scores": translated.token_scores,
        "language_scores": translated.language_scores,
        "unsure": translated.unsure,
        "alignment": translated.alignment if plan.explained else [],
        "n_best": [Candidate(text=text, score=score) for text, score in translated.n_best],
    }


def source_spans(sentences: Sequence[Sentence]) -> list[SourceSpan]:
    """Where each sentence stands in its text."""
    ends = list(accumulate(len(before) + len(text) + len(after) for before, text, after in sentences))
    begins = [0, *ends[:-1]]
    return [
        SourceSpan(start=begin + len(each.before), end=begin + len(each.before) + len(each.text), text=each.text)
        for begin, each in zip(begins, sentences, strict=True)
    ]


def spans_in(text: str, parts: Sequence[str]) -> list[Span]:
    """Where each of some texts stands in the one they were put together to, with white space between them."""
    spans, place = [], 0
    for part in parts:
        start = max(text.find(part, place), place) if part else place
        place = start + len(part)
        spans.append(Span(start=start, end=place))
    return spans


# The door


async def translate(service: Service, request: Request) -> Response:
    body = read_request(TranslateBody, await service.read(request, read_json))
    wants_events = body.stream or EVENTS in request.headers.get("accept", "")
    job = await prepare(service.catalogue, body)
    service.note(request, body.text, model=job.model.name, sentences=len(job.pieces))
    if wants_events:
        return EventStream(_timed_events(service, job), lambda error: note_failure(request, error))
    return json_response(await service.answer(request, _whole(service.catalogue, job)))


async def _whole(catalogue: Catalogue, job: ServedJob) -> TranslateAnswer:
    return translate_answer(job, await all_finished(catalogue, job))


async def _timed_events(service: Service, job: ServedJob) -> AsyncGenerator[Event, None]:
    async with asyncio.timeout(service.limits.seconds), aclosing(events(service.catalogue, job)) as coming:
        async for event in coming:
            yield event


DOORS = (
    Door(
        "POST", _PATH, translate, "translate", "Translate with everything that the command line can do.",
        TranslateAnswer, body=TranslateBody, other_kinds=(EVENTS,),
    ),
)  # fmt: skip
