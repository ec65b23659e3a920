"""Pictures of lessons: words as text, separate labels, and identical files for identical pictures."""

import re
from itertools import pairwise
from math import inf
from pathlib import Path

import numpy as np
import pytest

from regard.base.faults import Fault
from regard.viewing.beside import draw_beside
from regard.viewing.gates import Gates, draw_gates, gates_to_json
from regard.viewing.lessons import PALETTE, Lesson, LessonPanel, Line, draw_lesson, is_jagged, lesson_to_json, spread
from regard.viewing.losses import SentenceLoss, TokenLoss, draw_losses
from regard.viewing.matrix import Matrix

LINES = [
    Line("falls", [(0, 1.0), (1, 1e-3), (2, 0.0)], 0),
    Line("stays", [(0, 1.0), (1, 1.0), (2, 1.0)], 1, "dashed"),
    Line("nearly", [(0, 1.0), (1, 1.0), (2, 1.01)], 2, "dotted"),
    Line("", [(0, 1.0), (2, 30.0)], 3),
]
LESSON = Lesson(
    "Um título com $ e ы", [LessonPanel("a panel", "steps", "norm", LINES, "What one sees, in a sentence.")]
)


def svg_texts(path: Path) -> list[str]:
    texts = re.findall(r"<text[^>]*>(.*?)</text>", path.read_text(encoding="utf-8"), re.DOTALL)
    return [re.sub(r"<[^>]*>", "", text).strip() for text in texts]


def test_a_lesson_names_its_lines_and_says_what_one_sees(tmp_path: Path) -> None:
    assert draw_lesson(LESSON, tmp_path / "lesson.svg") == set()
    texts = svg_texts(tmp_path / "lesson.svg")
    assert {"Um título com $ e ы", "a panel", "steps", "norm", "stays", "nearly"} <= set(texts)
    assert "falls" not in texts  # it ends at zero, which has no place on the axis
    assert any("What one sees" in text for text in texts)
    for name in ("one.png", "two.png"):
        draw_lesson(LESSON, tmp_path / name)
    assert (tmp_path / "one.png").read_bytes() == (tmp_path / "two.png").read_bytes()


def test_what_lies_beyond_all_numbers_is_left_out(tmp_path: Path) -> None:
    lines = [Line("fades", [(0, 1.0), (1, 1e-310)], 0), Line("bursts", [(0, 1.0), (1, inf)], 1)]
    draw_lesson(Lesson("title", [LessonPanel("panel", "steps", "norm", lines, "")]), tmp_path / "lesson.svg")
    assert not {"fades", "bursts"} & set(svg_texts(tmp_path / "lesson.svg"))


def test_a_line_that_jumps_up_and_down_is_drawn_thin_and_behind_the_others(tmp_path: Path) -> None:
    jumping, falling = [10.0 ** -(place % 2 * 9) for place in range(20)], [10.0**-place for place in range(20)]
    assert is_jagged(jumping)
    assert not is_jagged(falling)  # steep, but without hiding the rest
    assert not is_jagged([1.0, 2.0] * 10)
    lines = [Line(str(place), list(enumerate(values)), place) for place, values in enumerate((falling, jumping))]
    draw_lesson(Lesson("title", [LessonPanel("panel", "steps", "norm", lines, "")]), tmp_path / "lesson.svg")
    strokes = re.findall(r"stroke: (#[0-9a-f]{6}).*?stroke-width: ([\d.]+)", (tmp_path / "lesson.svg").read_text())
    behind, before = [(colour, float(width)) for colour, width in strokes if colour in PALETTE[:2]][:2]
    assert (behind[0], before[0]) == (PALETTE[1], PALETTE[0])
    assert behind[1] < before[1]


def test_an_axis_within_one_power_of_ten_has_plain_numbers(tmp_path: Path) -> None:
    lines = [Line("some", [(0, 0.5), (1, 0.7)], 0)]
    draw_lesson(Lesson("title", [LessonPanel("panel", "steps", "norm", lines, "")]), tmp_path / "lesson.svg")
    assert {"0.6", "0.8"} <= set(svg_texts(tmp_path / "lesson.svg"))


def test_the_numbers_of_a_lesson() -> None:
    (panel,) = lesson_to_json(LESSON)["panels"]
    assert panel["caption"] == "What one sees, in a sentence."
    assert panel["lines"][0] == {"name": "falls", "style": "solid", "points": [(0, 1.0), (1, 1e-3), (2, 0.0)]}


@pytest.mark.parametrize(
    ("places", "expected"),
    [
        ([0.5], [0.5]),
        ([0.1, 0.9], [0.1, 0.9]),
        ([0.5, 0.5], [0.45, 0.55]),
        ([0.55, 0.5, 0.1], [0.575, 0.475, 0.1]),
        ([0.5, 0.5, 0.5], [0.4, 0.5, 0.6]),
    ],
)
def test_names_at_the_ends_are_spread_no_more_than_needed(places: list[float], expected: list[float]) -> None:
    assert spread(places, 0.1) == pytest.approx(expected)


def test_however_near_they_are_names_keep_apart_and_in_order() -> None:
    places = sorted(np.random.default_rng(1).beta(0.3, 0.3, 30).tolist())
    spots = spread(places, 0.06)
    assert all(after - before > 0.0599 for before, after in pairwise(spots))


def gates(names: list[str], words: list[str], units: int = 3) -> Gates:
    generator = np.random.default_rng(0)
    return Gates("gates", words, {name: generator.random((len(words), units)) for name in names}, np.arange(units))


@pytest.mark.long
def test_gates_are_drawn_with_their_words(tmp_path: Path) -> None:
    words = ["Ana", "não", "$5", "Привет"]
    assert draw_gates(gates(["forget", "input", "output", "cell"], words), tmp_path / "g.svg") == set()
    texts = svg_texts(tmp_path / "g.svg")
    assert {*words, "forget gate: what is kept", "memory cell", "3 units"} <= set(texts)
    draw_gates(gates(["update", "reset", "state"], [f"word{n}" for n in range(40)]), tmp_path / "g.png")
    assert (tmp_path / "g.png").read_bytes().startswith(b"\x89PNG")


def test_the_numbers_of_gates() -> None:
    table = gates_to_json(gates(["update", "state"], ["a", "b"]))
    assert table["words"] == ["a", "b"]
    assert table["units"] == [0, 1, 2]
    assert np.shape(table["traces"]["update"]) == (2, 3)
    assert table["means"]["update"] == pytest.approx(np.mean(table["traces"]["update"], axis=1).tolist())


def test_losses_are_drawn_with_what_else_was_thought_of(tmp_path: Path) -> None:
    tokens = [TokenLoss("▁casa", 0.1, 1, []), TokenLoss("</s>", 3.0, 2, [("▁vermelha", 0.8)])]
    assert draw_losses(SentenceLoss("house", "casa", tokens), tmp_path / "l.svg") == set()
    texts = svg_texts(tmp_path / "l.svg")
    assert {"▁casa", "▁vermelha 0.80", "most likely others"} <= set(texts)
    assert any("→ casa" in text for text in texts)
    assert any("perplexity 4.71" in text for text in texts)


@pytest.mark.long
def test_matrices_stand_beside_each_other_or_under_each_other(tmp_path: Path) -> None:
    def size(places: int) -> tuple[float, float]:
        words = [f"w{n}" for n in range(places)]
        matrices = [Matrix(f"matrix {n}", words, words, np.eye(places)) for n in range(3)]
        assert draw_beside(matrices, tmp_path / "m.svg", "The caption.") == set()
        assert {"matrix 0", "matrix 2", "w0", "The caption.", "weight", "0.5"} <= set(svg_texts(tmp_path / "m.svg"))
        wide, high = re.findall(r'<svg.*?width="([\d.]+)pt" height="([\d.]+)pt"|$', " ".join(
            (tmp_path / "m.svg").read_text(encoding="utf-8").split()))[0] or ("0", "0")  # fmt: skip
        return float(wide), float(high)

    wide, high = size(6)
    assert wide > 2 * high
    wide, high = size(34)
    assert high > 1.5 * wide


def test_other_suffixes_are_refused(tmp_path: Path) -> None:
    with pytest.raises(Fault, match=r"lesson\.pdf does not end in \.png or \.svg"):
        draw_lesson(LESSON, tmp_path / "lesson.pdf")
