"""A path of glimpses as one HTML page to step through: complete in itself, offline, in any browser."""

from typing import Any

from regard.viewing.canvas import show_word
from regard.viewing.raster import page_picture
from regard.viewing.sealed import SealedPage
from regard.viewing.windows.record import GlimpsePath

STYLES = ("page.css", "pictures.css")
SCRIPT = "windows-page.js"


def glimpse_page(path: GlimpsePath) -> SealedPage:
    """The page of a path."""
    return SealedPage(SCRIPT, STYLES, glimpse_data(path))


def glimpse_data(path: GlimpsePath) -> dict[str, Any]:
    """A path as its view takes it: pictures as bytes, squares by their left and upper edge and their side."""
    return {
        "title": show_word(path.title),
        "picture": page_picture(path.picture),
        "steps": [
            {
                "name": show_word(name),
                "centre": path.centres[step].tolist(),
                "squares": [list(square) for square in path.squares(step)],
                "patches": [page_picture(patch) for patch in path.patches(step)],
            }
            for step, name in enumerate(path.steps)
        ],
    }
