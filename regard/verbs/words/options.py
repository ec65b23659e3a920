"""Options shared by the commands for word vectors."""

from pathlib import Path
from typing import Annotated, Any

import typer

from regard.verbs.words.request import VectorSide

ModelOrVectors = Annotated[
    Path,
    typer.Argument(
        metavar="MODEL|FILE",
        help="A model folder, or a file of word2vec, GloVe or fastText vectors, plain or compressed.",
    ),
]
Count = Annotated[int | None, typer.Option(min=1, max=1000, help="Number of words to list, nearest first (10).")]
Side = Annotated[
    VectorSide | None,
    typer.Option(
        help="For a model: use the vectors of words as centres, as contexts, or their mean.", show_default="centres"
    ),
]
Vocabulary = Annotated[int | None, typer.Option(min=1, help="Use only the N most frequent words.")]


def given(count: int | None, side: VectorSide | None) -> dict[str, Any]:
    """Return the request fields that these options fill."""
    fields = {"count": count, "side": side}
    return {name: value for name, value in fields.items() if value is not None}
