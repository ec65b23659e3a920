"""What all that can be drawn has in common."""

from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from regard.viewing.sealed import SealedPage


class Drawing(Protocol):
    """Something that can be drawn in every form."""

    def draw(self, path: Path) -> set[str]:
        """Draw a .png or .svg; gives the characters that no font here can draw."""

    def lines(self, width: int, colour: bool) -> list[str]:
        """Lines for a terminal."""

    def numbers(self) -> dict[str, Any]:
        """The same as plain values, for JSON."""

    def page(self) -> SealedPage:
        """The same as an .html page, which is complete in itself; what has none is refused."""


@runtime_checkable
class Animated(Drawing, Protocol):
    """Something that happens step by step, and can be drawn so."""

    def animate(self, path: Path) -> None:
        """Draw a .gif."""
