"""The door for answers; an input is a text, a node number, a picture, a sound or a drawing."""

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
    """Inputs to answer, and the model."""

    unfold: bool = Field(
        default=False, description="Answer a text with several aspects in brackets once for each aspect."
    )

    @property
    def texts(self) -> list[str]:
        """The inputs that are texts; others count as empty texts."""
        return [item if isinstance(item, str) else "" for item in self.inputs]


class OneAnswer(DoorAnswer):
    """An answer, its probability, and the probabilities of all possible answers."""

    answer: str
    probability: float
    probabilities: dict[str, float]


class StoryAnswer(OneAnswer):
    """An answer about a story, and how many of its first facts the model could not remember."""

    forgotten: int


class PictureAnswer(OneAnswer):
    """An answer about a picture, and a remark on how the picture was scaled, if it was."""

    remark: str


class TagsAnswer(DoorAnswer):
    """A tag for each word with its probability, the probability of all, and the spans that the tags mark, if any."""

    words: list[str]
    answers: list[str]
    probabilities: list[float]
    probability: float
    spans: list[tuple[str, int, int]] | None


class AnswersAnswer(DoorAnswer):
    """The answers; `inputs` lists the unfolded inputs, one for each answer."""

    model: str
    seconds: float
    answers: list[OneAnswer] | list[StoryAnswer] | list[PictureAnswer] | list[TagsAnswer]
    inputs: list[str] | None = None


_RECORDS: dict[str, type[DoorAnswer]] = {"tokens": TagsAnswer, "story": StoryAnswer, "picture": PictureAnswer}


def _ready(question: Question[AnswerBody]) -> AnswerBody:
    body, model, limits = question.body, question.model, question.limits
    check_inputs(model, body.inputs, limits)
    check_numbers(body, ("beam",), limits)
    changes: dict[str, Any] = {"tagger": [Held(item) for item in _find_taggers(model, body)] or None}
    if body.unfold:
        changes["inputs"] = [item for text in body.texts for item in _unfold(model, text)]
        check_amount(changes["inputs"], limits)
    return body.model_copy(update=changes)


def _unfold(model: Asked, text: str) -> list[str]:
    """Return the inputs that a text stands for: one for each thing it asks."""
    from regard.protocols import Unfolds

    task = model.model.task
    return task.unfold(text) if isinstance(task, Unfolds) else [text]


def _find_taggers(model: Asked, body: AnswerBody) -> list[Any]:
    """Return the named taggers or, for raw text, those for the other columns that the model reads.

    They come from its folder, or from the other served models.
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
    others = [other.model for other in model.others.values() if other.reads == "tokens" and other is not model]
    plain = [other for other in others if isinstance(other.task, Tagging) and not other.task.data.read_beside]
    columns = range(len(task.data.read_beside))
    fitting = [next((other for other in plain if finds_column(task, place, other.task)), None) for place in columns]
    return [other for other in fitting if other is not None]


def _named_tagger(model: Asked, name: str) -> Any:
    tagger = model.others.get(name)
    if tagger is None or "translate" in tagger.can:
        raise Fault(f"There is no tagger {name[:40]!r} here; there are {', '.join(model.others)}.")
    return tagger.model


def _key(body: AnswerBody) -> Hashable:
    return body.beam, body.raw, body.engine, body.as_is, *body.taggers


def _work(question: Question[AnswerBody]) -> list[DoorAnswer]:
    body, model = question.body, question.model
    record = _RECORDS.get(model.reads, OneAnswer)

    def answer(inputs: list[Held]) -> list[DoorAnswer]:
        answers = [asdict(item) for item in model.ask(body.model_copy(update={"inputs": inputs}))]
        if record is not PictureAnswer:
            return [record(**item) for item in answers]
        remarks = ["" if body.as_is else remark_on_file(model, item.content) for item in inputs]
        return [record(**item, remark=remark) for item, remark in zip(answers, remarks, strict=True)]

    return with_files(body.inputs, answer)


DOORS = (
    VerbDoor(
        path="/v1/answer",
        can="answer",
        summary="Answer each input.",
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
