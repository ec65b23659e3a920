"""The beam as a tree: the fate of each hypothesis, and lanes without overlaps or crossings."""

import random
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from regard.viewing.hypotheses import FATES, Node, Tree, lanes, tree_to_json

sys.path.insert(0, str(Path(__file__).parent))
from trees import branching, small_tree


def test_fates_by_hand() -> None:
    tree = small_tree()
    fates = dict(zip(["a", "b", "c", "ad", "ae", "bd", "ad.", "ae.", "bd.", "adf"], tree.fates, strict=True))
    assert fates == {
        "a": "continued",
        "b": "continued",
        "c": "dropped",  # at a step after which others continued
        "ad": "continued",
        "ae": "continued",
        "bd": "continued",
        "ad.": "won",
        "ae.": "kept",
        "bd.": "outdone",
        "adf": "open",  # the search was over
    }
    assert set(fates.values()) == set(FATES)


def test_a_group_that_is_over_was_not_dropped() -> None:
    """The second of two groups ends after one step, while the first continues."""
    nodes = [
        Node("a", None, -1.0, -1.0, "a", group=0),
        Node("b", None, -1.0, -1.0, "b", group=1),
        Node("</s>", None, -1.0, -1.0, "", group=1, score=-1.0, rank=2),
        Node("</s>", 0, -0.1, -1.1, "a", group=0, score=-0.9, rank=1),
    ]
    assert Tree("x", 2, nodes).fates == ["continued", "open", "kept", "won"]


def test_steps_paths_and_what_leads_to_outputs() -> None:
    tree = small_tree()
    assert tree.steps == [1, 1, 1, 2, 2, 2, 3, 3, 3, 3]
    assert tree.outputs == [6, 7]
    assert tree.path(7) == [0, 4, 7]
    assert tree.winning == {0, 3, 6}
    assert tree.lasting == {0, 3, 4, 6, 7}


def test_the_numbers_are_as_they_were() -> None:
    report = tree_to_json(small_tree())
    assert (report["text"], report["width"]) == ("x y", 3)
    assert report["outputs"] == [{"text": "ad", "score": -0.5, "node": 6}, {"text": "ae", "score": -0.7, "node": 7}]
    assert report["nodes"][3] == {
        "token": "d",
        "parent": 0,
        "step": 2,
        "group": 0,
        "log_probability": -0.25,
        "total": -0.35,
        "score": None,
        "rank": None,
        "fate": "continued",
        "text": "ad",
    }


def test_a_tree_is_never_empty_and_in_order() -> None:
    with pytest.raises(ValueError, match="without nodes"):
        Tree("x", 1, [])
    with pytest.raises(ValueError, match="before its children"):
        Tree("x", 1, [Node("a", 0, 0.0, 0.0, "a")])


def test_lanes_by_hand() -> None:
    """The best output runs along lane 0; short branches are nearest, and unobstructed ones move up."""
    assert lanes(small_tree()) == [0, 3, 1, 0, 2, 3, 0, 2, 3, 1]


def test_a_search_that_found_nothing_still_is_a_tree() -> None:
    tree = Tree("x", 1, [Node("a", None, -1.0, -1.0, "a"), Node("b", 0, -1.0, -2.0, "ab")])
    assert (tree.outputs, tree.winning, tree.fates) == ([], frozenset(), ["continued", "open"])
    assert lanes(tree) == [0, 0]


@pytest.mark.parametrize("seed", range(60))
def test_nothing_lies_on_or_crosses_anything_else(seed: int) -> None:
    dice = random.Random(seed)
    tree = branching(dice, width=dice.randint(1, 8), steps=dice.randint(1, 14))
    lanes_by_place = lanes(tree)
    spots = list(zip(lanes_by_place, tree.steps, strict=True))
    assert len(set(spots)) == len(spots)
    assert min(lanes_by_place) == 0
    assert {lanes_by_place[place] for place in tree.winning} == {0}
    for step in range(1, max(tree.steps) + 1):
        here = [place for place, other in enumerate(tree.steps) if other == step]
        spans: dict[int | None, list[int]] = {}
        for place in here:
            spans.setdefault(tree.nodes[place].parent, []).append(lanes_by_place[place])
        starts = {parent: 0 if parent is None else lanes_by_place[parent] for parent in spans}
        assert all(min(reached) == starts[parent] for parent, reached in spans.items())  # one child stays in the lane
        ranges = sorted((starts[parent], max(reached)) for parent, reached in spans.items())
        assert all(one[1] < other[0] for one, other in pairwise(ranges))


def test_lanes_of_a_very_long_search() -> None:
    """Deeper than Python's own stack."""
    nodes = [Node("a", place - 1 if place else None, -1.0, -1.0, "") for place in range(3000)]
    assert set(lanes(Tree("x", 1, nodes))) == {0}
