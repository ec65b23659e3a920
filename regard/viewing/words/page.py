"""A map of words as one HTML page to pan and zoom: complete in itself, offline, in any browser."""

from typing import Any

from regard.viewing.canvas import show_word
from regard.viewing.sealed import SealedPage
from regard.viewing.words.record import WordMap

STYLES = ("page.css", "graph.css", "map.css")
SCRIPT = "map-page.js"


def map_page(record: WordMap) -> SealedPage:
    """The page of a map."""
    return SealedPage(SCRIPT, STYLES, map_data(record))


def map_data(record: WordMap) -> dict[str, Any]:
    """A map as its view takes it: places in a square from -1 to 1, neighbours by number with their cosines."""
    return {
        "title": show_word(record.title),
        "variance": record.variance,
        "centres": [show_word(word) for word in record.centres],
        "words": [
            {
                "word": show_word(word),
                "place": place,
                "group": group,
                "near": [[other, round(cosine, 4)] for other, cosine in near],
            }
            for word, place, group, near in zip(
                record.words, record.fitted().round(4).tolist(), record.groups, record.near, strict=True
            )
        ],
    }
