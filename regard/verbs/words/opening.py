"""Open word vectors from a model folder or a file of vectors."""

from pathlib import Path
from typing import Any

from regard.base.faults import Fault
from regard.base.progress import Progress, Remark
from regard.data.vectors.files import read_vectors
from regard.verbs.words.lexicon import Lexicon
from regard.verbs.words.request import VectorSide


def lexicon_of(task: Any, side: VectorSide) -> Lexicon:
    """Return the lexicon of a task, with the vectors of one side or the mean of both."""
    vectors = task.word_vectors(side)

    def compose(word: str) -> Any:
        return None if word in vectors else task.vector_of(word, side)

    return Lexicon("the model", vectors, compose)


def open_lexicon(
    place: Path, side: VectorSide | None, vocabulary: int | None, progress: Progress, remark: Remark
) -> Lexicon:
    """Open the words of a model folder or file: all, or the first `vocabulary`; a file has only one set of vectors."""
    if place.is_dir():
        from regard.loading import load_able

        lexicon = lexicon_of(load_able(place, "neighbours").task, side or "centres")
        return Lexicon(place.resolve().name, lexicon.vectors.first(vocabulary), lexicon.compose)
    if side is not None:
        raise Fault(f"{place} is a file, which has only one set of vectors; omit --side.")
    return Lexicon(place.name, read_vectors(place, vocabulary, progress, remark))
