"""The best and worst captions of a model, next to captions by people."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from regard.viewing.canvas import show_word
from regard.viewing.raster import page_picture
from regard.viewing.sealed import SealedPage, whole_steps

STYLES = ("page.css", "pictures.css", "gallery.css")
SCRIPT = "gallery-page.js"


@dataclass(frozen=True)
class ScoredCaption:
    """A model's caption of a picture, word by word, and the captions people wrote.

    `picture`, grey or in colours from 0 to 1, is None if it is not available; `weights` (word, row, column) are the
    attention weights of each word, if the model has attention.
    """

    name: str
    score: float
    words: Sequence[str]
    references: Sequence[str]
    picture: np.ndarray | None = None
    weights: np.ndarray | None = None


@dataclass(frozen=True)
class Gallery:
    """The captions with the highest scores, best first, and those with the lowest, worst first."""

    title: str
    measure: str
    count: int  # number of all scored captions
    best: Sequence[ScoredCaption]
    worst: Sequence[ScoredCaption]

    def with_pictures(self, find: Callable[[str], np.ndarray | None]) -> "Gallery":
        """Return the gallery with the pictures that `find` returns by name."""
        best, worst = (
            [replace(caption, picture=find(caption.name)) for caption in part] for part in (self.best, self.worst)
        )
        return replace(self, best=best, worst=worst)


def gallery_of(title: str, measure: str, captions: Sequence[ScoredCaption], shown: int) -> Gallery:
    """Return the best and worst captions, none in both; equal scores keep their order."""
    ordered = sorted(captions, key=lambda caption: -caption.score)
    half = min(shown, (len(ordered) + 1) // 2)
    return Gallery(title, measure, len(ordered), ordered[:half], ordered[half:][::-1][:shown])


def gallery_page(gallery: Gallery) -> SealedPage:
    """Return the page of a gallery, with its pictures inside."""
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
