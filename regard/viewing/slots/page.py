"""The use of a memory as one HTML page that plays it step by step: complete in itself, offline, in any browser."""

from typing import Any

from regard.viewing.canvas import show_word
from regard.viewing.page import refuse_many_weights
from regard.viewing.raster import page_picture
from regard.viewing.sealed import SealedPage, whole_steps
from regard.viewing.slots.record import MemoryUse, is_writer

STYLES = ("page.css", "slots.css")
SCRIPT = "slots-page.js"


def memory_page(use: MemoryUse) -> SealedPage:
    """The page; refused is what no browser would show."""
    return SealedPage(SCRIPT, STYLES, memory_data(use))


def memory_data(use: MemoryUse) -> dict[str, Any]:
    """The use of a memory as its view takes it: weights of the slots that were used, slot after slot."""
    slots = use.slots
    weights = use.weights[:, :, slots]
    refuse_many_weights([weights], "these steps", "give fewer steps, or draw them as a .png")
    strips = {"given": use.given, "answered": use.answered}
    return {
        "title": show_word(use.title),
        "steps": [show_word(step) for step in use.steps],
        "slots": slots,
        # Where nothing is given or answered a page is white, so that what is stands out.
        "strips": {name: page_picture(1 - abs(each.T)) for name, each in strips.items() if each is not None},
        "heads": [
            {"name": head, "writes": is_writer(head), "weights": whole_steps(own.T)}
            for head, own in zip(use.heads, weights, strict=True)
        ],
    }
