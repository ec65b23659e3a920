"""What the door of drawing answers."""

from typing import Any

from regard.serving.doors.records import DoorAnswer


class DrawnAnswer(DoorAnswer):
    """A drawing: a .png of it and a .gif of how it came to be, in base64, and its numbers as `regard draw` has them."""

    picture: str
    animation: str
    drawing: dict[str, Any]


class DrawAnswer(DoorAnswer):
    model: str
    seconds: float
    seed: int
    drawings: list[DrawnAnswer]
