"""`regard map`: draw words on a plane, as a picture, a page to pan and zoom, or numbers."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from regard.base.faults import Fault
from regard.console import console_progress, refuse_existing, refuse_folder, remark, remark_written
from regard.verbs.words import options as word_options

_KINDS = (".png", ".svg", ".html", ".json")


def command(
    model: word_options.ModelOrVectors,
    out: Annotated[Path, typer.Option("-o", "--out", help="A .png, .svg, .html or .json file.")],
    words: Annotated[
        list[str] | None, typer.Argument(metavar="WORD…", help="Words to draw; by default the most frequent.")
    ] = None,
    count: Annotated[
        int | None, typer.Option(min=2, max=5000, help="Without WORD: number of frequent words to draw (300).")
    ] = None,
    around: Annotated[
        int | None, typer.Option(min=0, max=1000, help="With WORD: number of neighbours of each (10).")
    ] = None,
    method: Annotated[
        Literal["pca", "t-sne"],
        typer.Option(help="Principal components, or t-SNE, which keeps neighbours together (at most 2000 words)."),
    ] = "pca",
    side: word_options.Side = None,
    vocabulary: word_options.Vocabulary = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the output file.")] = False,
) -> None:
    """Draw word vectors on a plane: the WORDs with their neighbours, or the most frequent words."""
    refuse_folder(out)
    refuse_existing(out, overwrite)
    if out.suffix.lower() not in _KINDS:
        raise Fault(f"{out} does not end in .png, .svg, .html or .json; the suffix chooses the format.")
    from regard.verbs.words.maps import map_words
    from regard.verbs.words.opening import open_lexicon
    from regard.verbs.words.request import map_request

    request = map_request(words or [], count, around, method)
    with console_progress() as progress:
        lexicon = open_lexicon(model, side, vocabulary, progress, remark)
        record = map_words(lexicon, request, progress, remark)
    remark_written(out, record.write(out))
