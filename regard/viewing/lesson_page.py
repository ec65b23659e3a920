"""A lesson as a page: its picture, and its numbers as tables."""

import base64
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from regard.viewing.canvas import show_word
from regard.viewing.sealed import SealedPage

STYLES = ("page.css", "lesson.css")
SCRIPT = "lesson-page.js"


@dataclass(frozen=True)
class LessonTable:
    """Numbers as they are printed, with a caption that explains them."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    caption: str = ""


def lesson_page(title: str, draw: Callable[[Path], set[str]], tables: Sequence[LessonTable]) -> SealedPage:
    """Return a page with the picture that `draw` writes and the tables below it."""
    with TemporaryDirectory(prefix="regard-") as folder:
        picture = Path(folder) / "lesson.svg"
        draw(picture)
        encoded = base64.b64encode(picture.read_bytes()).decode()
    data = {
        "title": show_word(title),
        "picture": f"data:image/svg+xml;base64,{encoded}",
        "tables": [
            {
                "title": table.title,
                "columns": list(table.columns),
                "rows": [[show_word(cell) if cell else "" for cell in row] for row in table.rows],
                "caption": table.caption,
            }
            for table in tables
        ],
    }
    return SealedPage(SCRIPT, STYLES, data)
