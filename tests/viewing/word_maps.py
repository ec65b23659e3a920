"""A small word map with places that can be checked by hand."""

import numpy as np

from regard.viewing.word_map import WordMap


def compass() -> WordMap:
    """Return four words around one, in two groups."""
    words = ["centro", "norte", "leste", "sul", "oeste", "Çédille"]
    places = np.array([[0, 0], [0, 3], [3, 0], [0, -3], [-3, 0], [2.5, 2.5]])
    near = [[(1, 0.9), (2, -0.25)], [(0, 0.9)], [(0, 0.5)], [(0, 0.4)], [(0, 0.3)], [(1, 0.2)]]
    return WordMap("6 words of a compass", None, words, places, ["centro", "leste"], [0, 0, 1, 1, -1, -1], near)
