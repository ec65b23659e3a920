"""A drawing and what its points looked at as one HTML page: complete in itself, offline, in any browser."""

from typing import Any

import numpy as np

from regard.viewing.canvas import show_word
from regard.viewing.page import block_data
from regard.viewing.sealed import SealedPage
from regard.viewing.seen import Joining, block_named
from regard.viewing.strokes.record import StrokeLooks

STYLES = ("page.css", "pictures.css", "strokes.css")
SCRIPT = "strokes-page.js"


def stroke_page(
    looks: StrokeLooks, layer: int | None = None, head: int | None = None, heads: Joining = "mean"
) -> SealedPage:
    """The page; it begins with this block and head. Refused is what no browser would show."""
    return SealedPage(SCRIPT, STYLES, stroke_data(looks, layer, head, heads))


def stroke_data(
    looks: StrokeLooks, layer: int | None = None, head: int | None = None, heads: Joining = "mean"
) -> dict[str, Any]:
    """What was looked at as its view takes it: weights as whole ten-thousandths, point after point."""
    return {
        "start": {"layer": block_named(looks.blocks, layer, head), "head": head or heads},
        "title": show_word(looks.title),
        "points": np.round(looks.points, 2).tolist(),
        "looking": looks.looking,
        "ahead": looks.looks_ahead,
        "ends": looks.ends.astype(int).tolist(),
        "blocks": block_data(looks.blocks, "this drawing"),
    }
