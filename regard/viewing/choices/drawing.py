"""The next token in every form in which it can be drawn."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from regard.viewing.choices.page import ChoicesStart, choices_page
from regard.viewing.choices.picture import draw_choices
from regard.viewing.choices.record import Choices, choices_to_json
from regard.viewing.choices.terminal import choices_lines
from regard.viewing.sealed import SealedPage


@dataclass(frozen=True)
class DrawnChoices:
    """Choices of which a picture, a terminal and a file of numbers have as many as `start` says, and a page has all."""

    choices: Choices
    start: ChoicesStart
    languages: tuple[str, str] = ("", "")  # of source and target

    @property
    def _few(self) -> Choices:
        shown, choices = self.start.shown, self.choices
        taken = None if choices.taken is None or choices.taken >= shown else choices.taken
        return replace(choices, tokens=choices.tokens[:shown], numbers=choices.numbers[:shown], taken=taken)

    def draw(self, path: Path) -> set[str]:
        return draw_choices(self._few, path)

    def lines(self, width: int, colour: bool) -> list[str]:
        return choices_lines(self._few, width, colour)

    def numbers(self) -> dict[str, Any]:
        return choices_to_json(self._few)

    def page(self) -> SealedPage:
        return choices_page(self.choices, self.languages, self.start)
