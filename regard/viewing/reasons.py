"""Maps of the parts of an input that mattered: tables in the terminal and in a picture, tinted words on a page."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regard.viewing.sealed import SealedPage
from regard.viewing.tables import TableLesson, draw_tables, tables_lines, tables_to_json

STYLES = ("page.css", "tables.css", "reasons.css")
SCRIPT = "reasons-page.js"


@dataclass(frozen=True)
class DrawnReasons:
    """Tables of scores as a drawing; its page has the words themselves, tinted, from data as a server sends it."""

    lesson: TableLesson
    data: dict[str, Any]

    def draw(self, path: Path) -> set[str]:
        return draw_tables(self.lesson, path)

    def lines(self, width: int, colour: bool) -> list[str]:
        return tables_lines(self.lesson, width)

    def numbers(self) -> dict[str, Any]:
        return tables_to_json(self.lesson)

    def page(self) -> SealedPage:
        return SealedPage(SCRIPT, STYLES, self.data)
