"""The door for captions of pictures."""

from collections.abc import Hashable

from regard.base.doors import DoorAnswer, ModelBody, Price, Question, VerbDoor, check_numbers
from regard.verbs.caption.request import CaptionRequest
from regard.verbs.inputs import check_inputs, input_cost

_TOKENS = 20  # in a caption, on average


class CaptionBody(CaptionRequest, ModelBody):
    """The pictures to caption, and the model."""


class WordLook(DoorAnswer):
    """A word of a caption and its attention weights over a grid, row by row."""

    word: str
    weights: list[list[float]]


class CaptionAnswer(DoorAnswer):
    """The caption of a picture, as `regard caption --json` prints it."""

    text: str
    score: float
    attention: list[WordLook] | None


class CaptionsAnswer(DoorAnswer):
    model: str
    seconds: float
    captions: list[CaptionAnswer]


def _check(question: Question[CaptionBody]) -> CaptionBody:
    check_inputs(question.model, question.body.pictures, question.limits)
    check_numbers(question.body, ("beam",), question.limits)
    return question.body


def _key(body: CaptionBody) -> Hashable | None:
    """Return the key by which captions share a batch; None for samples, which depend on the picture's number."""
    return None if body.sample is not None else (body.beam, body.length_penalty, body.attention)


def _costs(question: Question[CaptionBody]) -> list[float]:
    tokens = _TOKENS * (question.body.beam or 1)
    return [input_cost(picture, question.model.reads) + tokens for picture in question.body.pictures]


DOORS = (
    VerbDoor(
        path="/v1/caption",
        can="caption",
        summary="Caption each picture.",
        body=CaptionBody,
        answer=CaptionsAnswer,
        ready=_check,
        key=_key,
        price=Price("thousands of pixels, and 20 tokens for each place in the beam", 2000, ordinary=400),
        costs=_costs,
        work=lambda question: question.model.ask(question.body, first=question.first),
        write=lambda caption: CaptionAnswer(**caption.as_dict()),
        listed="captions",
    ),
)
