"""The beam in a terminal."""

import random
import re
import sys
from pathlib import Path

import pytest
from rich.cells import cell_len

from regard.viewing.tree import tree_lines

sys.path.insert(0, str(Path(__file__).parent))
from trees import branching, small_tree

LEGEND = "#1 the best output, #2 the next   × dropped   … unfinished at the end"


def bare(line: str) -> str:
    return re.sub(r"\x1b\[[\d;]*m", "", line)


def test_a_tree_by_hand() -> None:
    assert tree_lines(small_tree(), 80, colour=False) == [
        "    1              2            3",
        " ┬─ a −0.10 ────┬─ d −0.35 ──┬─ </s> −0.50 #1",
        " ├─ c −3.00 ×   │            └─ f −3.35 …",
        " │              └─ e −1.10 ──── </s> −0.70 #2",
        " └─ b −2.50 ────── d −3.00 ──── </s> −2.10",
        LEGEND,
        "#1   −0.50  ad",
        "#2   −0.70  ae",
    ]


def test_steps_that_do_not_fit_follow_under_the_others() -> None:
    lines = tree_lines(small_tree(), 32, colour=False)
    assert lines[:8] == [
        "    1              2",
        " ┬─ a −0.10 ────┬─ d −0.35 ─",
        " ├─ c −3.00 ×   │",
        " │              └─ e −1.10 ─",
        " └─ b −2.50 ────── d −3.00 ─",
        "    3",
        "─┬─ </s> −0.50 #1",
        " └─ f −3.35 …",
    ]


@pytest.mark.parametrize("width", [12, 40, 100])
def test_no_line_of_the_tree_is_wider_than_the_terminal(width: int) -> None:
    tree = branching(random.Random(3), 5, 12)
    lines = tree_lines(tree, width, colour=False)[: -len(tree.outputs) or None]
    assert max(map(cell_len, lines)) <= width


def test_colour_changes_no_letter_and_lights_up_the_best() -> None:
    plain, coloured = (tree_lines(small_tree(), 80, colour) for colour in (False, True))
    assert [bare(line) for line in coloured] == plain
    assert "\x1b[1;36ma −0.10\x1b[0m" in coloured[1]
    assert "\x1b[34me −1.10\x1b[0m" in coloured[3]
    assert "\x1b[2mb −2.50\x1b[0m" in coloured[4]


def test_wide_letters_and_what_cannot_be_seen_keep_the_columns_straight() -> None:
    lines = tree_lines(small_tree(["本棚", "\n", "\u3000", "d", "e", "f"]), 80, colour=False)
    assert " ┬─ 本棚 −0.10 ───" in lines[1]
    assert "\\u3000 −3.00" in lines[2]
    assert "\\n −2.50" in lines[4]
    assert len({cell_len(line.partition("─ d")[0]) for line in lines if "─ d" in line}) == 1
