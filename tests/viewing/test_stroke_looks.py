"""Attention between points of a drawing: the same content in every form."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from regard.base.faults import Fault
from regard.viewing.drawers import drawing_of
from regard.viewing.looks import LooksBetween
from regard.viewing.seen import Block
from regard.viewing.sides import Strokes
from regard.viewing.strokes import StrokeLooks, from_json, stroke_data, stroke_lines, to_json
from regard.viewing.view import DrawingRequest

sys.path.insert(0, str(Path(__file__).parent))
from drawn import stroke_looks


def test_strokes_are_parted_where_they_end() -> None:
    assert [stroke.tolist() for stroke in stroke_looks().strokes()] == [[0, 1, 2], [3, 4]]


def test_the_terminal_names_what_each_point_looks_at() -> None:
    lines = stroke_lines(stroke_looks(), 80, head=1)
    assert lines[0] == "corner.json: 9.0 nats · head 1"
    assert lines[3] == "point   3, stroke 1: looks at 2 1.00, 1 0.00, 3 0.00"
    assert lines[4:] == ["point   4, stroke 2: looks at 3 1.00, 1 0.00, 2 0.00"]


def test_a_model_that_reads_the_whole_drawing_looks_ahead(tmp_path: Path) -> None:
    """Two moves are each read at the point they lead to; nothing is read where the pen was put down."""
    points, ends = np.array([[0.0, 0], [4, 0], [4, 4]]), np.array([False, False, True])
    side = Strokes(points, ends, [1, 2])
    block = Block("body", np.array([[[0.25, 0.75], [0.5, 0.5]]]))
    drawing = drawing_of(LooksBetween("drawing to drawing", "a.json", "", side, side, [block]), DrawingRequest())
    record = from_json(drawing.numbers())
    assert record.looks_ahead
    assert not stroke_looks().looks_ahead
    assert record.blocks[0].weights.tolist() == [[[0, 0, 0], [0, 0.25, 0.75], [0, 0.5, 0.5]]]
    assert stroke_lines(record, 80)[1:3] == [
        "point   1, stroke 1: looks at nothing",
        "point   2, stroke 1: looks at 3 0.75, 2 0.25, 1 0.00",
    ]
    drawing.draw(tmp_path / "looks.svg")


def test_numbers_and_pages_hold_the_same_weights() -> None:
    looks = stroke_looks()
    assert to_json(from_json(json.loads(json.dumps(to_json(looks))))) == to_json(looks)
    data = stroke_data(looks)
    assert data["blocks"][0]["heads"][0][8:12] == [0, 10_000, 0, 0]
    assert data["ends"] == [0, 0, 1, 0, 1]
    assert data["looking"] == 4
    with pytest.raises(Fault, match="1 block of 2 heads"):
        stroke_data(looks, head=3)


def test_separators_belong_to_the_point_before_them(tmp_path: Path) -> None:
    """Three points and a separator after the second: attention to the separator counts for that point."""
    points, ends = np.array([[0.0, 0], [4, 0], [4, 4], [9, 9]]), np.array([False, True, False, True])
    weights = np.array([[[1.0, 0, 0, 0], [0.5, 0.5, 0, 0], [0, 0.5, 0.5, 0], [0, 0.2, 0.3, 0.5]]])
    side = Strokes(points, ends, [0, 1, 1, 2])
    looks = LooksBetween("drawing to drawing", "a.json", "", side, side, [Block("body", weights)])
    drawing = drawing_of(looks, DrawingRequest())
    (block,) = drawing.numbers()["blocks"]
    assert block["weights"] == [[[1.0, 0.0, 0.0], [0.25, 0.75, 0.0], [0.0, 0.5, 0.5]]]
    drawing.draw(tmp_path / "looks.svg")
    assert (tmp_path / "looks.svg").read_text().count("<svg") == 1


def test_a_drawing_is_shown_to_its_last_point(tmp_path: Path) -> None:
    """Nothing looks from its end, but the piece that leads there is part of what is seen."""
    points, ends = np.array([[0.0, 0], [4, 0], [4, 4]]), np.array([False, False, True])
    side = Strokes(points, ends, [0, 1])
    block = Block("body", np.array([[[1.0, 0], [0.5, 0.5]]]))
    drawing = drawing_of(LooksBetween("drawing to drawing", "a.json", "", side, side, [block]), DrawingRequest())
    assert drawing.numbers()["points"] == points.tolist()
    assert len(drawing.lines(80, colour=False)) == 3
    with pytest.raises(ValueError, match=r"\(1, 2, 2\) do not fit 1 points"):
        StrokeLooks("a.json", points[:1], ends[:1], [block])
