"""Make a map of word vectors: choose the words, place them, and list their neighbours."""

import numpy as np

from regard.base.faults import Fault
from regard.base.progress import Progress, Remark, ignore_remark, silent
from regard.data.vectors.word_vectors import WordVectors
from regard.verbs.words.lexicon import Lexicon
from regard.verbs.words.request import MapRequest
from regard.viewing.planes import lay_out_neighbours, principal_plane
from regard.viewing.word_map import WordMap

MOST = 5000  # words on a map
_NEAR = 10  # neighbours listed for each word


def map_words(
    lexicon: Lexicon, request: MapRequest, progress: Progress = silent, remark: Remark = ignore_remark
) -> WordMap:
    """Return the requested map of words."""
    words, groups, centres = _choose(lexicon, request, remark)
    if len(words) > MOST:
        raise Fault(f"A map has at most {MOST:,} words, and these are {len(words):,}; ask for fewer.")
    units = WordVectors(list(words), np.stack(list(words.values()))).units(slice(None))
    variance = None
    if request.method == "t-sne":
        places = lay_out_neighbours(units, progress=progress)
    else:
        places, shares = principal_plane(units)
        variance = float(sum(shares))
    title = f"{len(words):,} words of {lexicon.name}"
    return WordMap(title, variance, list(words), places, centres, groups, _nearest(units))


def _choose(
    lexicon: Lexicon, request: MapRequest, remark: Remark
) -> tuple[dict[str, np.ndarray], list[int], list[str]]:
    """Return the words of a map with their vectors, the group of each, and the requested words."""
    vectors = lexicon.vectors
    if not request.words:
        frequent = vectors.words[: request.count]
        return {word: vectors[word] for word in frequent}, [-1] * len(frequent), []
    requested = {result.word: result.vector for result in lexicon.find(request.words, remark)}
    centres = list(requested)
    origins = {word: place for place, word in enumerate(centres)}
    if request.around:
        results = lexicon.neighbours(centres, request.around)
        for place, result in enumerate(results):
            for word, _ in result.neighbours:
                origins.setdefault(word, place)
    words = {word: requested[word] if word in requested else vectors[word] for word in origins}
    return words, list(origins.values()), centres


def _nearest(units: np.ndarray) -> list[list[tuple[int, float]]]:
    """Return the nearest others of each unit vector: their numbers and cosines."""
    cosines = units @ units.T
    np.fill_diagonal(cosines, -np.inf)
    order = np.argsort(-cosines, axis=1, kind="stable")[:, : min(_NEAR, len(units) - 1)]
    return [[(other, float(cosines[row, other])) for other in others] for row, others in enumerate(order.tolist())]
