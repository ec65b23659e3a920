"""Weights over a picture: the place of each cell, and the same content in every form."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from regard.base.faults import Fault
from regard.viewing import page
from regard.viewing.overlay import (
    Overlay,
    OverlayDrawing,
    blend,
    draw_overlay,
    from_json,
    overlay_data,
    overlay_lines,
    stretch,
    to_json,
)
from regard.viewing.seen import Block

sys.path.insert(0, str(Path(__file__).parent))
from drawn import overlay


def test_heads_are_chosen_or_joined() -> None:
    which, weights = overlay().one()
    assert which == "mean of 2 heads"
    assert weights.tolist() == [[[0, 1, 0], [0, 0, 0]], [[0, 0, 0], [0.5, 0, 0.5]]]
    assert overlay().one(head=2)[1][1].tolist() == [[0, 0, 0], [0, 0, 1]]
    assert overlay().one(heads="max")[1][1].tolist() == [[0, 0, 0], [1, 0, 1]]
    with pytest.raises(Fault, match=r"1 block of 2 heads"):
        overlay().one(head=3)


def test_cells_are_stretched_over_the_pixels_they_cover() -> None:
    """Linear from the middle of one cell to that of the next, and flat beyond the last."""
    assert stretch(np.array([[0.0, 1.0]]), 1, 4)[0].tolist() == pytest.approx([0, 0.25, 0.75, 1])
    assert stretch(np.eye(2), 2, 2) == pytest.approx(np.eye(2))
    assert stretch(np.full((3, 5), 0.2), 7, 11) == pytest.approx(np.full((7, 11), 0.2))


def test_what_is_looked_at_is_tinted_and_the_rest_is_grey() -> None:
    picture = np.full((2, 2), 0.5)
    red, green, blue = blend(picture, np.array([[1.0, 0.0], [0.0, 0.0]])).transpose(2, 0, 1)
    assert red[0, 0] > green[0, 0] > blue[0, 0]
    assert red[1, 1] == green[1, 1] == blue[1, 1] < 0.5
    assert (blend(picture, None) == 0.5).all()


@pytest.mark.parametrize("colours", [False, True])
def test_every_word_has_a_panel(tmp_path: Path, colours: bool) -> None:
    path = tmp_path / "overlay.svg"
    assert draw_overlay(overlay(colours), path) == set()
    text = path.read_text()
    assert text.count("<image") == 3
    assert "a (1.00)" in text
    assert "dog (0.50)" in text
    assert "mean of 2 heads" in text


def test_a_long_title_is_no_wider_than_the_panels(tmp_path: Path) -> None:
    draw_overlay(replace(overlay(), title="insertion " * 100), tmp_path / "overlay.png")
    with Image.open(tmp_path / "overlay.png") as picture:
        assert picture.width < 1000


def test_the_end_of_a_caption_has_a_name(tmp_path: Path) -> None:
    draw_overlay(replace(overlay(), steps=["dog", "</s>"]), tmp_path / "overlay.svg")
    assert "end of sentence (0.50)" in (tmp_path / "overlay.svg").read_text()


def test_the_terminal_has_a_grid_for_every_word() -> None:
    lines = overlay_lines(overlay(), 40)
    assert lines[0] == "six.png: a dog · mean of 2 heads"
    assert [line.rstrip() for line in lines[-3:]] == ["a         dog", "  ██", "          ██  ██"]
    assert max(map(len, overlay_lines(overlay(), 12))) <= 12


def test_numbers_survive_as_json() -> None:
    assert to_json(from_json(json.loads(json.dumps(to_json(overlay()))))) == to_json(overlay())


def test_a_page_has_weights_in_ten_thousandths() -> None:
    data = overlay_data(overlay())
    assert data["blocks"][0]["heads"][0] == [0, 10000, 0, 0, 0, 0, 0, 0, 0, 10000, 0, 0]
    assert data["grid"] == [2, 3]


def test_a_page_of_too_many_weights_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "MOST_WEIGHTS", 23)
    with pytest.raises(Fault, match="would hold 24 weights, but the limit is 23"):
        OverlayDrawing(overlay()).page().write(tmp_path / "page.html")


def test_weights_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match=r"do not fit 1 steps and 2 × 3 cells"):
        replace(overlay(), steps=["a"])


def test_cells_that_look_are_panels_where_they_lie(tmp_path: Path) -> None:
    """Six cells attend to each other: two rows of three panels, each with its own cell outlined."""
    names = [f"{row}, {column}" for row in (1, 2) for column in (1, 2, 3)]
    block = Block("look", np.full((1, 6, 6), 1 / 6))
    record = Overlay("seven", np.zeros((4, 9)), (2, 3), names, [block], steps_are_cells=True)
    draw_overlay(record, tmp_path / "cells.svg")
    text = (tmp_path / "cells.svg").read_text(encoding="utf-8")
    assert text.count("<image") == 6
    assert text.count("stroke: #ffffff") == 6
    again = from_json(to_json(record))
    assert again.steps_are_cells
