"""Answers of the server about why a model decided so, and about the nearest training examples."""

from typing import Any

from regard.base.doors import Question, TooLarge
from regard.base.faults import Fault
from regard.base.pauses import between_steps
from regard.base.requests.fields import Held
from regard.loading import Loaded
from regard.seeing.training_texts import NoTrainingTexts, names_training_texts
from regard.seeing.why.explaining import WhyRequest, explain_question
from regard.seeing.why.page import page_fields
from regard.seeing.why.question import Question as Decision
from regard.seeing.why.question import ask, can_be_asked
from regard.verbs.inputs import with_files
from regard.verbs.look.request import DecisionRequest, ExamplesRequest
from regard.verbs.look.run import look_examples
from regard.verbs.look.sentences import check_sentence, output_tokens


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
        if body.mode == "words" and (word := _word_at(asked, place)) is not None:
            asked = ask(model.model, item, output, place, word)
        if (count := len(asked.names)) > question.limits.units:
            most = question.limits.units
            raise TooLarge(f"The input has {count:,} units, but at most {most:,} are explained here; shorten it.")
        return page_fields(explain_question(model.model, item, asked, request))

    return with_files([body.input] if body.other is None else [body.input, body.other], explain)


def _word_at(asked: Decision, place: int | None) -> str | None:
    """Return the word that the token at a place belongs to; None if that token is the whole word."""
    if place is None or asked.choices is None or len(asked.explained) > 1:
        return None
    home = asked.choices.places[place]
    return asked.choices.words[home] if list(asked.choices.places).count(home) > 1 else None


def _output(question: Question[DecisionRequest]) -> Any:
    """Return the output to explain: a text, the tokens of a translator's output, or nothing."""
    body, model = question.body, question.model
    if "translate" not in model.can:
        return body.output
    check_sentence(model, str(body.input), question.limits)
    return body.output if body.tokens is None else output_tokens(model, str(body.input), body.tokens)


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
