"""`regard draw`: drawings of a model's own, as a picture, as an animation of how they came to be, or as numbers.

Models that draw strokes can also go on with those in a file, draw them again, or find the way from one to another.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from regard.base.faults import Fault
from regard.console import options, refuse_existing, refuse_folder, remark_written
from regard.console.inputs import inputs_after_model, one_text

if TYPE_CHECKING:
    from regard.protocols import Drawn

_Prompt = Annotated[
    str | None,
    typer.Option(
        "--text", "--prompt", metavar="TEXT", help="What to draw, for a model that paints what a text asks for."
    ),
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
            help="A .png of the drawings, a .gif of how they come to be, their numbers as .json, or strokes as .svg.",
        ),
    ] = None,
    count: Annotated[int | None, typer.Option(help="How many drawings (1).")] = None,
    seed: Annotated[int | None, typer.Option(help="Which drawings of all that it could draw (1).")] = None,
    prompt: _Prompt = None,
    temperature: Annotated[
        float | None, typer.Option(help="How freely each step is chosen (1.0); below it, probable ones more often.")
    ] = None,
    frames: Annotated[
        int | None,
        typer.Option(min=2, max=64, help="In a .png, show each drawing at so many of its steps, from left to right."),
    ] = None,
    complete: Annotated[
        Path | None, typer.Option(help="A file whose first drawing is gone on with, as JSON or polylines of an SVG.")
    ] = None,
    between: Annotated[
        tuple[Path, Path] | None, typer.Option(help="Two such files: draw the way from one to the other.")
    ] = None,
    reconstruct: Annotated[
        Path | None, typer.Option(help="Such a file, drawn again by an autoencoder, from what sums it up.")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the output file.")] = False,
) -> None:
    """Let a model draw: from nothing but chance, from strokes that are given, or what a prompt asks for."""
    if out is None:
        raise Fault("Drawings go into a file; name one, as -o drawings.png.")
    if out.suffix.lower() not in SUFFIXES:
        raise Fault(f"{out} is neither .png, .gif, .json nor .svg; the suffix says what to write.")
    if frames is not None and out.suffix.lower() != ".png":
        raise Fault(f"--frames is for a .png; {out} has all steps or none.")
    refuse_folder(out)
    refuse_existing(out, overwrite)
    from regard.console.option_names import OptionNames
    from regard.verbs.draw.request import DrawRequest

    sources = inputs_after_model(inputs, prompt)
    named: dict[str, Any] = {"count": count, "seed": seed, "temperature": temperature}
    named |= {"prompt": one_text(sources)} if sources else {}
    named |= {name: _strokes(file) for name, file in (("complete", complete), ("reconstruct", reconstruct)) if file}
    if between is not None:
        named["between"] = [_strokes(file) for file in between]
    request = DrawRequest.read({name: value for name, value in named.items() if value is not None}, OptionNames())
    from regard.base.files import write_file
    from regard.loading import load_able
    from regard.verbs.draw.run import draw_each

    loaded = load_able(model, "draw")
    write_file(out, _content(out.suffix.lower(), list(draw_each(loaded.task, request)), frames))
    remark_written(out)


def _strokes(file: Path) -> list[list[list[float]]]:
    """The strokes of the first drawing in a file."""
    from regard.data.strokes.drawings import read_strokes

    return [stroke.tolist() for stroke in read_strokes(file)]


def _content(suffix: str, drawings: "Sequence[Drawn]", frames: int | None) -> bytes:
    from regard.viewing.drawings import DrawnStrokes, in_rows, sheet_gif, sheet_png, spread, svg_sheet

    if suffix == ".svg":
        strokes = [each for each in drawings if isinstance(each, DrawnStrokes)]
        if len(strokes) < len(drawings):
            raise Fault("An .svg is for models that draw strokes; this one draws pictures, so name a .png.")
        return svg_sheet(strokes)

    if suffix == ".json":
        return (json.dumps({"drawings": [each.as_dict() for each in drawings]}, allow_nan=False) + "\n").encode()
    if suffix == ".gif":
        return sheet_gif([each.frames() for each in drawings])
    if frames is None:
        return sheet_png(in_rows([each.picture() for each in drawings]))
    return sheet_png([spread(each.frames(), frames) for each in drawings])
