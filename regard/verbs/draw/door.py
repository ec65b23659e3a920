"""The door for drawings."""

from base64 import b64encode
from typing import Any

from regard.base.doors import DoorAnswer, ModelBody, Price, Question, VerbDoor, check_amount
from regard.base.faults import Fault
from regard.verbs.draw.request import DrawRequest
from regard.verbs.inputs import check_points
from regard.viewing.drawings import sheet_gif, sheet_png


class DrawBody(DrawRequest, ModelBody):
    """The drawings to make, and the model."""


class DrawnAnswer(DoorAnswer):
    """A drawing: a .png of it and a .gif of its steps, in base64, and its numbers as `regard draw` writes them."""

    picture: str
    animation: str
    drawing: dict[str, Any]


class DrawAnswer(DoorAnswer):
    model: str
    seconds: float
    seed: int
    drawings: list[DrawnAnswer]


def check_drawings(question: Question[DrawBody]) -> DrawBody:
    """Refuse more drawings than a request may ask for, and more points than it may contain."""
    body, limits = question.body, question.limits
    if body.count > limits.drawings:
        raise Fault(f"'count' is {body.count}, but the limit here is {limits.drawings}.")
    check_amount([body.prompt or ""], limits)
    check_points(_given(body), limits)
    return body


def _given(request: DrawRequest) -> list[Any]:
    """Return the drawings in a request."""
    return [request.complete or [], request.reconstruct or [], *(request.between or [])]


def _costs(question: Question[DrawBody]) -> list[float]:
    body = question.body
    points = sum(len(stroke) for strokes in _given(body) for stroke in strokes)
    return [body.count * (1 + (points + len(body.prompt or "")) / 100)]


def _work(question: Question[DrawBody]) -> dict[str, Any]:
    drawings = [
        DrawnAnswer(
            picture=b64encode(sheet_png([[drawn.picture()]])).decode(),
            animation=b64encode(sheet_gif([drawn.frames()])).decode(),
            drawing=drawn.as_dict(),
        )
        for drawn in question.model.ask(question.body)
    ]
    return {"seed": question.body.seed, "drawings": drawings}


DOORS = (
    VerbDoor(
        path="/v1/draw",
        can="draw",
        summary="Generate drawings.",
        body=DrawBody,
        answer=DrawAnswer,
        ready=check_drawings,
        price=Price("drawings, more for each point or letter given", 2),
        costs=_costs,
        work=_work,
    ),
)
