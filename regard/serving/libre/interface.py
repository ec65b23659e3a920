"""LibreTranslate's API over the served models, so that its clients work unchanged.

Bodies are JSON or forms, and values in the query count too; errors are `{"error": "a sentence"}`.
"""

import asyncio
import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from regard.base.doors import Question, check_amount
from regard.data.corpora.sentences import Sentence, rejoin
from regard.engines.translated import Translated, join_sentences, link_sentences
from regard.serving.catalogue import AUTO, Catalogue, beside
from regard.serving.flow import results_of
from regard.serving.http.refusals import Refusal
from regard.serving.languages import Detected, has_words, name_of
from regard.serving.libre.markup import TextRun, read_html, write_unchanged
from regard.serving.libre.placing import put_back
from regard.serving.served import ServedTranslator
from regard.verbs.translate.door import TranslateJob
from regard.verbs.translate.plan import leave_untranslated
from regard.verbs.translate.request import TranslateRequest

_FORMATS = ("text", "html")
_Parts = tuple[list[Sentence], list[Translated]]  # the sentences of a text, and their translations


@dataclass(frozen=True)
class LibreRequest:
    """A request to /translate with checked parameters."""

    texts: list[str]
    source: str  # a served language, or auto
    target: str
    as_html: bool
    alternatives: int


@dataclass(frozen=True)
class Given:
    """The translation of a text, and alternative translations."""

    text: str
    others: list[str]


def parameter(values: dict[str, Any], name: str) -> Any:
    """Return a required parameter."""
    value = values.get(name)
    if value is None or value in ("", []):
        raise Refusal(400, f"Invalid request: missing {name} parameter")
    return value


def texts_of(values: dict[str, Any]) -> list[str]:
    """Return the texts in `q`, one or several."""
    q = parameter(values, "q")
    texts = q if isinstance(q, list) else [q]
    if not all(isinstance(text, str) for text in texts):
        raise Refusal(400, "Invalid request: q is neither a text nor a list of texts")
    return texts


def read_request(catalogue: Catalogue, values: dict[str, Any]) -> LibreRequest:
    """Read a request, or refuse it with LibreTranslate's messages."""
    texts = texts_of(values)
    source, target = (parameter(values, name) for name in ("source", "target"))
    if not isinstance(source, str) or not isinstance(target, str):
        raise Refusal(400, "Invalid request: source and target are codes of languages")
    form = _option(values, "format", "text")
    if form not in _FORMATS:
        raise Refusal(400, f"{str(form)[:40]} format is not supported")
    limits = catalogue.options.limits
    check_amount(texts, limits)
    source = source if source.lower() == AUTO else catalogue.language(source)
    alternatives = _count(_option(values, "alternatives", 0), min(limits.n_best, limits.beam) - 1)
    target = catalogue.language(target)
    if source.lower() != AUTO and source != target:
        catalogue.between(source, target)
    return LibreRequest(texts, source if source.lower() != AUTO else AUTO, target, form == "html", alternatives)


def _option(values: dict[str, Any], name: str, default: Any) -> Any:
    """Return a parameter, or its default if it is missing or empty."""
    value = values.get(name)
    return default if value is None or value == "" else value


def _count(value: Any, most: int) -> int:
    digits = str(value) if isinstance(value, int | str) else ""
    if isinstance(value, bool) or not (digits.isascii() and digits.isdecimal()):
        raise Refusal(400, "Invalid request: alternatives is not a number of alternatives")
    if len(digits) > 9 or int(digits) > most:
        raise Refusal(400, f"Invalid request: alternatives ({digits[:9]}) exceeds the limit ({most})")
    return int(digits)


async def translate(catalogue: Catalogue, values: dict[str, Any]) -> dict[str, Any]:
    """Answer /translate."""
    ask = read_request(catalogue, values)
    detected: list[Detected] = []
    if ask.source == AUTO:  # in another thread, because the first detection takes a second
        detected = await asyncio.to_thread(lambda: [_detect(catalogue, text, ask) for text in ask.texts])
    sources = [item.language for item in detected] or [ask.source] * len(ask.texts)
    translations: list[Given | None] = [None] * len(ask.texts)
    for source in dict.fromkeys(sources):
        numbers = [number for number, code in enumerate(sources) if code == source]
        results = await _translate(catalogue, ask, source, [ask.texts[number] for number in numbers])
        for number, item in zip(numbers, results, strict=True):
            translations[number] = item
    return _answer(ask, isinstance(values["q"], list), [item for item in translations if item is not None], detected)


def _answer(
    ask: LibreRequest, is_list: bool, translations: Sequence[Given], detected: Sequence[Detected]
) -> dict[str, Any]:
    def one_or_all(values: list[Any]) -> Any:
        return values if is_list else values[0]

    answer: dict[str, Any] = {"translatedText": one_or_all([item.text for item in translations])}
    if detected:
        answer["detectedLanguage"] = one_or_all([vars(item) for item in detected])
    if ask.alternatives:
        answer["alternatives"] = one_or_all([item.others for item in translations])
    return answer


def _detect(catalogue: Catalogue, text: str, ask: LibreRequest) -> Detected:
    plain = text
    if ask.as_html:
        plain = " ".join(part.text for part in read_html(text) if isinstance(part, TextRun))
    among = [*catalogue.sources(ask.target), ask.target]
    candidates = catalogue.detector(plain, among)
    return candidates[0] if candidates else Detected(among[0], 0.0)


async def _translate(catalogue: Catalogue, ask: LibreRequest, source: str, texts: list[str]) -> list[Given]:
    if source == ask.target:
        return [Given(text, []) for text in texts]
    model = catalogue.between(source, ask.target)
    if ask.as_html:
        return await _html_translated(catalogue, model, texts)
    translations = await _whole(catalogue, model, texts, ask.alternatives)
    return [_give(text, translation, ask.alternatives) for text, translation in zip(texts, translations, strict=True)]


def _give(text: str, translated: Translated, alternatives: int) -> Given:
    others = dict.fromkeys(candidate for candidate, _ in translated.n_best)
    others.pop(translated.text, None)
    return Given(translated.text, list(others)[:alternatives])


async def _whole(
    catalogue: Catalogue, model: ServedTranslator, texts: Sequence[str], alternatives: int
) -> list[Translated]:
    """Return the translation of each text; a text without words is returned unchanged."""
    results = await _sentences(catalogue, model, texts, alternatives)
    return [
        join_sentences(sentences, parts) if has_words(text) else replace(leave_untranslated(text), text=text)
        for text, (sentences, parts) in zip(texts, results, strict=True)
    ]


async def _sentences(
    catalogue: Catalogue, model: ServedTranslator, texts: Sequence[str], alternatives: int = 0, explain: bool = False
) -> list[_Parts]:
    """Return the sentences of each text and their translations; the search is wide enough for the alternatives."""
    request = TranslateRequest(text=list(texts), n_best=alternatives + 1, explain=explain)
    question = Question(model, request, catalogue.options.limits)
    begin = partial(TranslateJob, question, model.plan(request), has_words)
    job = await beside(begin, sum(map(len, texts)))
    finished = job.finished(await results_of(catalogue, job))
    return [
        (sentences, [sentence.translated for sentence in texts_finished])
        for sentences, texts_finished in zip(job.cut, finished, strict=True)
    ]


async def _html_translated(catalogue: Catalogue, model: ServedTranslator, texts: Sequence[str]) -> list[Given]:
    """Translate pages; they are parsed and joined in another thread, because a page may be nothing but tags."""
    pages = await asyncio.to_thread(lambda: [read_html(text) for text in texts])
    runs = [part for page in pages for part in page if isinstance(part, TextRun) and has_words(part.text)]
    texts = [run.parts[1] for run in runs]
    results = await _sentences(catalogue, model, texts, explain=any(run.marks for run in runs))
    return await asyncio.to_thread(_put_together, pages, dict(zip(map(id, runs), results, strict=True)))


def _put_together(pages: Sequence[Sequence[str | TextRun]], results: Mapping[int, _Parts]) -> list[Given]:
    return [Given("".join(_write(part, results) for part in page), []) for page in pages]


def _write(part: str | TextRun, results: Mapping[int, _Parts]) -> str:
    if isinstance(part, str):
        return part
    return _put_back(part, *results[id(part)]) if id(part) in results else write_unchanged(part)


def _put_back(run: TextRun, sentences: Sequence[Sentence], parts: Sequence[Translated]) -> str:
    text = rejoin(sentences, [part.text for part in parts])
    if not run.marks:
        before, _, after = run.parts
        return f"{before}{html.escape(text, quote=False)}{after}"
    return put_back(run, text, link_sentences(sentences, parts))


def detect(catalogue: Catalogue, values: dict[str, Any]) -> list[dict[str, Any]]:
    """Answer /detect."""
    texts = texts_of(values)
    check_amount(texts, catalogue.options.limits)
    candidates = catalogue.detector("\n".join(texts)) or [Detected(catalogue.codes[0], 0.0)]
    return [{"confidence": candidate.confidence, "language": candidate.language} for candidate in candidates]


def languages(catalogue: Catalogue) -> list[dict[str, Any]]:
    """Answer /languages; each language is among its own targets, as text already in the target stays unchanged."""
    return [
        {"code": code, "name": name_of(code) or code, "targets": [code, *catalogue.targets(code)]}
        for code in catalogue.codes
    ]


def settings(catalogue: Catalogue) -> dict[str, Any]:
    """Answer /frontend/settings."""
    first = next(iter(catalogue.translators.values()))
    limits, needs_key = catalogue.options.limits, catalogue.options.access.key is not None
    return {
        "charLimit": limits.characters,
        "frontendTimeout": 500,
        "apiKeys": needs_key,
        "keyRequired": needs_key,
        "suggestions": False,
        "filesTranslation": False,
        "supportedFilesFormat": [],
        "language": {
            "source": {"code": AUTO, "name": "Auto Detect"},
            "target": {"code": first.target, "name": name_of(first.target) or first.target},
        },
    }
