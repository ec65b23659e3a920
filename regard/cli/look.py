"""`regard look`: what a model looks at, as a picture, a page, as numbers or in the terminal."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from regard.cli.console import refuse_existing, remark, terminal_width, wants_colour
from regard.faults import Fault
from regard.files import write_file

if TYPE_CHECKING:
    from regard.looking import Sight
    from regard.viewing.matrix import Matrix
    from regard.viewing.page import Start


def command(
    model: Annotated[Path, typer.Argument(help="A model folder.")],
    text: Annotated[str, typer.Option(help="A sentence for the model to read.")],
    target: Annotated[str | None, typer.Option(help="The output to look at; without it, the model's own.")] = None,
    out: Annotated[
        Path | None, typer.Option("-o", "--out", help="A .png, .svg, .html or .json file; without it, the terminal.")
    ] = None,
    side: Annotated[
        Literal["cross", "encoder", "decoder"],
        typer.Option(help="From target to source, within the source, or within the target."),
    ] = "cross",
    layer: Annotated[
        int | None, typer.Option(min=1, help="The block, counted from 1; by default the last but one.")
    ] = None,
    head: Annotated[int | None, typer.Option(min=1, help="The head, counted from 1; by default all joined.")] = None,
    heads: Annotated[
        Literal["mean", "max"] | None, typer.Option(help="How all heads are joined: their mean or their maximum.")
    ] = None,
    sheet: Annotated[bool, typer.Option("--sheet", help="All blocks and heads on one sheet.")] = False,
    lines: Annotated[bool, typer.Option("--lines", help="Two lines of text with links, in place of a matrix.")] = False,
    tokens: Annotated[bool, typer.Option("--tokens", help="Tokens in place of whole words.")] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the output file.")] = False,
) -> None:
    """Draw what a model looks at while it reads and writes."""
    import json

    kind = _kind(out, overwrite)
    _check(kind, [layer, head], heads, sheet, lines)
    from regard.looking import see
    from regard.model import load
    from regard.viewing.canvas import shown
    from regard.viewing.matrix import to_json
    from regard.viewing.page import Start

    sight = see(load(model), text, target)
    remark(f"{shown(text)} → {shown(sight.output)}")
    if out is not None and kind == ".html":
        sight.seen(side).one(layer, head, heads or "mean")  # what the page is to show first must be there
        write_sight(sight, Start(side, layer, head or heads or "mean", "tokens" if tokens else "words"), out)
        return
    seen = sight.seen(side, by_word=not tokens)
    matrices = seen.every() if sheet else [seen.one(layer, head, heads or "mean")]
    if out is None:
        _print(matrices)
    elif kind == ".json":
        numbers = {"text": text, "output": sight.output, "side": side, **to_json(matrices)}
        write_file(out, (json.dumps(numbers, ensure_ascii=False, indent=1) + "\n").encode())
    else:
        _draw(matrices, seen.heads if sheet else None, lines, out)


def _kind(out: Path | None, overwrite: bool) -> str:
    """The kind of file that is asked for, by its suffix; none for the terminal."""
    if out is None:
        return ""
    refuse_existing(out, overwrite)
    kind = out.suffix.lower()
    if kind not in (".png", ".svg", ".html", ".json"):
        raise Fault(f"{out} is neither .png, .svg, .html nor .json; the suffix says what to draw.")
    return kind


def _check(kind: str, chosen: list[int | None], heads: str | None, sheet: bool, lines: bool) -> None:
    """Refuse options that contradict each other."""
    if heads and chosen[1]:
        raise Fault("--head shows one head and --heads joins them all; give one of the two.")
    if sheet and any(chosen):
        raise Fault("--sheet shows every block and head; leave --layer and --head away.")
    if sheet and (heads or lines):
        raise Fault(f"--sheet shows a matrix for every head; leave {'--heads' if heads else '--lines'} away.")
    if sheet and kind == ".html":
        raise Fault("A page has its sheet already; leave --sheet away.")
    if lines and kind not in (".png", ".svg"):
        raise Fault("--lines draws a .png or an .svg; name one with -o.")


def _print(matrices: "list[Matrix]") -> None:
    import sys

    from regard.viewing.terminal import matrix_lines

    for matrix in matrices:
        print("\n".join(matrix_lines(matrix, terminal_width(), wants_colour(sys.stdout))))


def _draw(matrices: "list[Matrix]", across: list[int] | None, lines: bool, out: Path) -> None:
    from regard.viewing.lines import draw_lines
    from regard.viewing.matrix import draw_matrix, draw_sheet

    if across:
        missing = draw_sheet(matrices, out, across)
    else:
        missing = draw_lines(matrices[0], out) if lines else draw_matrix(matrices[0], out)
    if missing:
        remark(f"No font here can draw {' '.join(sorted(missing))}; an .svg or .html leaves that to its reader.")


def write_sight(sight: "Sight", start: "Start", out: Path) -> None:
    """The page of all that was looked at, without the tokens where it would grow too large with them."""
    from regard.viewing.page import MOST_WEIGHTS, Scene, fits, write_page

    data = sight.model.recipe.data
    words, tokens = (sight.every(by_word) for by_word in (True, False))
    if fits(words) and not fits([*words, *tokens]):
        remark(f"The page shows words alone: with the tokens it would have more than {MOST_WEIGHTS:,} weights.")
        tokens = []
    languages = (data.source_language, data.target_language)
    write_page(Scene(sight.text, sight.output, words, tokens, languages, start), out)
