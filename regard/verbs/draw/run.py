"""Drawing: pictures or strokes, from nothing, from strokes that are given, or as a text asks."""

from collections.abc import Iterator
from typing import Any

import torch

from regard.base.faults import Fault, TextFault
from regard.data.strokes.drawings import check_strokes
from regard.loading import Loaded
from regard.protocols import Drawn, Paints, Sketches, SketchRequest
from regard.verbs.draw.request import DrawRequest

AT_ONCE = 64  # drawings in one batch
OF_STROKES = ("temperature", "complete", "between", "reconstruct")


def run(model: Loaded, request: DrawRequest) -> Iterator[Drawn]:
    """Return the drawings that a request asks for."""
    return draw_each(model.task, request)


def draw_each(task: Any, request: DrawRequest) -> Iterator[Drawn]:
    """The drawings of a request, as soon as each batch of them is done.

    The chance is drawn on the CPU, one drawing after the other, so that the first of many is that of a few, on any
    device.
    """
    chance = torch.Generator().manual_seed(request.seed)
    if isinstance(task, Paints):
        yield from _paint_each(task, request, chance)
        return
    if request.prompt is not None:
        raise Fault("This model reads no prompt: it draws from nothing but chance, or from strokes.")
    if isinstance(task, Sketches):
        asked = sketch_request(request)
        at_once = request.count if asked.way == "between" else AT_ONCE  # the way is parted into so many steps
        for first in range(0, request.count, at_once):
            yield from task.sketch(min(at_once, request.count - first), chance, asked)
        return
    if request.has_any(*OF_STROKES):
        raise Fault("This model draws pictures from chance alone: it takes neither strokes nor a temperature.")
    for first in range(0, request.count, AT_ONCE):
        yield from task.draw(min(AT_ONCE, request.count - first), chance)


def sketch_request(request: DrawRequest) -> SketchRequest:
    """Return the request to a model that draws strokes."""
    for way in ("complete", "reconstruct"):
        if (given := getattr(request, way)) is not None:
            return SketchRequest(way, [check_strokes(given, way)], request.temperature)
    if request.between is not None:
        return SketchRequest(
            "between", [check_strokes(each, "between") for each in request.between], request.temperature
        )
    return SketchRequest(temperature=request.temperature)


def _paint_each(task: Any, request: DrawRequest, chance: torch.Generator) -> Iterator[Drawn]:
    """Paint what a text asks for, several times."""
    if request.prompt is None or request.has_any("complete", "between", "reconstruct"):
        raise Fault("This model paints what a text asks for; give it one as a prompt, and no strokes.")
    for first in range(0, request.count, AT_ONCE):
        try:
            batch = task.read([request.prompt] * min(AT_ONCE, request.count - first))
        except TextFault as fault:  # all are one text
            raise fault.without_number() from None
        yield from task.paint(batch, chance, request.temperature)
