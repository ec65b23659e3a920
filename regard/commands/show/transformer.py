"""Lessons of `regard show` about the parts of a Transformer: embeddings, positions, order and feed-forward nets."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from regard.base.faults import Fault
from regard.commands.show.view import AsJson, Overwrite, View, check_out, show_view
from regard.console import terminal_width

if TYPE_CHECKING:
    from regard.viewing.tables import TableLesson

AnyForm = Annotated[
    Path | None,
    typer.Option("-o", "--out", help="A .png, .svg, .json or .html file; otherwise print to the terminal."),
]
_Trained = Annotated[Path | None, typer.Argument(help="A model folder; without one, a small example.")]


def embedding(
    model: _Trained = None,
    text: Annotated[str | None, typer.Option(help="Text whose tokens are looked up in the model.")] = None,
    out: AnyForm = None,
    vocabulary: Annotated[
        int, typer.Option(min=1, help="Number of tokens in the table of sizes, without a model.")
    ] = 10_000,
    width: Annotated[int, typer.Option(min=1, help="Width in the table of sizes, without a model.")] = 512,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Show that an embedding is a look-up, and how large it and the logits are.

    A one-hot vector times a matrix is one of its rows. The example has numbers to check by hand; for a model, the
    vectors of some tokens are looked up and multiplied, and the sizes are its own.
    """
    check_out(out, overwrite, has_page=True)
    from regard.seeing.lessons.embedding import embedding_example, embedding_lesson

    if model is None:
        if text is not None:
            raise Fault("--text is for a model; name its folder first, or omit --text.")
        lesson = embedding_example(vocabulary, width)
    else:
        from regard.model import load

        lesson = embedding_lesson(load(model, device="cpu"), text or _own_example(model))
    show_view(tables_view(lesson), out, as_json)


def _own_example(folder: Path) -> str:
    """Return the first text that the model folder keeps to try the model with; refuse a folder without any."""
    from regard.runs.about import read_about

    examples = read_about(folder).examples
    if not examples:
        raise Fault(f"{folder} has no examples of its own; give a sentence with --text.")
    return examples[0]


def tables_view(lesson: "TableLesson") -> View:
    """Return all forms of a lesson made of tables."""
    from regard.viewing.tables import draw_tables, tables_lines, tables_page, tables_to_json

    return View(
        lambda: tables_to_json(lesson),
        lambda path: draw_tables(lesson, path),
        lambda: print("\n".join(tables_lines(lesson, terminal_width()))),
        lambda: tables_page(lesson),
    )
