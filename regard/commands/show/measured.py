"""Lessons that measure or search: the cost of attention, Jacobians, and ways of decoding."""

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from regard.base.faults import Fault
from regard.commands.show.tables import panel_table, tables_view
from regard.commands.show.view import FOR_A_MODEL, AsJson, LessonFile, Overwrite, check_out, refuse_given, show_view

if TYPE_CHECKING:
    from collections.abc import Mapping

    from regard.verbs.generate.model import LanguageModel
    from regard.viewing.lesson_page import LessonTable
    from regard.viewing.lessons import Drawable

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
    from regard.model import load
    from regard.seeing.lessons.cost import Sizes, cost_lesson, doubled, measure_costs, own_device, sizes_of
    from regard.viewing.lesson_page import LessonTable
    from regard.viewing.lessons import draw_lesson, lesson_to_json

    sizes = Sizes(heads or 4, depth or 64) if model is None else sizes_of(load(model))
    device, name = own_device()
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


def jacobians(
    model: _AnyModel = None,
    text: Annotated[str | None, typer.Option(help="The sentence for the model to read.")] = None,
    width: Annotated[int | None, typer.Option(min=2, max=64, help="Hidden size of the cells (32).")] = None,
    length: Annotated[int | None, typer.Option(min=1, max=100, help="Steps of the cells (20).")] = None,
    keep: Annotated[
        float | None,
        typer.Option(min=-100, max=100, help="Bias of the LSTM's forget gate and the GRU's update gate (1)."),
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Seed of weights and inputs (1).")] = None,
    out: LessonFile = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Draw what Jacobians do to a recurrent state.

    Shows a unit that stores a bit, with the slopes at its states; how the variance of products of random Jacobians
    grows; and the eigenvalues of every step of an LSTM and a GRU, with the unit circle. With a recurrent model, its
    eigenvalues over the tokens of --text.
    """
    check_out(out, overwrite, has_page=True)
    settings = {"length": length, "width": width, "seed": seed, "keep": keep}
    given: dict[str, Any] = {name: value for name, value in settings.items() if value is not None}
    if (model is None) != (text is None):
        raise Fault("A model and --text go together: the model reads the text. Omit both for the built-in example.")
    if model is not None and given:
        raise Fault(f"--{next(iter(given))} is for random weights; omit it with a model.")
    from regard.seeing.lessons.gradients import Experiment
    from regard.seeing.lessons.spectra import jacobians_lesson, trained_jacobians_lesson
    from regard.viewing.lessons import draw_lesson, lesson_to_json

    if model is None or text is None:
        lesson = jacobians_lesson(replace(Experiment(length=20), **given))
    else:
        from regard.model import load

        lesson = trained_jacobians_lesson(load(model), text)
    tables = [_jacobian_table(panel) for panel in lesson.panels]
    view = tables_view(lesson.title, lambda: lesson_to_json(lesson), lambda path: draw_lesson(lesson, path), tables)
    show_view(view, out, as_json)


def _jacobian_table(panel: "Drawable") -> "LessonTable":
    """Return the numbers of a panel: fixed points, variances by length, or the largest eigenvalues."""
    from regard.seeing.lessons.spectra import largest
    from regard.viewing.lesson_page import LessonTable
    from regard.viewing.lesson_panels import BitPanel, PlanePanel
    from regard.viewing.lessons import LessonPanel

    if isinstance(panel, BitPanel):
        rows = [
            [
                f"{unit.weight:g}",
                f"{point.state:.3f}",
                f"{point.slope:.3f}",
                "stable" if point.is_stable else "unstable",
            ]
            for unit in panel.maps
            for point in unit.points
        ]
        return LessonTable(panel.title, ["w", "h = tanh(w h)", "slope w (1 - h²)", "stable"], rows, panel.caption)
    if isinstance(panel, PlanePanel):
        rows = [[f"{number:.3f}" for number in row] for row in largest(panel)]
        return LessonTable(panel.title, ["size", "real part", "imaginary part"], rows, panel.caption)
    assert isinstance(panel, LessonPanel)
    return panel_table(panel)


def decoding(
    context: typer.Context,
    model: _AnyModel = None,
    prompt: Annotated[str | None, typer.Option(help="The beginning of the text for the model to continue.")] = None,
    tokens: Annotated[int, typer.Option(min=1, max=1000, help="Most tokens to write after the prompt.")] = 20,
    past_end: Annotated[bool, typer.Option("--past-end", help="Continue past the end of a line.")] = False,
    shown: Annotated[int, typer.Option(min=1, max=30, help="Number of next tokens to show.")] = 10,
    beam: Annotated[int, typer.Option(min=2, max=64, help="Beam size.")] = 3,
    temperature: Annotated[float, typer.Option(min=0.01, max=100, help="Temperature.")] = 0.5,
    top_k: Annotated[int | None, typer.Option(min=1, help="Tokens that top-k keeps (5; 2 in the example).")] = None,
    top_p: Annotated[float, typer.Option(min=0.01, max=1, help="Probability that top-p keeps.")] = 0.9,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the samples.")] = 1,
    out: LessonFile = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Continue one prompt by five ways: greedy, beam, temperature, top-k and top-p.

    Shows the distribution of the next token with what each way keeps of it, and the text that each writes. Without a
    model, the prompt and the probabilities are a built-in example, small enough to check by hand.
    """
    check_out(out, overwrite, has_page=True)
    if (model is None) != (prompt is None):
        raise Fault("A model and --prompt go together. Omit both for the built-in example.")
    if model is None:
        refuse_given(context, {"beam", "temperature", "top_k", "top_p", "seed"}, FOR_A_MODEL)
    from regard.seeing.lessons.decoding import Ways, example_decoding, model_decoding
    from regard.viewing.decoding import TITLE, decoding_tables, decoding_to_json, draw_decoding

    ways = Ways(beam, temperature, top_k or (2 if model is None else 5), top_p, seed)
    if model is None or prompt is None:
        lesson = example_decoding(ways)
    else:
        from regard.verbs.opening import model_in

        loaded = cast("LanguageModel", model_in(model, verb="generate"))

        def write(search: "Mapping[str, Any]") -> tuple[str, float]:
            ((text,),) = loaded.generate([prompt], tokens, past_end=past_end, **search)
            return text.text, sum(text.token_scores)

        lesson = model_decoding(loaded, prompt, ways, shown, write)
    view = tables_view(
        TITLE, lambda: decoding_to_json(lesson), lambda path: draw_decoding(lesson, path), decoding_tables(lesson)
    )
    show_view(view, out, as_json)
