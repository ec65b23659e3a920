"""Generate pictures or strokes: at random, from given strokes, or from a text."""

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
    """Yield the drawings of a request, as soon as each batch is done.

    Random numbers are drawn on the CPU, one drawing after another, so that the first drawings do not depend on their
    number or the device.
    """
    chance = torch.Generator().manual_seed(request.seed)
    if isinstance(task, Paints):
        yield from _paint_each(task, request, chance)
        return
    if request.prompt is not None:
        ways = "at random or from strokes" if isinstance(task, Sketches) else "pictures at random"
        raise Fault(f"This model reads no prompt; it draws {ways}.")
    if isinstance(task, Sketches):
        sketch = sketch_request(request)
        at_once = request.count if sketch.way == "between" else AT_ONCE  # an interpolation needs all its steps
        for first in range(0, request.count, at_once):
            yield from task.sketch(min(at_once, request.count - first), chance, sketch)
        return
    if request.has_any(*OF_STROKES):
        raise Fault("This model draws pictures at random; it takes neither strokes nor a temperature.")
    for first in range(0, request.count, AT_ONCE):
        yield from task.draw(min(AT_ONCE, request.count - first), chance)


def sketch_request(request: DrawRequest) -> SketchRequest:
    """Return the request for a model that draws strokes."""
    for way in ("complete", "reconstruct"):
        if (strokes := getattr(request, way)) is not None:
            return SketchRequest(way, [check_strokes(strokes, way)], request.temperature)
    if request.between is not None:
        return SketchRequest(
            "between", [check_strokes(drawing, "between") for drawing in request.between], request.temperature
        )
    return SketchRequest(temperature=request.temperature)


def _paint_each(task: Any, request: DrawRequest, chance: torch.Generator) -> Iterator[Drawn]:
    """Paint pictures for the prompt."""
    if request.prompt is None or request.has_any("complete", "between", "reconstruct"):
        raise Fault("This model paints from a text; give a prompt, and no strokes.")
    for first in range(0, request.count, AT_ONCE):
        try:
            batch = task.read([request.prompt] * min(AT_ONCE, request.count - first))
        except TextFault as fault:  # the batch repeats one text
            raise fault.without_number() from None
        yield from task.paint(batch, chance, request.temperature)
