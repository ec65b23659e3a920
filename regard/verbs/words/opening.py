"""Word vectors as people name them, ready to be asked: a model folder, or a file of vectors."""

from pathlib import Path

from regard.base.faults import Fault
from regard.base.progress import Progress, Remark
from regard.data.vectors.files import read_vectors
from regard.verbs.requests.words import VectorSide
from regard.verbs.words.lexicon import Lexicon


def open_lexicon(
    place: Path, side: VectorSide | None, vocabulary: int | None, progress: Progress, remark: Remark
) -> Lexicon:
    """The words of a model folder or of a file, all or the first `vocabulary`; a file has its vectors on one side."""
    if place.is_dir():
        from regard.model import load
        from regard.verbs.table import needs

        model = load(place)
        needs(model.recipe, "neighbours")
        whole = model.lexicon(side or "centres")
        return Lexicon(place.resolve().name, whole.vectors.first(vocabulary), whole.compose)
    if side is not None:
        raise Fault(f"The vectors of a file are of one side, and {place} is a file; omit --side.")
    return Lexicon(place.name, read_vectors(place, vocabulary, progress, remark))
