"""The beam in every form in which it can be drawn."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regard.viewing.sealed import SealedPage
from regard.viewing.tree.page import tree_page
from regard.viewing.tree.picture import draw_tree
from regard.viewing.tree.record import Tree, tree_to_json
from regard.viewing.tree.terminal import tree_lines


@dataclass(frozen=True)
class DrawnTree:
    """A tree, and the languages of source and target."""

    tree: Tree
    languages: tuple[str, str] = ("", "")

    def draw(self, path: Path) -> set[str]:
        return draw_tree(self.tree, path)

    def lines(self, width: int, colour: bool) -> list[str]:
        return tree_lines(self.tree, width, colour)

    def numbers(self) -> dict[str, Any]:
        return tree_to_json(self.tree)

    def page(self) -> SealedPage:
        return tree_page(self.tree, self.languages)
