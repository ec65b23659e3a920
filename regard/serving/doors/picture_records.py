"""What the doors of pictures answer."""

from regard.serving.doors.records import DoorAnswer


class WordLook(DoorAnswer):
    """A word of a caption, and where it looked: the weights of the places of a grid, row by row."""

    word: str
    weights: list[list[float]]


class CaptionAnswer(DoorAnswer):
    """What a picture shows, as `regard caption --json` has it."""

    text: str
    score: float
    attention: list[WordLook] | None


class CaptionsAnswer(DoorAnswer):
    model: str
    seconds: float
    captions: list[CaptionAnswer]
