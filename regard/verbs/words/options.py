"""The options that commands about word vectors share."""

from pathlib import Path
from typing import Annotated, Any

import typer

from regard.verbs.words.request import VectorSide

ModelOrVectors = Annotated[
    Path,
    typer.Argument(
        metavar="MODEL|FILE", help="A model folder, or a file of word2vec, GloVe or fastText, plain or packed."
    ),
]
Count = Annotated[int | None, typer.Option(min=1, max=1000, help="Words that are given, the nearest first (10).")]
Side = Annotated[
    VectorSide | None,
    typer.Option(help="Of a model: vectors of words as centres, as contexts, or the mean.", show_default="centres"),
]
Vocabulary = Annotated[int | None, typer.Option(min=1, help="The most frequent words alone, so many of them.")]


def given(count: int | None, side: VectorSide | None) -> dict[str, Any]:
    """The fields of a request that these options fill."""
    fields = {"count": count, "side": side}
    return {name: value for name, value in fields.items() if value is not None}
