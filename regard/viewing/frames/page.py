"""A sound and what its frames looked at as one HTML page: complete in itself, offline, in any browser."""

from typing import Any

import numpy as np

from regard.viewing.canvas import show_word
from regard.viewing.frames.record import FrameLooks
from regard.viewing.page import block_data
from regard.viewing.sealed import SealedPage
from regard.viewing.seen import Block, Joining, block_named

STYLES = ("page.css", "pictures.css")
SCRIPT = "frames-page.js"
_BINS, _HEIGHT = 600, 100  # of the waveform: its parts, and the whole numbers up to its largest sample


def frames_page(
    looks: FrameLooks, layer: int | None = None, head: int | None = None, heads: Joining = "mean"
) -> SealedPage:
    """The page; it begins with this block and head. Refused is what no browser would show."""
    return SealedPage(SCRIPT, STYLES, frames_data(looks, layer, head, heads))


def frames_data(
    looks: FrameLooks, layer: int | None = None, head: int | None = None, heads: Joining = "mean"
) -> dict[str, Any]:
    """What was looked at as its view takes it: weights as whole ten-thousandths, row after row."""
    turned = [Block(block.where, block.weights.swapaxes(1, 2)) for block in looks.blocks]  # a line for each row
    envelope = looks.envelope(_BINS)
    wave = np.rint(envelope / max(float(np.abs(envelope).max()), 1e-6) * _HEIGHT).astype(int)
    return {
        "start": {"layer": block_named(looks.blocks, layer, head), "head": head or heads},
        "title": show_word(looks.title),
        "seconds": looks.seconds,
        "count": looks.count,
        "wave": {"low": wave[0].tolist(), "high": wave[1].tolist(), "height": _HEIGHT},
        "rows": [show_word(row) for row in looks.rows],
        "blocks": block_data(turned, "this sound"),
    }
