"""Answers of the server about why a model decided so, and about the nearest training examples."""

import math
from typing import Any

from regard.base.doors import Question, TooLarge
from regard.base.faults import Fault
from regard.base.pauses import between_steps
from regard.base.requests.fields import Held
from regard.loading import Loaded
from regard.seeing.training_texts import NoTrainingTexts, names_training_texts
from regard.seeing.why.question import ask, can_be_asked
from regard.seeing.why.views import Explained, WhyRequest, explain_question, looks_of
from regard.verbs.inputs import with_files
from regard.verbs.look.request import DecisionRequest, ExamplesRequest
from regard.verbs.look.run import look_examples
from regard.verbs.look.sentences import check_sentence, output_tokens
from regard.viewing.canvas import show_word
from regard.viewing.drawers import page_view
from regard.viewing.sides import Words
from regard.viewing.tables import tables_data


def explained_verbs(model: Loaded) -> list[str]:
    """Return the doors here that a model opens."""
    has_texts = "embed" in model.verbs and names_training_texts(model)
    return [*(["why"] if can_be_asked(model) else []), *(["examples"] if has_texts else [])]


def why(question: Question[DecisionRequest]) -> dict[str, Any]:
    """Return what made a model decide so, by one method or all, or what happens inside it."""
    body, model = question.body, question.model
    place = None if body.place is None else body.place - 1
    chosen = (body.output, place, body.word, body.layer, body.head, False)
    output = _output(question)

    def explain(inputs: list[Held]) -> dict[str, Any]:
        item, *others = (held.content for held in inputs)
        request = WhyRequest(body.method, *chosen, next(iter(others), None), body.trust)
        asked = ask(model.model, item, output, request.place, request.word)
        if (count := len(asked.names)) > question.limits.units:
            most = question.limits.units
            raise TooLarge(f"The input has {count:,} units, but at most {most:,} are explained here; shorten it.")
        return _fields(explain_question(model.model, item, asked, request))

    return with_files([body.input] if body.other is None else [body.input, body.other], explain)


def _output(question: Question[DecisionRequest]) -> Any:
    """Return the output to explain: a text, the tokens of a translator's output, or nothing."""
    body, model = question.body, question.model
    if "translate" not in model.can:
        return body.output
    check_sentence(model, str(body.input), question.limits)
    return body.output if body.tokens is None else output_tokens(model, str(body.input), body.tokens)


def _fields(found: Explained) -> dict[str, Any]:
    asked = found.question
    looks = looks_of(asked, found.maps) if found.maps else None
    view, data = (None, None) if looks is None else page_view(looks)
    maps = [row | {"remarks": list(own.remarks)} for row, own in zip(found.rows(), found.maps, strict=True)]
    about = found.about()
    shown = {name: show_word(about[name]) if about[name] else "" for name in ("text", "output")}
    return _finite(
        {
            **about,
            **shown,
            "words": _tokens(asked.side),
            "choices": _tokens(asked.choices),
            "explained": list(asked.explained),
            "maps": maps,
            "refused": found.refusals,
        }
    ) | {"tables": [] if found.tables is None else tables_data(found.tables), "view": view, "looks": data}


def _tokens(side: Any) -> dict[str, Any] | None:
    if not isinstance(side, Words):
        return None
    return {"tokens": list(side.tokens), "words": list(side.words), "word_of_token": list(side.places)}


def _finite(value: Any) -> Any:
    """Return values with None in the place of numbers that JSON does not have."""
    if isinstance(value, dict):
        return {name: _finite(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_finite(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def examples(question: Question[ExamplesRequest]) -> dict[str, Any]:
    """Return the training examples nearest to a text; training data that is gone is refused without its paths."""
    body, model = question.body, question.model
    if "translate" in model.can:
        check_sentence(model, body.text, question.limits)
    assert body.from_lines is not None
    try:
        view = look_examples(
            model.model,
            body.text,
            body.examples,
            body.states,
            body.output,
            body.at,
            body.by,
            body.from_lines,
            lambda *report: between_steps(),
        )
    except NoTrainingTexts:
        raise Fault(f"The training data of the model {model.name} is not on this server.") from None
    numbers = view.drawing.numbers()
    for place in numbers["places"]:
        place["examples"] = [{"closeness": example.pop(body.by), **example} for example in place["examples"]]
    return numbers
