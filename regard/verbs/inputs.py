"""Inputs that clients send: their kinds, limits and costs, and the temporary files that a model reads."""

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
_CELL = 1000  # pixels that cost about as much as a letter
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


def input_cost(item: Any, reads: str = "") -> float:
    """Return the cost of reading an input: its letters, sound frames, thousands of pixels, or points."""
    match item:
        case SoundInput():
            return 1 + sound_seconds(item.content) / _FRAME
        case PictureInput():
            return 1 + picture_pixels(item.content, reads == "video") / _CELL
        case DrawingInput():
            return 1.0 + sum(map(len, item.drawing))
        case str():
            return 1.0 + len(item)
    return 1.0


def check_inputs(model: Asked, inputs: Sequence[Any], limits: Limits) -> None:
    """Refuse inputs that the model cannot read, and more of them than a request may have."""
    check_amount([item if isinstance(item, str) else "" for item in inputs], limits)
    kinds, description = _READS[model.reads]
    for number, item in enumerate(inputs, start=1):
        if not isinstance(item, kinds):
            position = "the input" if len(inputs) == 1 else f"input {number}"
            raise Fault(f"The model {model.name} reads {description}; {position} is something else.")
        if isinstance(item, PictureInput | SoundInput):
            what = "picture" if isinstance(item, PictureInput) else "sound"
            _check_file(item, f"The {what}" if len(inputs) == 1 else f"Input {number}", model.reads, limits)
    check_points([item.drawing for item in inputs if isinstance(item, DrawingInput)], limits)


def _check_file(item: PictureInput | SoundInput, name: str, reads: str, limits: Limits) -> None:
    """Refuse a file that is too large, by its bytes and by what its header says, before it is decoded."""
    content, is_picture = item.content, isinstance(item, PictureInput)
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
    """Call `work` with the content of the inputs: bytes for a sound, a temporary file for a picture or drawing.

    A batch may hold inputs of several requests, so error messages name the picture without its number.
    """
    if not any(isinstance(item, PictureInput | DrawingInput) for item in inputs):
        return work([Held(item.content if isinstance(item, SoundInput) else item) for item in inputs])
    with TemporaryDirectory(prefix="regard-") as folder:
        try:
            return work([Held(_on_disk(item, Path(folder) / str(place))) for place, item in enumerate(inputs)])
        except Fault as fault:
            folders = re.compile(rf"{re.escape(folder)}/\d+/")
            raise Fault(*(folders.sub("", sentence) for sentence in fault.sentences)) from None


def _on_disk(item: PictureInput | DrawingInput, folder: Path) -> Path:
    folder.mkdir()
    path = folder / ("The picture" if isinstance(item, PictureInput) else "The drawing")
    path.write_bytes(item.content)
    return path


def remark_on_file(model: Asked, item: Any) -> str:
    """Return a remark on how a picture is changed before it is read, or ""; it names the file without its folder."""
    from regard.verbs.pictures import remark_on

    text = remark_on(model.model.task, item)
    return text.replace(str(item), item.name) if isinstance(item, Path) else text
