"""`regard look`: what a model looks at, as a picture, as numbers or in the terminal."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from regard.cli.console import refuse_existing, remark, terminal_width, wants_colour
from regard.faults import Fault
from regard.files import write_file


def command(
    model: Annotated[Path, typer.Argument(help="A model folder.")],
    text: Annotated[str, typer.Option(help="A sentence for the model to read.")],
    target: Annotated[str | None, typer.Option(help="The output to look at; without it, the model's own.")] = None,
    out: Annotated[
        Path | None, typer.Option("-o", "--out", help="A .png, .svg or .json file; without it, the terminal.")
    ] = None,
    side: Annotated[
        Literal["cross", "encoder", "decoder"],
        typer.Option(help="From target to source, within the source, or within the target."),
    ] = "cross",
    layer: Annotated[
        int | None, typer.Option(min=1, help="The block, counted from 1; by default the last but one.")
    ] = None,
    head: Annotated[int | None, typer.Option(min=1, help="The head, counted from 1; by default their mean.")] = None,
    sheet: Annotated[bool, typer.Option("--sheet", help="All blocks and heads on one sheet.")] = False,
    tokens: Annotated[bool, typer.Option("--tokens", help="Tokens on the axes in place of whole words.")] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the output file.")] = False,
) -> None:
    """Draw what a model looks at while it reads and writes."""
    import json
    import sys

    if out is not None:
        refuse_existing(out, overwrite)
        if out.suffix not in (".png", ".svg", ".json"):
            raise Fault(f"{out} is neither .png, .svg nor .json; the suffix says what to draw.")
    if sheet and (layer or head):
        raise Fault("--sheet shows every block and head; leave --layer and --head away.")
    from regard.looking import look
    from regard.model import load
    from regard.viewing.matrix import draw_matrix, draw_sheet, to_json
    from regard.viewing.terminal import matrix_lines

    seen = look(load(model), text, target, side, by_word=not tokens)
    matrices = seen.every() if sheet else [seen.one(layer, head)]
    remark(f"{text} → {seen.output}")
    if out is None:
        for matrix in matrices:
            print("\n".join(matrix_lines(matrix, terminal_width(), wants_colour(sys.stdout))))
    elif out.suffix == ".json":
        write_file(out, (json.dumps(to_json(matrices), ensure_ascii=False, indent=1) + "\n").encode())
    else:
        missing = draw_sheet(matrices, out, across=seen.weights.shape[1]) if sheet else draw_matrix(matrices[0], out)
        if missing:
            remark(f"No font here can draw {' '.join(sorted(missing))}; an .svg leaves that to its reader.")
