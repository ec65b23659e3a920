"""`regard draw`: generate drawings as a picture, as an animation of their steps, or as numbers.

Models that draw strokes can also complete those in a file, reconstruct them, or interpolate between two.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from regard.base.faults import Fault
from regard.base.figures import quantity
from regard.console import options, refuse_existing, refuse_folder, refuse_input, remark, remark_written
from regard.console.inputs import inputs_after_model, one_text

if TYPE_CHECKING:
    from regard.protocols import Drawn

_Prompt = Annotated[
    str | None,
    typer.Option("--text", "--prompt", metavar="TEXT", help="What to draw, for a text-to-image model."),
]
SUFFIXES = (".png", ".gif", ".json", ".svg")


def command(
    model: Annotated[Path, typer.Argument(help="A model folder.")],
    inputs: options.OneInput = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--out",
            help="A .png of the drawings, a .gif of their steps, a .json of their numbers, or an .svg of strokes.",
        ),
    ] = None,
    count: Annotated[int | None, typer.Option(help="Number of drawings (1).")] = None,
    seed: Annotated[int | None, typer.Option(help="Random seed (1).")] = None,
    prompt: _Prompt = None,
    temperature: Annotated[
        float | None, typer.Option(help="Sampling temperature (1.0); below 1, probable steps are chosen more often.")
    ] = None,
    frames: Annotated[
        int | None,
        typer.Option(min=2, max=64, help="In a .png, show each drawing at this many of its steps, from left to right."),
    ] = None,
    complete: Annotated[
        Path | None, typer.Option(help="Complete the first drawing of this file (JSON, or polylines of an SVG).")
    ] = None,
    between: Annotated[
        tuple[Path, Path] | None, typer.Option(help="Interpolate between the drawings of two such files.")
    ] = None,
    reconstruct: Annotated[
        Path | None, typer.Option(help="Reconstruct the drawing of such a file with an autoencoder.")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the output file.")] = False,
) -> None:
    """Generate drawings: at random, from given strokes, or from a prompt."""
    if out is None:
        raise Fault("Drawings go into a file; name one, as in -o drawings.png.")
    if out.suffix.lower() not in SUFFIXES:
        raise Fault(f"{out} does not end in .png, .gif, .json or .svg; the suffix chooses the format.")
    if frames is not None and out.suffix.lower() != ".png":
        raise Fault(f"--frames is for a .png; {out} shows all steps or none.")
    refuse_folder(out)
    refuse_existing(out, overwrite)
    refuse_input(out, [complete, reconstruct, *(between or ())])
    from regard.console.option_names import OptionNames
    from regard.verbs.draw.request import DrawRequest

    sources = inputs_after_model(inputs, prompt)
    fields: dict[str, Any] = {"count": count, "seed": seed, "temperature": temperature}
    fields |= {"prompt": one_text(sources)} if sources else {}
    fields |= {name: _strokes(file) for name, file in (("complete", complete), ("reconstruct", reconstruct)) if file}
    if between is not None:
        fields["between"] = [_strokes(file) for file in between]
    request = DrawRequest.read({name: value for name, value in fields.items() if value is not None}, OptionNames())
    from regard.base.files import write_file
    from regard.loading import load_able
    from regard.verbs.draw.run import draw_each

    loaded = load_able(model, "draw")
    write_file(out, _content(out.suffix.lower(), list(draw_each(loaded.task, request)), frames))
    remark_written(out)


def _strokes(file: Path) -> list[list[list[float]]]:
    """Return the strokes of the first drawing in a file."""
    from regard.data.strokes.drawings import read_strokes

    return [stroke.tolist() for stroke in read_strokes(file)]


def _content(suffix: str, drawings: "Sequence[Drawn]", frames: int | None) -> bytes:
    from regard.viewing.drawings import DrawnStrokes, in_rows, sheet_gif, sheet_png, spread, svg_sheet

    if suffix == ".svg":
        strokes = [drawing for drawing in drawings if isinstance(drawing, DrawnStrokes)]
        if len(strokes) < len(drawings):
            raise Fault("An .svg is for models that draw strokes; this one draws pictures, so name a .png file.")
        return svg_sheet(strokes)

    if suffix == ".json":
        return (json.dumps({"drawings": [drawing.as_dict() for drawing in drawings]}, allow_nan=False) + "\n").encode()
    if suffix == ".gif":
        return sheet_gif([drawing.frames() for drawing in drawings])
    if frames is None:
        return sheet_png(in_rows([drawing.picture() for drawing in drawings]))
    steps = [drawing.frames() for drawing in drawings]
    if (fewest := min(map(len, steps))) < frames:
        remark(f"A drawing has {quantity(fewest, 'step')} to show, fewer than --frames {frames}.")
    return sheet_png([spread(shown, frames) for shown in steps])
