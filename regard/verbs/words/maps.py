"""From word vectors to a map: which words are on it, where they lie, and which are near which."""

import numpy as np

from regard.base.faults import Fault
from regard.base.progress import Progress, Remark, ignore_remark, silent
from regard.data.vectors.word_vectors import WordVectors
from regard.verbs.words.lexicon import Lexicon
from regard.verbs.words.request import MapRequest
from regard.viewing.planes import lay_out_neighbours, principal_plane
from regard.viewing.word_map import WordMap

MOST = 5000  # words on a map
_NEAR = 10  # neighbours that each word is shown with


def map_words(
    lexicon: Lexicon, wanted: MapRequest, progress: Progress = silent, remark: Remark = ignore_remark
) -> WordMap:
    """Return the map of words that are asked for."""
    chosen, groups, centres = _choose(lexicon, wanted, remark)
    if len(chosen) > MOST:
        raise Fault(f"A map has {MOST:,} words at most, and these would be {len(chosen):,}; ask for fewer.")
    units = WordVectors(list(chosen), np.stack(list(chosen.values()))).units(slice(None))
    variance = None
    if wanted.method == "t-sne":
        places = lay_out_neighbours(units, progress=progress)
    else:
        places, shares = principal_plane(units)
        variance = float(sum(shares))
    title = f"{len(chosen):,} words of {lexicon.name}"
    return WordMap(title, variance, list(chosen), places, centres, groups, _nearest(units))


def _choose(lexicon: Lexicon, wanted: MapRequest, remark: Remark) -> tuple[dict[str, np.ndarray], list[int], list[str]]:
    """The words of a map with their vectors, which of the given words brought in each, and the given words."""
    vectors = lexicon.vectors
    if not wanted.words:
        some = vectors.words[: wanted.count]
        return {word: vectors[word] for word in some}, [-1] * len(some), []
    given = {each.word: each.vector for each in lexicon.find(wanted.words, remark)}
    centres = list(given)
    chosen = {word: place for place, word in enumerate(centres)}
    if wanted.around:
        found = lexicon.neighbours(centres, wanted.around)
        for place, each in enumerate(found):
            for word, _ in each.neighbours:
                chosen.setdefault(word, place)
    every = {word: given[word] if word in given else vectors[word] for word in chosen}
    return every, list(chosen.values()), centres


def _nearest(units: np.ndarray) -> list[list[tuple[int, float]]]:
    """For each of some unit vectors the numbers of the others that are nearest, with their cosines."""
    cosines = units @ units.T
    np.fill_diagonal(cosines, -np.inf)
    order = np.argsort(-cosines, axis=1, kind="stable")[:, : min(_NEAR, len(units) - 1)]
    return [[(other, float(cosines[row, other])) for other in others] for row, others in enumerate(order.tolist())]
