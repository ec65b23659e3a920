"""What a server grants of what is asked for: how much, by which engine and which models."""

from collections.abc import Sequence
from typing import Any

from regard.base.faults import Fault
from regard.base.requests.rules import VerbRequest
from regard.data.media_sizes import picture_pixels, sound_seconds
from regard.engines.fast import CALLED
from regard.serving.catalogue import check_language_model
from regard.serving.options import Limits
from regard.serving.prices import speech_seconds
from regard.serving.served import ServedTranslator
from regard.verbs.answer.request import PictureInput
from regard.verbs.draw.request import DrawRequest
from regard.verbs.speak.request import SpeakRequest
from regard.verbs.transcribe.request import SoundInput
from regard.verbs.translate.plan import Plan
from regard.verbs.translate.request import TranslateRequest


def plan_within(limits: Limits, request: TranslateRequest, model: ServedTranslator) -> Plan:
    """How a request is to be translated; what this model or server does not grant is refused."""
    _check_limits(request, limits)
    if request.engine != "auto" and request.engine not in model.engines:
        called, engines = CALLED[request.engine], " or ".join(model.engines)
        raise Fault(f"The model {model.name} is not served by {called}; ask for {engines}.")
    for name in (*request.together, *([] if request.channel is None else [request.channel])):
        if name not in model.others:
            raise Fault(f"There is no model {name[:40]!r} here; there are {', '.join(model.others)}.")
    for asked in (request.fuse, request.prior):
        if asked is not None:
            check_language_model(asked, model.language_models)
    plan = model.plan(request)
    if plan.options.beam > limits.beam:
        raise Fault(f"The beam is {plan.options.beam} wide; here it may be at most {limits.beam}.")
    return plan


def _check_limits(request: TranslateRequest, limits: Limits) -> None:
    check_numbers(request, ("beam", "n_best", "samples"), limits)
    more = [*request.forbidden, *(request.vocabulary or []), *(request.prefix or []), *(request.forced or [])]
    more += [f"{word}{translation}" for word, translation in request.dictionary.items()]
    phrases = request.required or []
    more += [each for phrase in phrases for each in ([phrase] if isinstance(phrase, str) else phrase)]
    if len(more) > limits.texts or sum(map(len, more)) > limits.characters:
        raise Fault("Prefixes, phrases, outputs and words of a dictionary are more than is allowed here; give fewer.")


def check_numbers(request: VerbRequest, names: Sequence[str], limits: Limits) -> None:
    """Refuse numbers of a request that are above the limits of the same names."""
    for name in names:
        value, most = getattr(request, name), getattr(limits, name)
        if value is not None and value > most:
            raise Fault(f"'{name}' is {value}, but the limit here is {most}.")


def check_file(given: PictureInput | SoundInput, name: str, reads: str, limits: Limits) -> None:
    """Refuse a file with too many bytes, and one whose head says that it holds too much, before it is decoded."""
    content, is_picture = given.content, isinstance(given, PictureInput)
    what, most = ("picture", limits.picture) if is_picture else ("sound", limits.sound)
    if len(content) > most:
        raise Fault(f"{name} has {len(content):,} bytes, but a {what} here has at most {most:,}.")
    if is_picture and (pixels := picture_pixels(content, reads == "video")) > limits.pixels:
        raise Fault(f"{name} has {pixels:,} pixels, but a {what} here has at most {limits.pixels:,}. Make it smaller.")
    if not is_picture and (seconds := sound_seconds(content)) > limits.sound_seconds:
        raise Fault(f"{name} lasts {seconds:,.0f} seconds, but a sound here lasts at most {limits.sound_seconds:g}.")


def check_points(drawings: Sequence[Sequence[Sequence[Any]]], limits: Limits) -> None:
    """Refuse drawings with more points than a request may give."""
    points = sum(len(stroke) for drawing in drawings for stroke in drawing)
    if points > limits.points:
        raise Fault(f"The strokes have {points:,} points, but a request here gives at most {limits.points:,}.")


def check_speech(request: SpeakRequest, limits: Limits) -> None:
    """Refuse texts whose sounds may last longer together than a request may ask for."""
    seconds = sum(speech_seconds(request))
    if seconds > limits.speech_seconds:
        raise Fault(
            f"These sounds may last {seconds:,.0f} seconds, but those of a request here last at most "
            f"{limits.speech_seconds:g}. Give fewer or shorter texts, or 'seconds'."
        )


def check_drawings(request: DrawRequest, limits: Limits) -> None:
    """Refuse more drawings than a request may ask for, and more strokes than it may give."""
    if request.count > limits.drawings:
        raise Fault(f"'count' is {request.count}, but the limit here is {limits.drawings}.")
    check_amount([request.prompt or ""], limits)
    check_points([request.complete or [], request.reconstruct or [], *(request.between or [])], limits)


def check_amount(texts: Sequence[str], limits: Limits) -> None:
    """Refuse more text than a request may have."""
    if len(texts) > limits.texts:
        raise Fault(f"Invalid request: request ({len(texts)} texts) exceeds batch text limit ({limits.texts}).")
    characters = sum(map(len, texts))
    if characters > limits.characters:
        raise Fault(f"Invalid request: request ({characters}) exceeds text limit ({limits.characters}).")
