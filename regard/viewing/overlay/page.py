"""Attention over a picture as one HTML page: complete in itself, offline, in any browser."""

from typing import Any

from regard.viewing.canvas import show_word
from regard.viewing.overlay.record import Overlay
from regard.viewing.page import block_data
from regard.viewing.raster import page_picture
from regard.viewing.sealed import SealedPage
from regard.viewing.seen import Joining, block_named

STYLES = ("page.css", "pictures.css")
SCRIPT = "overlay-page.js"


def overlay_page(
    overlay: Overlay, layer: int | None = None, head: int | None = None, heads: Joining = "mean"
) -> SealedPage:
    """The page; it begins with this block and head. Refused is what no browser would show."""
    return SealedPage(SCRIPT, STYLES, overlay_data(overlay, layer, head, heads))


def overlay_data(
    overlay: Overlay, layer: int | None = None, head: int | None = None, heads: Joining = "mean"
) -> dict[str, Any]:
    """What was looked at as its view takes it: weights as whole ten-thousandths, step after step."""
    return {
        "start": {"layer": block_named(overlay.blocks, layer, head), "head": head or heads},
        "title": show_word(overlay.title),
        "picture": page_picture(overlay.picture),
        "grid": list(overlay.grid),
        "steps": [show_word(step) for step in overlay.steps],
        "blocks": block_data(overlay.blocks, "this picture"),
    }
