"""Lessons made of tables, in each of their forms."""

from pathlib import Path

import numpy as np
import pytest
from matplotlib.colors import LinearSegmentedColormap

from regard.viewing import tables
from regard.viewing.head_steps import number_colours
from regard.viewing.tables import (
    NumberTable,
    TableLesson,
    WordTable,
    draw_tables,
    tables_lines,
    tables_page,
    tables_to_json,
)

SMALL = NumberTable("small", ["a", "b"], ["x", "y"], np.array([[0.125, -2.0], [-0.0001, 1.0]]), "what it says")
LARGE = NumberTable(
    "large",
    [str(row) for row in range(40)],
    [str(row) for row in range(20)],
    np.arange(800.0).reshape(40, 20),
    digits=0,
)
WORDS = WordTable("words", ["who", "what"], [["Ana", "lê"], ["Rui", "<b>"]])
LESSON = TableLesson("All kinds", [SMALL, LARGE, WORDS])


def test_tables_and_the_steps_of_a_head_have_the_same_colours_of_sign() -> None:
    scale = LinearSegmentedColormap.from_list("tables", tables._SIGNED)
    for colours in (scale, number_colours()):
        (red, _, blue, _), (warm_red, _, warm_blue, _) = colours(0.0), colours(1.0)
        assert blue > red
        assert warm_red > warm_blue


def test_numbers_are_rounded_in_lines_and_never_minus_zero() -> None:
    lines = tables_lines(TableLesson("t", [SMALL]), 80)
    assert lines == ["t", "", "small", "      x      y", "a  0.12  -2.00", "b  0.00   1.00", "what it says"]


def test_of_a_large_table_some_rows_and_columns_are_printed() -> None:
    lines = tables_lines(TableLesson("t", [LARGE]), 200)[3:]
    assert lines[0].split() == [str(column) for column in range(0, 20, 2)]
    assert [line.split()[0] for line in lines[1:]] == [str(row) for row in range(0, 40, 4)]
    assert lines[2].split()[1:3] == ["80", "82"]  # row 4, columns 0 and 2


def test_json_has_unrounded_numbers_and_all_of_them() -> None:
    small, large, words = tables_to_json(LESSON)["tables"]
    assert small["values"] == [[0.125, -2.0], [-0.0001, 1.0]]
    assert (len(large["values"]), len(large["values"][0])) == (40, 20)
    assert words["rows"] == [["Ana", "lê"], ["Rui", "<b>"]]


def test_the_page_says_how_each_table_is_drawn() -> None:
    page = tables_page(LESSON)
    small, large, words = page.data["tables"]
    assert (small["kind"], small["isSigned"], small["isLarge"], small["most"]) == ("numbers", True, False, 2.0)
    assert (large["isSigned"], large["isLarge"], large["most"]) == (False, True, 799.0)
    assert words["kind"] == "words"
    assert "<b>" not in page.html


@pytest.mark.parametrize("suffix", [".png", ".svg"])
def test_all_kinds_are_drawn_in_one_picture(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"tables{suffix}"
    assert draw_tables(LESSON, path) == set()
    content = path.read_bytes()
    assert content.startswith(b"\x89PNG") if suffix == ".png" else b"what it says" in content and b"0.12" in content


def test_numbers_must_fit_their_names() -> None:
    with pytest.raises(ValueError, match=r"\(2, 2\) numbers for 1 rows and 2 columns"):
        NumberTable("wrong", ["a"], ["x", "y"], np.zeros((2, 2)))


def test_long_lists_continue_on_the_next_line_between_items() -> None:
    table = WordTable("t", ["unit", "on"], [["1", "first word 1.00, second 2.00, third 3.00"], ["2", "one"]])
    assert tables_lines(TableLesson("t", [table]), 34)[3:] == [
        "unit  on",
        "   1  first word 1.00,",
        "      second 2.00, third 3.00",
        "   2  one",
    ]


def test_a_table_of_positive_numbers_can_have_the_colours_of_others() -> None:
    plain, around = (NumberTable("t", ["a"], ["x"], np.ones((1, 1)), around_zero=zero) for zero in (False, True))
    assert (plain.is_signed, around.is_signed) == (False, True)
