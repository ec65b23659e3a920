"""Lessons of `regard show` about the parts of a Transformer: embeddings, positions, order and feed-forward nets."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from regard.base.faults import Fault
from regard.commands.show.view import (
    FOR_A_MODEL,
    AsJson,
    LessonFile,
    Overwrite,
    PictureFile,
    View,
    check_out,
    is_given,
    refuse_given,
    show_view,
)
from regard.console import console_progress, terminal_width

if TYPE_CHECKING:
    from regard.loading import Loaded
    from regard.viewing.tables import TableLesson

_OWN_TEXTS = 50  # texts of a model's own data that are read
_Trained = Annotated[Path | None, typer.Argument(help="A model folder; without one, a small example.")]


def embedding(
    context: typer.Context,
    model: _Trained = None,
    text: Annotated[str | None, typer.Option(help="Text whose tokens are looked up in the model.")] = None,
    out: LessonFile = None,
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
        refuse_given(context, {"vocabulary", "width"}, FOR_A_MODEL)
        lesson = embedding_example(vocabulary, width)
    else:
        refuse_given(
            context, {"model", "text"}, "is for the table of sizes without a model; omit it with a model folder."
        )
        from regard.model import load

        lesson = embedding_lesson(load(model, device="cpu"), text or _own_example(model))
    show_view(tables_view(lesson), out, as_json)


def feed_forward(
    context: typer.Context,
    model: _Trained = None,
    text: Annotated[
        list[str] | None,
        typer.Option(help="A text to read; may be repeated. By default texts of the model's own data."),
    ] = None,
    out: LessonFile = None,
    layer: Annotated[
        int | None,
        typer.Option(min=1, help="The block, counted from 1, a decoder's after its encoder's; the last by default."),
    ] = None,
    units: Annotated[int, typer.Option(min=1, max=40, help="Number of units; those with the largest activations.")] = 8,
    unit: Annotated[int | None, typer.Option(min=1, help="Show this unit alone.")] = None,
    tokens: Annotated[int, typer.Option(min=1, max=20, help="Number of tokens to show for each key and value.")] = 5,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Show the feed-forward net as a database of keys and values.

    A row of the first matrix is a key: the tokens at which it switches its unit on are listed. A column of the second
    is a value: the tokens whose logits it raises are listed. Without a model, an example to check by hand.
    """
    check_out(out, overwrite, has_page=True)
    if unit is not None and is_given(context, "units"):
        raise Fault("--unit shows one unit alone; omit --units.")
    from regard.seeing.lessons.feed_forward import Chosen, feed_forward_example, feed_forward_lesson

    if model is None:
        refuse_given(context, set(), FOR_A_MODEL)
        lesson = feed_forward_example()
    else:
        from regard.model import load

        loaded = load(model, device="cpu")
        lesson = feed_forward_lesson(loaded, text or _own_texts(loaded, model), layer, Chosen(units, unit, tokens))
    show_view(tables_view(lesson), out, as_json)


def permutation(
    context: typer.Context,
    text: Annotated[str | None, typer.Option(help="Words in their first order.")] = None,
    other: Annotated[str | None, typer.Option(help="The same words in another order; by default backwards.")] = None,
    model: Annotated[
        Path | None, typer.Option(help="A trained Transformer, GPT or BERT to use instead of the small example.")
    ] = None,
    out: LessonFile = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the words' vectors in the example.")] = 1,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Show that attention without positions does not see the order of words.

    The words of two texts are the same in another order. Without positions, each word has the same output in both; with
    positions it has not. For a model, its own positions are kept or removed.
    """
    check_out(out, overwrite, has_page=True)
    from regard.seeing.lessons import permutation as lessons

    if text is None and other is not None:
        raise Fault("--other is another order of --text; give both.")
    if model is None:
        first, second = (lessons.FIRST, lessons.SECOND) if text is None else (text, other)
        lesson = lessons.permutation_example(first, second or lessons.reversed_words(first), seed)
    else:
        refuse_given(context, {"model", "text", "other"}, "is for the vectors of the example; omit it with --model.")
        from regard.model import load

        first = text or _own_example(model)
        lesson = lessons.permutation_lesson(load(model, device="cpu"), first, other or lessons.reversed_words(first))
    show_view(tables_view(lesson), out, as_json)


def positions(
    context: typer.Context,
    out: PictureFile = None,
    kind: Annotated[
        Literal["all", "sinusoidal", "rotary", "alibi"], typer.Option(help="Which encoding, or all of them.")
    ] = "all",
    length: Annotated[int, typer.Option(min=2, max=1024, help="Number of positions.")] = 64,
    width: Annotated[int, typer.Option(min=2, max=1024, help="Size of the encoding; even.")] = 64,
    heads: Annotated[int, typer.Option(min=1, max=64, help="Number of heads; ALiBi gives each a slope.")] = 4,
    model: Annotated[
        Path | None, typer.Option(help="A model with learnt positions, to compare with sinusoids.")
    ] = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Draw position encodings: sinusoidal, rotary and ALiBi.

    With --model, the learnt positions of a trained model are shown next to sinusoids of the same width: the cosine of
    each pair of places, and its mean by distance.
    """
    check_out(out, overwrite, has_page=True)
    if model is not None:
        refuse_given(context, {"model", "length"}, "is for computed encodings; omit it with --model.")
        _show_learnt_positions(model, length, out, as_json)
        return
    if kind != "all":
        used = {"sinusoidal": "width", "rotary": "width", "alibi": "heads"}[kind]
        refuse_given(context, {"kind", "length", used}, f"has no effect on {kind} positions; omit it.")
    if out is None and not as_json:
        raise Fault(
            "Positions are drawn as a picture; name a file, as in -o positions.png, or give --json for the numbers."
        )
    if width % 2 and kind != "alibi":
        raise Fault(f"--width is {width}, but coordinates come in pairs; give an even number.")
    from regard.seeing.lessons.positions import encodings
    from regard.viewing.positions import draw_positions, positions_page

    encodings_by_name = encodings(None if kind == "all" else kind, length, width, heads)
    tables = {name: table.tolist() for name, table in encodings_by_name.items()}
    view = View(
        lambda: tables,
        lambda path: draw_positions(encodings_by_name, path),
        lambda: None,
        lambda: positions_page(encodings_by_name),
    )
    show_view(view, out, as_json)


def _show_learnt_positions(model: Path, length: int, out: Path | None, as_json: bool) -> None:
    """Show the learnt positions of a trained model next to sinusoids."""
    from regard.model import load
    from regard.seeing.lessons.positions import learnt_lesson

    show_view(tables_view(learnt_lesson(load(model, device="cpu"), length)), out, as_json)


def _own_texts(model: "Loaded", folder: Path) -> list[str]:
    """Return validation texts of the data prepared for the run if it still exists, else those that the folder keeps."""
    from itertools import islice

    from regard.base.progress import ignore_remark
    from regard.runs.about import read_about
    from regard.runs.open import data_folder

    texts, place = list[str](), data_folder(model.recipe, folder)
    if place.exists():
        try:
            with console_progress() as progress:
                prepared = model.task.prepare(model.recipe, place, progress, ignore_remark, None)
            texts = [text for text in islice(prepared.unlearnt_texts(), _OWN_TEXTS) if text.strip()]
        except Fault:  # the files it was prepared from are gone
            texts = []
    return texts or read_about(folder).examples or [_own_example(folder)]


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
