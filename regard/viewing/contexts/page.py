"""One word in several contexts as one HTML page: complete in itself, offline, in any browser."""

from typing import Any

import numpy as np

from regard.viewing.canvas import show_word
from regard.viewing.contexts.record import WordContexts
from regard.viewing.sealed import SealedPage

STYLES = ("page.css", "contexts.css")
SCRIPT = "contexts-page.js"
_DIGITS = 4


def contexts_page(contexts: WordContexts) -> SealedPage:
    """The page of a word."""
    return SealedPage(SCRIPT, STYLES, contexts_data(contexts))


def contexts_data(contexts: WordContexts) -> dict[str, Any]:
    """The contexts as their view takes them: points of a plane that reaches from -1 to 1."""
    return {
        "title": show_word(contexts.title),
        "contexts": [[show_word(part) if part else "" for part in each.snippet] for each in contexts.occurrences],
        "layers": [
            {
                "title": layer.title,
                "points": (layer.plane.points / (np.abs(layer.plane.points).max() or 1.0)).round(_DIGITS).tolist(),
                "cosines": layer.cosines.round(_DIGITS).tolist(),
                "nearest": layer.nearest,
            }
            for layer in contexts.layers
        ],
    }
