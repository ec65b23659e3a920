"""Inputs as clients send them to doors: their kinds, their limits and costs, and their files while a model reads."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

from regard.base.doors import Asked, Limits, check_amount
from regard.base.faults import Fault
from regard.base.requests.fields import Held
from regard.data.media_sizes import picture_pixels, sound_seconds
from regard.verbs.answer.request import DrawingInput, PictureInput
from regard.verbs.transcribe.request import SoundInput

T = TypeVar("T")
_FRAME = 0.01  # seconds of sound
_CELL = 1000  # pixels, which cost about as much as a letter
_READS = {
    "nodes": ((int, str), "numbers of nodes"),
    "picture": ((PictureInput,), 'pictures, each as {"picture": "its file in base64"}'),
    "video": ((PictureInput,), 'videos, each as {"picture": "its GIF in base64"}'),
    "sound": ((SoundInput,), 'sounds, each as {"sound": "its file in base64"}'),
    "text": ((str,), "texts"),
    "tokens": ((str,), "sentences"),
    "prompt": ((str,), "texts"),
    "sequence": ((str,), "sequences of numbers, each as a text"),
    "items": ((str,), "examples, each a line of bits"),
    "story": ((str,), "stories, a fact a line and a question last"),
    "drawing": ((DrawingInput,), 'drawings, each as {"drawing": its strokes}'),
}


def input_cost(given: Any, reads: str = "") -> float:
    """Return the cost of reading an input, by its letters, frames of sound, cells of pixels, or points."""
    match given:
        case SoundInput():
            return 1 + sound_seconds(given.content) / _FRAME
        case PictureInput():
            return 1 + picture_pixels(given.content, reads == "video") / _CELL
        case DrawingInput():
            return 1.0 + sum(map(len, given.drawing))
        case str():
            return 1.0 + len(given)
    return 1.0


def check_inputs(model: Asked, inputs: Sequence[Any], limits: Limits) -> None:
    """Refuse inputs of another kind than the model reads, and more than a request may have."""
    check_amount([each if isinstance(each, str) else "" for each in inputs], limits)
    kinds, called = _READS[model.reads]
    for number, each in enumerate(inputs, start=1):
        if not isinstance(each, kinds):
            given = "the input" if len(inputs) == 1 else f"input {number}"
            raise Fault(f"The model {model.name} reads {called}; {given} is something else.")
        if isinstance(each, PictureInput | SoundInput):
            what = "picture" if isinstance(each, PictureInput) else "sound"
            _check_file(each, f"The {what}" if len(inputs) == 1 else f"Input {number}", model.reads, limits)
    check_points([each.drawing for each in inputs if isinstance(each, DrawingInput)], limits)


def _check_file(given: PictureInput | SoundInput, name: str, reads: str, limits: Limits) -> None:
    """Refuse a file with too many bytes, and one whose head says that it holds too much, before it is decoded."""
    content, is_picture = given.content, isinstance(given, PictureInput)
    what, most = ("picture", limits.picture) if is_picture else ("sound", limits.sound)
    if len(content) > most:
        raise Fault(f"{name} has {len(content):,} bytes, but a {what} here has at most {most:,}.")
    if is_picture and (pixels := picture_pixels(content, reads == "video")) > limits.pixels:
        raise Fault(f"{name} has {pixels:,} pixels, but a {what} here has at most {limits.pixels:,}. Make it smaller.")
    if not is_picture and (seconds := sound_seconds(content)) > limits.sound_seconds:
        raise Fault(f"{name} lasts {seconds:,.0f} seconds, but a sound here lasts at most {limits.sound_seconds:g}.")


def check_points(drawings: Sequence[Sequence[Sequence[Any]]], limits: Limits) -> None:
    """Refuse drawings with more points than a request may give."""
    points = sum(len(stroke) for drawing in drawings for stroke in drawing)
    if points > limits.points:
        raise Fault(f"The strokes have {points:,} points, but a request here gives at most {limits.points:,}.")


def with_files(inputs: Sequence[Any], work: Callable[[list[Held]], T]) -> T:
    """Return what work makes of inputs in its hands: a sound is its bytes, pictures and drawings are files meanwhile.

    Batches hold inputs of several requests, so a fault speaks of the picture without its number.
    """
    if not any(isinstance(each, PictureInput | DrawingInput) for each in inputs):
        return work([Held(each.content if isinstance(each, SoundInput) else each) for each in inputs])
    with TemporaryDirectory(prefix="regard-") as folder:
        try:
            return work([Held(_on_disk(each, Path(folder) / str(place))) for place, each in enumerate(inputs)])
        except Fault as fault:
            named = re.compile(rf"{re.escape(folder)}/\d+/")
            raise Fault(*(named.sub("", sentence) for sentence in fault.sentences)) from None


def _on_disk(given: PictureInput | DrawingInput, folder: Path) -> Path:
    folder.mkdir()
    path = folder / ("The picture" if isinstance(given, PictureInput) else "The drawing")
    path.write_bytes(given.content)
    return path


def remark_on_file(model: Asked, given: Any) -> str:
    """Return what is done to a picture before it is read, if anything is; its file is called by its name alone."""
    from regard.verbs.pictures import remark_on

    text = remark_on(model.model.task, given)
    return text.replace(str(given), given.name) if isinstance(given, Path) else text
