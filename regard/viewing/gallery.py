"""Captions that a model wrote, the best and the worst of them beside what people wrote."""

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

    `picture`, grey or in colours from 0 to 1, is None where nobody has it; `weights` (word, row, column), where the
    model has attention, are of each word.
    """

    name: str
    score: float
    words: Sequence[str]
    references: Sequence[str]
    picture: np.ndarray | None = None
    weights: np.ndarray | None = None


@dataclass(frozen=True)
class Gallery:
    """The captions that score highest by a measure, best first, and those that score lowest, worst first."""

    title: str
    measure: str
    count: int  # of all captions that were scored
    best: Sequence[ScoredCaption]
    worst: Sequence[ScoredCaption]

    def with_pictures(self, find: Callable[[str], np.ndarray | None]) -> "Gallery":
        """Return the gallery with the pictures that `find` knows by name."""
        best, worst = ([replace(each, picture=find(each.name)) for each in part] for part in (self.best, self.worst))
        return replace(self, best=best, worst=worst)


def gallery_of(title: str, measure: str, captions: Sequence[ScoredCaption], shown: int) -> Gallery:
    """The best and the worst of some captions, none in both; those that score the same stand in their order."""
    ordered = sorted(captions, key=lambda caption: -caption.score)
    half = min(shown, (len(ordered) + 1) // 2)
    return Gallery(title, measure, len(ordered), ordered[:half], ordered[half:][::-1][:shown])


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
