"""Lessons that measure or search: the cost of attention, Jacobians, and ways of decoding."""

import os
from pathlib import Path
from typing import Annotated

import typer

from regard.base.faults import Fault
from regard.commands.show.tables import tables_view
from regard.commands.show.view import AsJson, LessonFile, Overwrite, check_out, show_view

_AnyModel = Annotated[Path | None, typer.Argument(help="A model folder; without one, a built-in example.")]


def cost(
    model: _AnyModel = None,
    longest: Annotated[int, typer.Option(min=16, max=16384, help="The longest context to measure, in tokens.")] = 2048,
    heads: Annotated[int | None, typer.Option(min=1, max=64, help="Number of heads (4).")] = None,
    depth: Annotated[int | None, typer.Option(min=1, max=256, help="Depth of each head (64).")] = None,
    out: LessonFile = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Measure what attention costs by context length: scores, memory and time.

    Plain attention, which holds all weights, is measured next to the fused kernel, on this machine. With a model, heads
    and depth are the model's.
    """
    check_out(out, overwrite, has_page=True)
    if model is not None and (heads or depth):
        raise Fault("--heads and --depth are for attention without a model; omit them with a model folder.")
    os.environ.setdefault("KINETO_LOG_LEVEL", "99")  # before torch loads: its profiler writes to standard error
    import torch

    from regard.model import load
    from regard.seeing.lessons.cost import Sizes, cost_lesson, doubled, measure_costs, sizes_of
    from regard.viewing.lesson_page import LessonTable
    from regard.viewing.lessons import draw_lesson, lesson_to_json

    sizes = Sizes(heads or 4, depth or 64) if model is None else sizes_of(load(model))
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    name = torch.cuda.get_device_name() if device.type == "cuda" else "CPU"
    costs = measure_costs(doubled(longest), sizes, device)
    lesson = cost_lesson(costs, sizes, name)
    columns = ["context", "scores of a head", "plain, MB", "fused, MB", "plain, ms", "fused, ms"]
    rows = [
        [
            f"{cost.context:,}",
            f"{cost.scores:,}",
            f"{cost.plain_bytes / 1e6:.2f}",
            f"{cost.fused_bytes / 1e6:.2f}",
            f"{cost.plain_seconds * 1e3:.2f}",
            f"{cost.fused_seconds * 1e3:.2f}",
        ]
        for cost in costs
    ]
    caption = " ".join(panel.caption for panel in lesson.panels)
    table = LessonTable(f"{sizes.heads} heads of depth {sizes.depth}, {name}", columns, rows, caption)
    numbers = {"heads": sizes.heads, "depth": sizes.depth, "device": name, "costs": [vars(cost) for cost in costs]}
    view = tables_view(
        lesson.title, lambda: numbers | lesson_to_json(lesson), lambda path: draw_lesson(lesson, path), [table]
    )
    show_view(view, out, as_json)
