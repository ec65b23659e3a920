"""Word vectors as people name them, ready to be asked: a model folder, or a file of vectors."""

from pathlib import Path
from typing import Any

from regard.base.faults import Fault
from regard.base.progress import Progress, Remark
from regard.data.vectors.files import read_vectors
from regard.verbs.words.lexicon import Lexicon
from regard.verbs.words.request import VectorSide


def lexicon_of(task: Any, side: VectorSide) -> Lexicon:
    """Return the words of a task to ask about, by the vectors of one side, or by the mean of both."""
    vectors = task.word_vectors(side)

    def compose(word: str) -> Any:
        return None if word in vectors else task.vector_of(word, side)

    return Lexicon("the model", vectors, compose)


def open_lexicon(
    place: Path, side: VectorSide | None, vocabulary: int | None, progress: Progress, remark: Remark
) -> Lexicon:
    """The words of a model folder or of a file, all or the first `vocabulary`; a file has its vectors on one side."""
    if place.is_dir():
        from regard.loading import load_able

        whole = lexicon_of(load_able(place, "neighbours").task, side or "centres")
        return Lexicon(place.resolve().name, whole.vectors.first(vocabulary), whole.compose)
    if side is not None:
        raise Fault(f"The vectors of a file are of one side, and {place} is a file; omit --side.")
    return Lexicon(place.name, read_vectors(place, vocabulary, progress, remark))
