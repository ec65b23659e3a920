"""Everything about one sentence as a self-contained HTML page that works offline in any browser.

It shows the attention, the alternatives at each place, and the search. The views are those of `regard/page/views`,
which the page of `regard serve` shows too; here they are sealed, so that nothing can get in (`sealed.py`).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from regard.base.faults import Fault
from regard.viewing.canvas import show_word
from regard.viewing.choices import Choices, place_data
from regard.viewing.hypotheses import Tree
from regard.viewing.matrix import entropy
from regard.viewing.sealed import SealedPage, named_language, whole_steps
from regard.viewing.seen import Block, Joining, Seen
from regard.viewing.tree import tree_data
from regard.viewing.written import visible

STYLES = ("page.css", "next.css", "tree.css")
SCRIPT = "look-page.js"
ONE_BLOCK = "draw one block as a .png"  # advice if all blocks are too much
MOST_WEIGHTS = 4_000_000  # in all matrices together; such a page has about ten megabytes


@dataclass(frozen=True)
class Start:
    """Initial state of a page; parts that the page lacks are ignored."""

    side: str = "cross"
    layer: int | None = None
    head: int | Joining = "mean"
    mode: Literal["words", "tokens"] = "words"


@dataclass(frozen=True)
class PageScene:
    """A pair of texts and all attention between them, by side, in words and optionally in tokens.

    It may also have the alternatives at each place of the target, including its end, and the search as a tree.
    """

    source: str
    target: str
    words: Sequence[Seen]
    tokens: Sequence[Seen] = ()
    languages: tuple[str, str] = (
        "",
        "",
    )  # of source and target, so that a browser shapes and reads the texts correctly
    start: Start = field(default_factory=Start)
    written: Sequence[str] = ()  # the tokens of the target and its end
    choices: Sequence[Choices] = ()  # one for each of them
    tree: Tree | None = None


def fits(seen: Sequence[Seen]) -> bool:
    """Return True if all the attention fits into one page."""
    return _count(block.weights for view in seen for block in view.blocks) <= MOST_WEIGHTS


def refuse_many_weights(weights: Iterable[np.ndarray], shown: str, advice: str = ONE_BLOCK) -> None:
    """Refuse a page with more weights than browsers can handle; `shown` names its content, `advice` says what to do."""
    if (count := _count(weights)) > MOST_WEIGHTS:
        raise Fault(f"A page of {shown} would hold {count:,} weights, but the limit is {MOST_WEIGHTS:,}; {advice}.")


def block_data(blocks: Sequence[Block], shown: str, advice: str = ONE_BLOCK) -> list[dict[str, Any]]:
    """Return the data of blocks for a view: weights as whole ten-thousandths, row by row."""
    refuse_many_weights((block.weights for block in blocks), shown, advice)
    return [{"where": block.where, "heads": [whole_steps(head) for head in block.weights]} for block in blocks]


def _count(weights: Iterable[np.ndarray]) -> int:
    return sum(matrix.size for matrix in weights)


def scene_page(scene: PageScene) -> SealedPage:
    """Return the page of a scene; refuse one that is too large for browsers."""
    weights = (block.weights for seen in (*scene.words, *scene.tokens) for block in seen.blocks)
    refuse_many_weights(weights, "these sentences", "give shorter sentences, or draw one block as a .png")
    return SealedPage(SCRIPT, STYLES, scene_data(scene))


def scene_data(scene: PageScene) -> dict[str, Any]:
    """Return the data of a scene for its page."""
    source, target = map(named_language, scene.languages)
    modes = {"words": scene.words, "tokens": scene.tokens}
    data: dict[str, Any] = {
        "source": {"text": show_word(scene.source), "language": source},
        "target": {"text": show_word(scene.target), "language": target},
        "start": vars(scene.start),
        "modes": {mode: {item.side: side_data(item) for item in seen} for mode, seen in modes.items() if seen},
    }
    if scene.choices:
        tokens = [visible(token) for token in scene.written]
        data["next"] = {"tokens": tokens, "places": [place_data(item) for item in scene.choices]}
    if scene.tree:
        data["beam"] = tree_data(scene.tree, scene.languages)
    return data


def side_data(seen: Seen) -> dict[str, Any]:
    """Return the data of one side's views: weights as whole ten-thousandths, row by row."""
    return {
        "rows": [show_word(word) for word in seen.rows],
        "columns": [show_word(word) for word in seen.columns],
        "usual": seen.usual,
        "blocks": [
            {
                "where": block.where,
                "heads": [whole_steps(head) for head in block.weights],
                "entropy": [round(entropy(head), 3) for head in block.weights],
            }
            for block in seen.blocks
        ],
    }


def tinted_data(seen: Seen, title: str) -> dict[str, Any]:
    """Return the data of the view of tinted words: weights as whole ten-thousandths, row by row."""
    return {
        "start": {"layer": seen.usual, "head": "mean"},
        "title": show_word(title),
        "rows": [show_word(name) for name in seen.rows],
        "columns": [show_word(word) for word in seen.columns],
        "blocks": block_data(seen.blocks, "these words", "`regard look` draws them"),
    }
