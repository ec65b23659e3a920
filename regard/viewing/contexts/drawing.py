"""One word in several contexts in every form in which it can be drawn."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regard.viewing.contexts.page import contexts_page
from regard.viewing.contexts.picture import draw_contexts
from regard.viewing.contexts.record import WordContexts, contexts_to_json
from regard.viewing.contexts.terminal import contexts_lines
from regard.viewing.sealed import SealedPage


@dataclass(frozen=True)
class DrawnContexts:
    """The contexts of a word."""

    contexts: WordContexts

    def draw(self, path: Path) -> set[str]:
        return draw_contexts(self.contexts, path)

    def lines(self, width: int, colour: bool) -> list[str]:
        return contexts_lines(self.contexts, width, colour)

    def numbers(self) -> dict[str, Any]:
        return contexts_to_json(self.contexts)

    def page(self) -> SealedPage:
        return contexts_page(self.contexts)
