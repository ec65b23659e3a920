"""Attention as links between two lines of text: places of words and links, and the file's contents."""

import re
from pathlib import Path

import numpy as np
import pytest

from regard.base.faults import Fault
from regard.viewing.lines import FAINTEST, Link, draw_lines, lay_out, links
from regard.viewing.matrix import Matrix

ROWS, COLUMNS = ["Eu", "vejo", "casas"], ["I", "see", "houses"]


def diagonal(rows: list[str], columns: list[str]) -> Matrix:
    return Matrix("cross", rows, columns, np.eye(len(rows), len(columns)))


def texts_of(path: Path) -> list[str]:
    return re.findall(r"<text[^>]*>([^<]*)</text>", path.read_text(encoding="utf-8"))


def links_of(path: Path) -> set[tuple[int, int]]:
    pairs = re.findall(r'id="link-(\d+)-(\d+)"', path.read_text(encoding="utf-8"))
    return {(int(row), int(column)) for row, column in pairs}


def test_links_below_the_faintest_are_left_out_and_the_strongest_comes_last() -> None:
    weights = np.array([[0.7, FAINTEST], [FAINTEST - 0.001, 0.2]])
    drawn_links = links(Matrix("", ["a", "b"], ["c", "d"], weights))
    assert drawn_links == [Link(0, 1, FAINTEST), Link(1, 1, 0.2), Link(0, 0, 0.7)]


def test_the_source_stands_above_the_target_in_reading_order() -> None:
    layout = lay_out(diagonal(ROWS, COLUMNS))
    assert not layout.beside
    assert {y for _, y in layout.rows} == {0.0}
    assert min(y for _, y in layout.columns) > 0
    for line in (layout.rows, layout.columns):
        across = [x for x, _ in line]
        assert across == sorted(across)


def test_equal_words_stand_right_above_each_other() -> None:
    layout = lay_out(diagonal(ROWS, ROWS))
    assert [x for x, _ in layout.rows] == [x for x, _ in layout.columns]


def test_the_shorter_line_is_spread_over_the_same_width() -> None:
    layout = lay_out(Matrix("", ["uma", "casa"], list("abcdefghij"), np.full((2, 10), 0.1)))
    left, right = (x for x, _ in layout.rows)
    last = layout.columns[-1][0]
    assert left > 0.2 * last
    assert 0.5 * last < right < last


def test_a_line_that_is_read_from_the_right_begins_there() -> None:
    layout = lay_out(diagonal(["أرى", "البيت", "الأحمر"], ["אני", "רואה", "בית"]))
    assert not layout.beside
    for line in (layout.rows, layout.columns):
        across = [x for x, _ in line]
        assert across == sorted(across, reverse=True)


@pytest.mark.parametrize(
    ("rows", "columns"),
    [
        (["أرى", "البيت"], ["I", "see"]),  # read in opposite directions
        ([f"palavra{n}" for n in range(60)], ["I", "see"]),  # too long a line
    ],
)
def test_lines_that_do_not_go_above_each_other_go_beside_each_other(rows: list[str], columns: list[str]) -> None:
    layout = lay_out(diagonal(rows, columns))
    assert layout.beside
    assert {x for x, _ in layout.columns} == {0.0}
    assert len({x for x, _ in layout.rows}) == 1
    assert layout.rows[0][0] > 0
    for line in (layout.rows, layout.columns):
        down = [y for _, y in line]
        assert down == sorted(down, reverse=True)


def test_an_svg_has_its_words_as_text_and_its_links_by_name(tmp_path: Path) -> None:
    path = tmp_path / "lines.svg"
    matrix = Matrix(
        "Слой 1", ["não", "<b>", "$5$"], ["it's", "本", "&"], np.array([[1, 0, 0], [0, 0, 1], [0, 0.5, 0.5]])
    )
    missing = draw_lines(matrix, path)
    assert missing <= {"本"}
    assert {"não", "&lt;b&gt;", "$5$", "it's", "本", "&amp;", "Слой 1"} <= set(texts_of(path))
    assert links_of(path) == {(0, 0), (1, 2), (2, 1), (2, 2)}


def test_the_stronger_a_link_the_wider_and_darker(tmp_path: Path) -> None:
    path = tmp_path / "lines.svg"
    draw_lines(Matrix("", ["a"], ["b", "c"], np.array([[0.25, 0.75]])), path)
    text = path.read_text(encoding="utf-8")
    styles = {
        column: (float(re.search(r"opacity: ([\d.]+)", style)[1]), float(re.search(r"width: ([\d.]+)", style)[1]))
        for column, style in re.findall(r'id="link-0-(\d)".*?style="([^"]*)"', text, re.DOTALL)
    }
    assert [styles[column][0] for column in "01"] == [0.25, 0.75]
    assert styles["0"][1] < styles["1"][1]


@pytest.mark.parametrize(
    "words", [["Sim"], ["Rindfleischetikettierungsüberwachungsaufgabenübertragungsgesetz"], ["word"] * 60]
)
def test_any_number_and_length_of_words_makes_a_picture(words: list[str], tmp_path: Path) -> None:
    assert draw_lines(diagonal(words, words), tmp_path / "lines.png") == set()
    assert (tmp_path / "lines.png").read_bytes().startswith(b"\x89PNG")


def test_the_same_lines_give_the_same_file_and_other_kinds_are_refused(tmp_path: Path) -> None:
    for name in ("one.svg", "two.svg"):
        draw_lines(diagonal(ROWS, COLUMNS), tmp_path / name)
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()
    with pytest.raises(Fault, match=r"does not end in \.png or \.svg"):
        draw_lines(diagonal(ROWS, COLUMNS), tmp_path / "lines.pdf")
