"""The beam as one HTML page to explore: complete in itself, offline, in any browser."""

from dataclasses import replace
from typing import Any

from regard.base.faults import Fault
from regard.viewing.canvas import runs_leftwards, show_word
from regard.viewing.sealed import SealedPage, named_language
from regard.viewing.tree.lanes import lanes
from regard.viewing.tree.record import Tree
from regard.viewing.written import visible

STYLES = ("page.css", "tree.css")
SCRIPT = "tree-page.js"
MOST_NODES = 5000  # which a browser still lays out in a second


def tree_page(tree: Tree, languages: tuple[str, str] = ("", "")) -> SealedPage:
    """The page of a tree; what no browser would show with pleasure is refused.

    The languages are those of source and target, so that a browser shapes and reads them right.
    """
    if len(tree.nodes) > MOST_NODES:
        raise Fault(
            f"A page of this beam would hold {len(tree.nodes):,} hypotheses, but the limit is {MOST_NODES:,}; give a "
            "shorter sentence or a narrower beam, or write a .json."
        )
    return SealedPage(SCRIPT, STYLES, tree_data(tree, languages))


def tree_data(tree: Tree, languages: tuple[str, str]) -> dict[str, Any]:
    """A tree as its view takes it: every hypothesis with its lane and its fate."""
    source, target = map(named_language, languages)
    best = [show_word(tree.nodes[place].text) for place in tree.outputs]
    return {
        "source": {"text": show_word(tree.source), "language": source},
        "target": {"text": best[0] if best else "", "language": target},
        "width": tree.width,
        "leftwards": runs_leftwards(best),
        "outputs": tree.outputs,
        "lanes": {"all": lanes(tree), "outputs": _lanes_of_outputs(tree)},
        "nodes": [
            {
                "token": visible(node.token),
                "parent": node.parent,
                "step": step,
                "log_probability": round(node.log_probability, 4),
                "total": round(node.total, 4),
                "score": None if node.score is None else round(node.score, 4),
                "rank": node.rank,
                "fate": fate,
                "text": show_word(node.text) if node.text else "",
            }
            for node, step, fate in zip(tree.nodes, tree.steps, tree.fates, strict=True)
        ],
    }


def _lanes_of_outputs(tree: Tree) -> list[int | None]:
    """The lanes of a tree that has nothing but what led to its outputs."""
    if not tree.outputs:
        return list(lanes(tree))
    left = sorted(tree.lasting)
    new = {old: place for place, old in enumerate(left)}
    parents = [tree.nodes[old].parent for old in left]
    pruned = [
        replace(tree.nodes[old], parent=None if parent is None else new[parent])
        for old, parent in zip(left, parents, strict=True)
    ]
    found = dict(zip(left, lanes(Tree(tree.source, tree.width, pruned)), strict=True))
    return [found.get(place) for place in range(len(tree.nodes))]
