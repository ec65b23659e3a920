"""The door of answering; an input is a text, the number of a node, a picture, a sound or a drawing."""

from collections.abc import Hashable
from dataclasses import asdict
from typing import Any

from pydantic import Field

from regard.base.doors import Asked, DoorAnswer, ModelBody, Price, Question, VerbDoor, check_amount, check_numbers
from regard.base.faults import Fault
from regard.base.requests.fields import Held
from regard.verbs.answer.request import AnswerRequest
from regard.verbs.inputs import check_inputs, input_cost, remark_on_file, with_files


class AnswerBody(AnswerRequest, ModelBody):
    """Inputs to answer, one answer for each, and the model."""

    unfold: bool = Field(
        default=False, description="Answer a text with several aspects in brackets once for each of them."
    )

    @property
    def texts(self) -> list[str]:
        """The inputs that are texts; others count as empty ones."""
        return [each if isinstance(each, str) else "" for each in self.inputs]


class OneAnswer(DoorAnswer):
    """An answer, and how probable it is beside all others."""

    answer: str
    probability: float
    probabilities: dict[str, float]


class StoryAnswer(OneAnswer):
    """An answer about a story, and how many of its first facts were more than the model remembers."""

    forgotten: int


class PictureAnswer(OneAnswer):
    """An answer about a picture, and what was done to the picture before it was read, if anything was."""

    remark: str


class TagsAnswer(DoorAnswer):
    """A tag for each word, how probable each is and all together; spans, where tags spell any, from word to word."""

    words: list[str]
    answers: list[str]
    probabilities: list[float]
    probability: float
    spans: list[tuple[str, int, int]] | None


class AnswersAnswer(DoorAnswer):
    """The answers; `inputs` are what each of them answers, where inputs were unfolded."""

    model: str
    seconds: float
    answers: list[OneAnswer] | list[StoryAnswer] | list[PictureAnswer] | list[TagsAnswer]
    inputs: list[str] | None = None


_RECORDS: dict[str, type[DoorAnswer]] = {"tokens": TagsAnswer, "story": StoryAnswer, "picture": PictureAnswer}


def _ready(question: Question[AnswerBody]) -> AnswerBody:
    body, model, limits = question.body, question.model, question.limits
    check_inputs(model, body.inputs, limits)
    check_numbers(body, ("beam",), limits)
    changes: dict[str, Any] = {"tagger": [Held(each) for each in _find_taggers(model, body)] or None}
    if body.unfold:
        changes["inputs"] = [each for text in body.texts for each in _unfold(model, text)]
        check_amount(changes["inputs"], limits)
    return body.model_copy(update=changes)


def _unfold(model: Asked, text: str) -> list[str]:
    """Return the inputs that a text stands for which asks for several things."""
    from regard.protocols import Unfolds

    task = model.model.task
    return task.unfold(text) if isinstance(task, Unfolds) else [text]


def _find_taggers(model: Asked, body: AnswerBody) -> list[Any]:
    """Return the taggers named or, for raw text, those that find what the model reads beside words.

    They lie in its folder, or are served.
    """
    if body.taggers:
        return [_named_tagger(model, name) for name in body.taggers]
    if not body.raw or model.reads != "tokens":
        return []
    from regard.tasks.tagging.task import Tagging
    from regard.verbs.answer.tagging import finds_column

    if not isinstance(task := model.model.task, Tagging):
        return []
    if model.model.own_taggers:
        return list(model.model.own_taggers)
    others = [each.model for each in model.others.values() if each.reads == "tokens" and each is not model]
    plain = [each for each in others if isinstance(each.task, Tagging) and not each.task.data.read_beside]
    columns = range(len(task.data.read_beside))
    fitting = [next((each for each in plain if finds_column(task, place, each.task)), None) for place in columns]
    return [each for each in fitting if each is not None]


def _named_tagger(model: Asked, name: str) -> Any:
    tagger = model.others.get(name)
    if tagger is None or "translate" in tagger.can:
        raise Fault(f"There is no tagger {name[:40]!r} here; there are {', '.join(model.others)}.")
    return tagger.model


def _key(body: AnswerBody) -> Hashable:
    return body.beam, body.raw, body.as_is, *body.taggers


def _work(question: Question[AnswerBody]) -> list[DoorAnswer]:
    body, model = question.body, question.model
    record = _RECORDS.get(model.reads, OneAnswer)

    def answer(inputs: list[Held]) -> list[DoorAnswer]:
        answers = [asdict(each) for each in model.ask(body.model_copy(update={"inputs": inputs}))]
        if record is not PictureAnswer:
            return [record(**each) for each in answers]
        remarks = ["" if body.as_is else remark_on_file(model, each.content) for each in inputs]
        return [record(**each, remark=remark) for each, remark in zip(answers, remarks, strict=True)]

    return with_files(body.inputs, answer)


DOORS = (
    VerbDoor(
        path="/v1/answer",
        can="answer",
        summary="An answer for each input.",
        body=AnswerBody,
        answer=AnswersAnswer,
        texts="texts",
        ready=_ready,
        key=_key,
        price=Price("letters, frames of 10 ms, thousands of pixels, points or nodes", 1000, ordinary=250),
        costs=lambda question: [
            input_cost(each, question.model.reads) * (question.body.beam or 1) for each in question.body.inputs
        ],
        work=_work,
        listed="answers",
        more=lambda body: {"inputs": body.inputs if body.unfold else None},
    ),
)
