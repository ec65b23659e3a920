"""The beam as a picture: places of columns and lanes, the file's contents, and refusals."""

import re
import sys
from pathlib import Path

import pytest

from regard.base.faults import Fault
from regard.viewing.hypotheses import Node, Tree
from regard.viewing.tree import draw_tree, lay_out

sys.path.insert(0, str(Path(__file__).parent))
from trees import END, small_tree


def texts_of(path: Path) -> list[str]:
    return re.findall(r"<text[^>]*>([^<]*)</text>", path.read_text(encoding="utf-8"))


def chain(steps: int, token: str = "▁palavra") -> Tree:
    """Return one hypothesis of certain tokens."""
    parents = [None, *range(steps - 1)]
    nodes = [Node(token, parent, -0.1, -0.1 * place, "palavra " * place) for place, parent in enumerate(parents)]
    nodes.append(Node(END, steps - 1, -0.1, -0.1 * steps, "palavra " * steps, score=-0.1, rank=1))
    return Tree("word " * steps, 1, nodes)


def test_an_svg_has_every_token_number_and_link(tmp_path: Path) -> None:
    path = tmp_path / "tree.svg"
    tree = small_tree("aç$&<本", source="x <y>")
    assert draw_tree(tree, path) <= {"本"}
    texts = texts_of(path)
    assert {"a", "ç", "$", "&amp;", "&lt;", "本", "end of sentence", "x &lt;y&gt;", "a&amp;"} <= set(texts)
    assert {"−0.10", "−2.50", "−3.35", "−0.50", "−0.70", "−2.10"} <= set(texts)  # sums, and the scores of ends
    links = re.findall(r'id="link-(\d+)"', path.read_text(encoding="utf-8"))
    assert sorted(map(int, links)) == list(range(len(tree.nodes)))


def test_the_outputs_are_written_in_full_with_rank_and_score(tmp_path: Path) -> None:
    path = tmp_path / "tree.svg"
    draw_tree(small_tree(), path)
    texts = texts_of(path)
    assert (texts.count("1"), texts.count("2")) == (3, 3)  # as a step, next to an end, and before the text
    assert texts.index("ad") < texts.index("ae")
    assert {"best output", "other outputs", "finished, outdone", "dropped", "unfinished at the end"} <= set(texts)


def test_the_more_probable_a_token_the_wider_its_link(tmp_path: Path) -> None:
    path = tmp_path / "tree.svg"
    draw_tree(small_tree(), path)
    text = path.read_text(encoding="utf-8")
    widths = {
        int(place): float(re.search(r"stroke-width: ([\d.]+)", style)[1])
        for place, style in re.findall(r'id="link-(\d+)".*?style="([^"]*)"', text, re.DOTALL)
    }
    assert widths[0] > widths[3] > widths[4] > widths[2]


def test_columns_follow_each_other_and_are_as_wide_as_their_tokens() -> None:
    layout = lay_out(small_tree(["a", "b", "c", "Rindfleischetikettierung", "e", "f"]))
    assert layout.root == 0
    edges = [edge for column in layout.columns for edge in column]
    assert edges == sorted(edges)
    widths = [right - left for left, right in layout.columns]
    assert widths[1] > 2 * widths[0]
    assert layout.heights[0] == layout.heights[3] == layout.heights[6] == 0
    assert max(layout.heights) == 0


def test_what_is_read_from_the_right_grows_from_the_right() -> None:
    layout = lay_out(small_tree("אבגדהו"))
    assert layout.root == layout.width
    edges = [edge for column in layout.columns for edge in column]
    assert edges == sorted(edges, reverse=True)


@pytest.mark.parametrize("steps", [1, 40])
def test_any_length_makes_a_picture(steps: int, tmp_path: Path) -> None:
    assert draw_tree(chain(steps), tmp_path / "tree.png") == set()
    assert (tmp_path / "tree.png").read_bytes().startswith(b"\x89PNG")


def test_what_is_too_wide_for_a_png_is_refused_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(Fault, match=r"A beam of 501 steps is too wide for a \.png; write an \.svg or \.html"):
        draw_tree(chain(500), tmp_path / "tree.png")
    assert list(tmp_path.iterdir()) == []


def test_the_same_tree_is_the_same_file_and_other_kinds_are_refused(tmp_path: Path) -> None:
    for name in ("one.svg", "two.svg"):
        draw_tree(small_tree(), tmp_path / name)
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()
    with pytest.raises(Fault, match=r"does not end in \.png or \.svg"):
        draw_tree(small_tree(), tmp_path / "tree.pdf")
