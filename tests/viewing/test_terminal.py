"""Matrices in a terminal."""

import re

import numpy as np
import pytest
from rich.cells import cell_len

from regard.viewing.matrix import Matrix, matrix_lines
from regard.viewing.written import SHADES

PORTUGUESE = ["Eu", "vejo", "a", "casa", "vermelha", "."]
ENGLISH = ["I", "see", "the", "red", "house", "."]
CROSSING = [0, 1, 2, 4, 3, 5]


def crossing(rows=PORTUGUESE, columns=ENGLISH, strength=0.9):
    weights = np.full((6, 6), (1 - strength) / 5)
    weights[range(6), CROSSING] = strength
    return Matrix("A crossing", rows, columns, weights)


def bare(line: str) -> str:
    return re.sub(r"\x1b\[[\d;]*m", "", line)


def test_the_crossing_of_adjective_and_noun_is_plain_to_see():
    assert matrix_lines(crossing(), 80, colour=False) == [
        "A crossing",
        "         I  see the red house .",
        "      Eu ██  ·   ·   ·    ·   ·",
        "    vejo ·  ███  ·   ·    ·   ·",
        "       a ·   ·  ███  ·    ·   ·",
        "    casa ·   ·   ·   ·  █████ ·",
        "vermelha ·   ·   ·  ███   ·   ·",
        "       . ·   ·   ·   ·    ·   ██",
        "         ░ ≥ 0.1  ▒ ≥ 0.3  ▓ ≥ 0.5  █ ≥ 0.75",
    ]


@pytest.mark.parametrize("width", [36, 40, 44])
def test_the_legend_is_whole_on_a_narrow_terminal(width: int):
    legend = matrix_lines(crossing(), width, colour=False)[-1]
    assert legend.strip() == "░ ≥ 0.1  ▒ ≥ 0.3  ▓ ≥ 0.5  █ ≥ 0.75"
    assert len(legend) <= width


def test_words_that_do_not_fit_level_are_written_downwards():
    lines = matrix_lines(crossing(), 24, colour=False)
    assert lines[1:7] == [
        "                 h",
        "                 o",
        "           s t r u",
        "           e h e s",
        "         I e e d e .",
        "      Eu ██· · · · ·",
    ]


@pytest.mark.parametrize(("weight", "ink"), [(0.05, "·"), (0.1, "░"), (0.3, "▒"), (0.5, "▓"), (0.75, "█"), (1.0, "█")])
def test_more_weight_is_more_ink(weight, ink):
    (_, row, _) = matrix_lines(Matrix("", ["a"], ["bb"], np.array([[weight]])), 80, colour=False)
    assert row.split()[1][0] == ink


def test_colour_changes_no_letter_and_marks_the_strongest_of_each_row():
    matrix = Matrix("", ["a", "b"], ["cc", "dd"], np.array([[0.4, 0.6], [1.0, 0.0]]))
    coloured = matrix_lines(matrix, 80, colour=True)
    assert [bare(line).rstrip() for line in coloured] == matrix_lines(matrix, 80, colour=False)
    strongest = [re.findall(r"\x1b\[1;36m(\S+?)\x1b", line) for line in coloured]
    assert strongest == [[], ["▓▓"], ["██"], []]


@pytest.mark.parametrize("width", [12, 20, 33, 80, 200])
@pytest.mark.parametrize(
    "words",
    [
        PORTUGUESE,
        ["Я", "вижу", "достопримечательности", "и", "красный", "дом"],
        ["私", "は", "赤い家", "を", "見る", "。"],
        ["na\u0303o", "cafe\u0301", "e\u0302", "a\u0300", "\u0438\u0306", "x"],
        ["", " ", "\n", "\t", "a b", "$"],
    ],
)
def test_columns_line_up_in_any_script(words, width):
    """Every shaded cell begins at the same column in all rows, counted in screen cells."""
    uniform = Matrix("", words, words, np.full((6, 6), 0.3))
    lines = matrix_lines(uniform, width, colour=False)
    assert all(cell_len(line) <= width for line in lines)
    rows = [line for line in lines if line.rstrip().endswith("▒") and "≥" not in line]
    places = {tuple(cell_len(row[: match.start()]) for match in re.finditer("▒+", row)) for row in rows}
    starts = {place[0] for place in places}
    assert len(starts) == 1
    assert len(rows) % 6 == 0
    assert sum(row.count("▒") for row in rows) >= 2 * 36


def test_columns_that_do_not_fit_follow_below():
    words = [f"word{number}" for number in range(30)]
    matrix = Matrix("", ["a"], words, np.eye(1, 30, 29))
    lines = matrix_lines(matrix, 40, colour=False)
    rows = [line for line in lines if line.startswith("a") and "·" in line]
    assert len(rows) == 2
    assert rows[1].endswith("██")
    assert all(cell_len(line) <= 40 for line in lines)


def test_long_words_are_cut():
    matrix = Matrix("t" * 60, ["r" * 60], ["c" * 60], np.ones((1, 1)))
    lines = matrix_lines(matrix, 30, colour=False)
    assert lines[0] == "t" * 29 + "…"
    assert lines[1 + 16] == "r" * 9 + "… ██"
    assert lines[16].strip() == "…"


def test_the_shades_go_from_little_to_much():
    assert list(SHADES) == sorted(SHADES)
