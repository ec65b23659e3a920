"""What a server grants of what is asked for: how much, by which engine and which models."""

from collections.abc import Sequence

from regard.base.faults import Fault
from regard.engines.fast import CALLED
from regard.serving.options import Limits
from regard.serving.served import ServedTranslator
from regard.verbs.requests.rules import VerbRequest
from regard.verbs.requests.translate import TranslateRequest
from regard.verbs.translate.plan import Plan


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
        if asked is not None and asked not in model.language_models:
            served = f"there are {', '.join(model.language_models)}" if model.language_models else "none is served"
            raise Fault(f"There is no language model {asked[:40]!r} here; {served}.")
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


def check_drawings(count: int, limits: Limits) -> None:
    """Refuse more drawings than a request may ask for."""
    if count > limits.drawings:
        raise Fault(f"'count' is {count}, but the limit here is {limits.drawings}.")


def check_amount(texts: Sequence[str], limits: Limits) -> None:
    """Refuse more text than a request may have."""
    if len(texts) > limits.texts:
        raise Fault(f"Invalid request: request ({len(texts)} texts) exceeds batch text limit ({limits.texts}).")
    characters = sum(map(len, texts))
    if characters > limits.characters:
        raise Fault(f"Invalid request: request ({characters}) exceeds text limit ({limits.characters}).")
