"""Attention over a video as one HTML page: complete in itself, offline, in any browser."""

from typing import Any

import numpy as np

from regard.viewing.canvas import show_word
from regard.viewing.page import block_data
from regard.viewing.raster import page_picture
from regard.viewing.sealed import SealedPage
from regard.viewing.seen import Joining, block_named
from regard.viewing.strip.record import Strip

STYLES = ("page.css", "pictures.css")
SCRIPT = "strip-page.js"


def strip_page(strip: Strip, layer: int | None = None, head: int | None = None, heads: Joining = "mean") -> SealedPage:
    """The page; it begins with this block and head. Refused is what no browser would show."""
    return SealedPage(SCRIPT, STYLES, strip_data(strip, layer, head, heads))


def strip_data(
    strip: Strip, layer: int | None = None, head: int | None = None, heads: Joining = "mean"
) -> dict[str, Any]:
    """What was looked at as its view takes it: the frames side by side, weights as whole ten-thousandths."""
    return {
        "start": {"layer": block_named(strip.blocks, layer, head), "head": head or heads},
        "title": show_word(strip.title),
        "count": len(strip.frames),
        "picture": page_picture(np.concatenate(list(strip.frames), axis=1)),
        "words": [show_word(word) for word in strip.words],
        "blocks": block_data(strip.blocks, "this video"),
    }
