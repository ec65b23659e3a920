"""From what a request asks for to a plan that sentences of several requests can share, within the server's limits."""

from collections.abc import Sequence
from typing import Any

from regard.base.faults import Fault
from regard.decoding.options import DecodingOptions, changed
from regard.engines.fast import CALLED
from regard.engines.plain_beam import unsupported
from regard.serving.options import Limits
from regard.serving.questions import BEYOND_A_PLAIN_BEAM, OF_WHOLE_OUTPUTS, TranslateQuestion
from regard.serving.served import Engine, Piece, Plan, Served

SAMPLES = 32  # what minimum Bayes risk chooses among


def plan_for(question: TranslateQuestion, model: Served, limits: Limits) -> Plan:
    """How the sentences of a question are to be translated; what this model or server does not grant is refused."""
    _check_limits(question, limits)
    draws = question.sample is not None or question.mbr is not None
    options = _options(question, model, draws)
    if options.beam > limits.beam:
        raise Fault(f"The beam is {options.beam} wide; here it may be {limits.beam}.")
    engine = _engine(question, model, options)
    count = question.n_best or 1
    if question.channel is not None and count > options.beam:
        raise Fault(f"A beam of {options.beam} cannot give the {count} best; widen it.")
    for name in (*question.together, *([question.channel] if question.channel else [])):
        if name not in model.others:
            raise Fault(f"There is no model {name[:40]!r} here; there are {', '.join(model.others)}.")
    weight = 1.0 if question.channel_weight is None else question.channel_weight
    return Plan(
        engine,
        options if question.channel is None else _all_of_the_beam(options),
        explained=question.explain,
        scored=question.explain,
        draws=draws,
        begins=question.prefix is not None,
        requires=question.required is not None,
        forced=question.forced is not None,
        forbidden=tuple(question.forbidden),
        allowed=None if question.vocabulary is None else tuple(question.vocabulary),
        risk=question.mbr,
        channel=None if question.channel is None else (question.channel, weight),
        together=tuple(question.together),
        count=count,
    )


def _all_of_the_beam(options: DecodingOptions) -> DecodingOptions:
    """The search that gives all that its beam has found, for a channel model to choose from."""
    return changed(options, {"n_best": options.beam}, None)


def splits(question: TranslateQuestion) -> bool:
    """Whether texts are translated sentence by sentence."""
    if question.split_sentences is not None:
        return question.split_sentences
    return all(getattr(question, name) is None for name in OF_WHOLE_OUTPUTS)


def pieces_for(question: TranslateQuestion, index: int, sentences: Sequence[str], keys: Sequence[int]) -> list[Piece]:
    """The sentences of one text, each with what is asked of it."""
    prefix = _one_for(question.prefix, index) or ""
    output = _one_for(question.forced, index) or ""
    required = question.required or []
    if required and isinstance(required[0], list):
        required = _one_for(required, index)
    own = tuple(phrase for phrase in required if isinstance(phrase, str))
    return [Piece(text, key, prefix, own, output) for text, key in zip(sentences, keys, strict=True)]


def _one_for(given: Sequence[Any] | None, index: int) -> Any:
    """What is given for all texts, or for this one."""
    return None if not given else given[0] if len(given) == 1 else given[index]


def _options(question: TranslateQuestion, model: Served, draws: bool) -> DecodingOptions:
    given = {**question.search, "beam": question.beam, "length_penalty": question.length_penalty}
    count = question.n_best
    if question.mbr is not None:
        count = question.samples or SAMPLES
    sample = None if not draws else question.sample.model_dump() if question.sample else {}
    return changed(model.decoding, given | {"n_best": count or 1}, sample)


def _engine(question: TranslateQuestion, model: Served, options: DecodingOptions) -> Engine:
    """The fast engine where it is there and can do all that is asked, else torch."""
    beyond = unsupported(options)
    if question.engine not in ("auto", "torch"):
        called = CALLED[question.engine]
        if question.engine not in model.engines:
            raise Fault(f"The model {model.name} is not served by {called}; ask for {' or '.join(model.engines)}.")
        if beyond:
            raise Fault(f"{called} cannot do '{beyond}'; leave it away, or ask for torch.")
    by_torch = question.engine == "torch" or beyond or question.given(*BEYOND_A_PLAIN_BEAM)
    return "torch" if by_torch else model.engines[0]


def _check_limits(question: TranslateQuestion, limits: Limits) -> None:
    for name, most in (("beam", limits.beam), ("n_best", limits.n_best), ("samples", limits.samples)):
        value = getattr(question, name)
        if value is not None and value > most:
            raise Fault(f"'{name}' is {value}; here {most} is the most.")
    more = [*question.forbidden, *(question.vocabulary or []), *(question.prefix or []), *(question.forced or [])]
    phrases = question.required or []
    more += [each for phrase in phrases for each in ([phrase] if isinstance(phrase, str) else phrase)]
    if len(more) > limits.texts or sum(map(len, more)) > limits.characters:
        raise Fault("Prefixes, phrases and outputs are more than is allowed here; give fewer.")


def check_amount(texts: Sequence[str], limits: Limits) -> None:
    """Refuse more text than a request may have."""
    if len(texts) > limits.texts:
        raise Fault(f"Invalid request: request ({len(texts)} texts) exceeds batch text limit ({limits.texts}).")
    characters = sum(map(len, texts))
    if characters > limits.characters:
        raise Fault(f"Invalid request: request ({characters}) exceeds text limit ({limits.characters}).")
