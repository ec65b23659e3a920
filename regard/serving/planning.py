"""From what a request asks for to a plan that sentences of several requests can share, within the server's limits."""

from collections.abc import Sequence
from typing import Any

from regard.decoding.options import DecodingOptions, changed
from regard.engines.fast import CALLED
from regard.engines.plain_beam import unsupported
from regard.faults import Fault
from regard.serving.options import Limits
from regard.serving.records import TranslateQuestion
from regard.serving.served import Engine, Piece, Plan, Served

SAMPLES = 32  # what minimum Bayes risk chooses among
_NAMED = ("beam", "length_penalty", "n_best", "sampling")  # which have fields of their own


def plan_for(question: TranslateQuestion, model: Served, limits: Limits) -> Plan:
    """How the sentences of a question are to be translated; what cannot go together is refused."""
    _check_together(question)
    _check_texts(question)
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
    whole = _of_whole_outputs(question)
    if question.split_sentences and whole:
        raise Fault(f"'{whole[0]}' belongs to a whole output; leave 'split_sentences' away.")
    return not whole if question.split_sentences is None else question.split_sentences


def pieces_for(question: TranslateQuestion, index: int, sentences: Sequence[str], keys: Sequence[int]) -> list[Piece]:
    """The sentences of one text, each with what is asked of it."""
    count = len(question.text)
    prefix = _one_for(question.prefix, index, count, "prefix") or ""
    output = _one_for(question.forced, index, count, "forced") or ""
    required = question.required or []
    if required and isinstance(required[0], list):
        required = _one_for(required, index, count, "required") or []
    own = tuple(phrase for phrase in required if isinstance(phrase, str))
    return [Piece(text, key, prefix, own, output) for text, key in zip(sentences, keys, strict=True)]


def _one_for(given: Sequence[Any] | None, index: int, count: int, name: str) -> Any:
    if given is None:
        return None
    if len(given) not in (1, count):
        raise Fault(f"There are {len(given)} of '{name}' for {count} texts; give one for all, or one for each.")
    return given[0] if len(given) == 1 else given[index]


def _of_whole_outputs(question: TranslateQuestion) -> list[str]:
    return [name for name in ("prefix", "before", "required", "forced") if getattr(question, name) is not None]


def _options(question: TranslateQuestion, model: Served, draws: bool) -> DecodingOptions:
    if clash := [name for name in question.search if name in _NAMED]:
        raise Fault(f"'{clash[0]}' has a field of its own; give it there, not in 'search'.")
    given = {**question.search, "beam": question.beam, "length_penalty": question.length_penalty}
    count = question.n_best
    if question.mbr is not None:
        count = question.samples or SAMPLES
    sample = None if not draws else question.sample.model_dump() if question.sample else {}
    return changed(model.decoding, given | {"n_best": count or 1}, sample)


def _engine(question: TranslateQuestion, model: Served, options: DecodingOptions) -> Engine:
    """The fast engine where it is there and can do all that is asked, else torch."""
    beyond = _beyond_a_plain_beam(question) or unsupported(options)
    if question.engine not in ("auto", "torch"):
        called = CALLED[question.engine]
        if question.engine not in model.engines:
            raise Fault(f"The model {model.name} is not served by {called}; ask for {' or '.join(model.engines)}.")
        if beyond:
            raise Fault(f"{called} cannot do '{beyond}'; leave it away, or ask for torch.")
    return "torch" if question.engine == "torch" or beyond else model.engines[0]


def _beyond_a_plain_beam(question: TranslateQuestion) -> str | None:
    names = (
        "sample", "mbr", "prefix", "before", "required", "forbidden", "vocabulary", "together", "channel", "forced",
    )  # fmt: skip
    return next((name for name in names if getattr(question, name) not in (None, [])), None)


def _check_together(question: TranslateQuestion) -> None:
    draws = question.sample is not None or question.mbr is not None
    searching = ["beam", "length_penalty", "search", "channel"]
    if draws and (clash := _given(question, searching)):
        raise Fault(f"'{clash[0]}' is of a search, and 'sample' and 'mbr' draw; give one or the other.")
    if question.samples is not None and question.mbr is None:
        raise Fault("'samples' says how many 'mbr' chooses among; to get several samples give 'n_best'.")
    if question.channel_weight is not None and question.channel is None:
        raise Fault("'channel_weight' would do nothing without 'channel'.")
    others = [
        *searching,
        "n_best",
        "sample",
        "mbr",
        "prefix",
        "before",
        "required",
        "forbidden",
        "vocabulary",
        "together",
    ]
    if question.forced is not None and (clash := _given(question, others)):
        raise Fault(f"'forced' scores the outputs it is given and searches for none; leave '{clash[0]}' away.")
    mixed = ["prefix", "required", "forbidden", "vocabulary", "sample", "mbr", "together", "channel"]
    if question.before is not None and (clash := _given(question, mixed)):
        raise Fault(f"'before' goes on from exact tokens by beam search; leave '{clash[0]}' away.")
    if question.before is not None and len(question.text) != 1:
        raise Fault("'before' belongs to one output; give one text.")


def _given(question: TranslateQuestion, names: Sequence[str]) -> list[str]:
    return [name for name in names if getattr(question, name) not in (None, [], {})]


def _check_texts(question: TranslateQuestion) -> None:
    for name in ("prefix", "forced"):
        _one_for(getattr(question, name), 0, len(question.text), name)
    if question.required and isinstance(question.required[0], list):
        _one_for(question.required, 0, len(question.text), "required")


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
