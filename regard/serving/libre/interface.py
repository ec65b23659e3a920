"""The interface of LibreTranslate over the models that are served, so that its clients work unchanged.

Bodies are JSON or forms, and the query's values count too; errors are `{"error": "a sentence"}`.
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
    source: str  # a language that is served, or auto
    target: str
    as_html: bool
    alternatives: int


@dataclass(frozen=True)
class Given:
    """One text translated, and the other candidates for it."""

    text: str
    others: list[str]


def parameter(values: dict[str, Any], name: str) -> Any:
    """A parameter that must be there."""
    value = values.get(name)
    if value is None or value in ("", []):
        raise Refusal(400, f"Invalid request: missing {name} parameter")
    return value


def texts_of(values: dict[str, Any]) -> list[str]:
    """The texts in `q`, one or several."""
    q = parameter(values, "q")
    texts = q if isinstance(q, list) else [q]
    if not all(isinstance(text, str) for text in texts):
        raise Refusal(400, "Invalid request: q is neither a text nor a list of texts")
    return texts


def read_request(catalogue: Catalogue, values: dict[str, Any]) -> LibreRequest:
    """Read a request, or refuse it in the words that clients know."""
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
    """A parameter, or what it is by default, which an empty one means too."""
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
    """The answer of /translate."""
    ask = read_request(catalogue, values)
    detected: list[Detected] = []
    if ask.source == AUTO:  # in another thread, for the first time takes a second
        detected = await asyncio.to_thread(lambda: [_detect(catalogue, text, ask) for text in ask.texts])
    sources = [each.language for each in detected] or [ask.source] * len(ask.texts)
    found: list[Given | None] = [None] * len(ask.texts)
    for source in dict.fromkeys(sources):
        numbers = [number for number, own in enumerate(sources) if own == source]
        given = await _translate(catalogue, ask, source, [ask.texts[number] for number in numbers])
        for number, each in zip(numbers, given, strict=True):
            found[number] = each
    return _answer(ask, isinstance(values["q"], list), [each for each in found if each is not None], detected)


def _answer(ask: LibreRequest, is_list: bool, given: Sequence[Given], detected: Sequence[Detected]) -> dict[str, Any]:
    def one_or_all(values: list[Any]) -> Any:
        return values if is_list else values[0]

    answer: dict[str, Any] = {"translatedText": one_or_all([each.text for each in given])}
    if detected:
        answer["detectedLanguage"] = one_or_all([vars(each) for each in detected])
    if ask.alternatives:
        answer["alternatives"] = one_or_all([each.others for each in given])
    return answer


def _detect(catalogue: Catalogue, text: str, ask: LibreRequest) -> Detected:
    plain = text
    if ask.as_html:
        plain = " ".join(part.text for part in read_html(text) if isinstance(part, TextRun))
    among = [*catalogue.sources(ask.target), ask.target]
    found = catalogue.detector(plain, among)
    return found[0] if found else Detected(among[0], 0.0)


async def _translate(catalogue: Catalogue, ask: LibreRequest, source: str, texts: list[str]) -> list[Given]:
    if source == ask.target:
        return [Given(text, []) for text in texts]
    model = catalogue.between(source, ask.target)
    if ask.as_html:
        return await _html_translated(catalogue, model, texts)
    found = await _whole(catalogue, model, texts, ask.alternatives)
    return [_give(text, each, ask.alternatives) for text, each in zip(texts, found, strict=True)]


def _give(text: str, translated: Translated, alternatives: int) -> Given:
    others = dict.fromkeys(candidate for candidate, _ in translated.n_best)
    others.pop(translated.text, None)
    return Given(translated.text, list(others)[:alternatives])


async def _whole(
    catalogue: Catalogue, model: ServedTranslator, texts: Sequence[str], alternatives: int
) -> list[Translated]:
    """The translation of each text; one without a word comes back unchanged."""
    found = await _sentences(catalogue, model, texts, alternatives)
    return [
        join_sentences(sentences, parts) if has_words(text) else replace(leave_untranslated(text), text=text)
        for text, (sentences, parts) in zip(texts, found, strict=True)
    ]


async def _sentences(
    catalogue: Catalogue, model: ServedTranslator, texts: Sequence[str], alternatives: int = 0, explain: bool = False
) -> list[_Parts]:
    """The sentences of each text and their translations, searched for as widely as the alternatives ask for."""
    request = TranslateRequest(text=list(texts), n_best=alternatives + 1, explain=explain)
    question = Question(model, request, catalogue.options.limits)
    begin = partial(TranslateJob, question, model.plan(request), has_words)
    job = await beside(begin, sum(map(len, texts)))
    finished = job.finished(await results_of(catalogue, job))
    return [(sentences, [each.translated for each in own]) for sentences, own in zip(job.cut, finished, strict=True)]


async def _html_translated(catalogue: Catalogue, model: ServedTranslator, texts: Sequence[str]) -> list[Given]:
    """Pages, read and put together in another thread, for a page may be nothing but tags."""
    pages = await asyncio.to_thread(lambda: [read_html(text) for text in texts])
    runs = [part for page in pages for part in page if isinstance(part, TextRun) and has_words(part.text)]
    texts = [run.parts[1] for run in runs]
    found = await _sentences(catalogue, model, texts, explain=any(run.marks for run in runs))
    return await asyncio.to_thread(_put_together, pages, dict(zip(map(id, runs), found, strict=True)))


def _put_together(pages: Sequence[Sequence[str | TextRun]], found: Mapping[int, _Parts]) -> list[Given]:
    return [Given("".join(_write(part, found) for part in page), []) for page in pages]


def _write(part: str | TextRun, found: Mapping[int, _Parts]) -> str:
    if isinstance(part, str):
        return part
    return _put_back(part, *found[id(part)]) if id(part) in found else write_unchanged(part)


def _put_back(run: TextRun, sentences: Sequence[Sentence], parts: Sequence[Translated]) -> str:
    text = rejoin(sentences, [part.text for part in parts])
    if not run.marks:
        before, _, behind = run.parts
        return f"{before}{html.escape(text, quote=False)}{behind}"
    return put_back(run, text, link_sentences(sentences, parts))


def detect(catalogue: Catalogue, values: dict[str, Any]) -> list[dict[str, Any]]:
    """The answer of /detect."""
    texts = texts_of(values)
    check_amount(texts, catalogue.options.limits)
    found = catalogue.detector("\n".join(texts)) or [Detected(catalogue.codes[0], 0.0)]
    return [{"confidence": each.confidence, "language": each.language} for each in found]


def languages(catalogue: Catalogue) -> list[dict[str, Any]]:
    """The answer of /languages; each is among its own targets, as text that is in the target already stays."""
    return [
        {"code": code, "name": name_of(code) or code, "targets": [code, *catalogue.targets(code)]}
        for code in catalogue.codes
    ]


def settings(catalogue: Catalogue) -> dict[str, Any]:
    """The answer of /frontend/settings."""
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
