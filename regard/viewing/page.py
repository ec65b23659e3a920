"""All that can be seen of one sentence as one HTML page: complete in itself, offline, in any browser.

What was looked at, what else could have been written at each place, and what the search tried. The views are those of
`regard/page/views`, which the page of `regard serve` shows too; here they are sealed, so that nothing can get in
(`sealed.py`).
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
ONE_BLOCK = "draw one block as a .png"  # what can be done where all of them are too much
MOST_WEIGHTS = 4_000_000  # of all matrices together; such a page has about ten megabytes


@dataclass(frozen=True)
class Start:
    """The first view of a page; a part that the page lacks is ignored."""

    side: str = "cross"
    layer: int | None = None
    head: int | Joining = "mean"
    mode: Literal["words", "tokens"] = "words"


@dataclass(frozen=True)
class PageScene:
    """One pair of texts and all that was looked at between them, side by side, in words and perhaps in tokens.

    Beside it what may be written at each place of the target, its end included, and the search as a tree, if given.
    """

    source: str
    target: str
    words: Sequence[Seen]
    tokens: Sequence[Seen] = ()
    languages: tuple[str, str] = ("", "")  # of source and target, so that a browser shapes and reads them right
    start: Start = field(default_factory=Start)
    written: Sequence[str] = ()  # the tokens of the target and its end
    choices: Sequence[Choices] = ()  # one for each of them
    tree: Tree | None = None


def fits(seen: Sequence[Seen]) -> bool:
    """Return True if all of it fits into one page."""
    return _count(block.weights for each in seen for block in each.blocks) <= MOST_WEIGHTS


def refuse_many_weights(weights: Iterable[np.ndarray], shown: str, advice: str = ONE_BLOCK) -> None:
    """Refuse a page of what is shown where it would hold more weights than browsers like; `advice` is what to do."""
    if (count := _count(weights)) > MOST_WEIGHTS:
        raise Fault(f"A page of {shown} would hold {count:,} weights, but the limit is {MOST_WEIGHTS:,}; {advice}.")


def block_data(blocks: Sequence[Block], shown: str, advice: str = ONE_BLOCK) -> list[dict[str, Any]]:
    """The blocks of what is shown as views take them: weights as whole ten-thousandths, row after row."""
    refuse_many_weights((block.weights for block in blocks), shown, advice)
    return [{"where": block.where, "heads": [whole_steps(head) for head in block.weights]} for block in blocks]


def _count(weights: Iterable[np.ndarray]) -> int:
    return sum(each.size for each in weights)


def scene_page(scene: PageScene) -> SealedPage:
    """The page of a scene; what no browser would show with pleasure is refused."""
    weights = (block.weights for seen in (*scene.words, *scene.tokens) for block in seen.blocks)
    refuse_many_weights(weights, "these sentences", "give shorter sentences, or draw one block as a .png")
    return SealedPage(SCRIPT, STYLES, scene_data(scene))


def scene_data(scene: PageScene) -> dict[str, Any]:
    """A scene as its page takes it."""
    source, target = map(named_language, scene.languages)
    modes = {"words": scene.words, "tokens": scene.tokens}
    data: dict[str, Any] = {
        "source": {"text": show_word(scene.source), "language": source},
        "target": {"text": show_word(scene.target), "language": target},
        "start": vars(scene.start),
        "modes": {mode: {each.side: side_data(each) for each in seen} for mode, seen in modes.items() if seen},
    }
    if scene.choices:
        tokens = [visible(token) for token in scene.written]
        data["next"] = {"tokens": tokens, "places": [place_data(each) for each in scene.choices]}
    if scene.tree:
        data["beam"] = tree_data(scene.tree, scene.languages)
    return data


def side_data(seen: Seen) -> dict[str, Any]:
    """Return the data of one side's views: weights as whole ten-thousandths, row after row."""
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
    """Return the data of the view of tinted words: weights as whole ten-thousandths, row after row."""
    return {
        "start": {"layer": seen.usual, "head": "mean"},
        "title": show_word(title),
        "rows": [show_word(name) for name in seen.rows],
        "columns": [show_word(word) for word in seen.columns],
        "blocks": block_data(seen.blocks, "these words", "`regard look` draws them"),
    }
