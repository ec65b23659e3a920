"""A gallery of captions as one HTML page: complete in itself, offline, in any browser."""

from typing import Any

from regard.viewing.canvas import show_word
from regard.viewing.gallery.record import Gallery, ScoredCaption
from regard.viewing.raster import page_picture
from regard.viewing.sealed import SealedPage, whole_steps

STYLES = ("page.css", "pictures.css", "gallery.css")
SCRIPT = "gallery-page.js"


def gallery_page(gallery: Gallery) -> SealedPage:
    """The page of a gallery, its pictures inside of it."""
    data = {
        "title": show_word(gallery.title),
        "measure": gallery.measure,
        "count": gallery.count,
        "best": [_card(caption) for caption in gallery.best],
        "worst": [_card(caption) for caption in gallery.worst],
    }
    return SealedPage(SCRIPT, STYLES, data)


def _card(caption: ScoredCaption) -> dict[str, Any]:
    weights = caption.weights
    return {
        "name": show_word(caption.name),
        "score": round(caption.score, 4),
        "words": [show_word(word) for word in caption.words],
        "references": [show_word(text) for text in caption.references],
        "picture": None if caption.picture is None else page_picture(caption.picture),
        "columns": 0 if weights is None else weights.shape[2],
        "weights": [] if weights is None else [whole_steps(word) for word in weights],
    }
