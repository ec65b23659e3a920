"""The table of drawers: each pair of sides finds its own, and another drawer's option is refused by name."""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from regard.base.faults import Fault
from regard.viewing.drawers import DRAWERS, drawing_of
from regard.viewing.looks import LooksBetween
from regard.viewing.seen import Block
from regard.viewing.sides import Cells, Facts, Frames, Nodes, Slots, Steps, Strokes, Video, Words
from regard.viewing.view import DrawingRequest

sys.path.insert(0, str(Path(__file__).parent))
from drawn import EDGES, PAPERS, edge_blocks
from pages import HOSTILE, Reader, page_data

TEXT = Words(["a", "b", "c"], ["ab", "c"], [0, 0, 1])
GRID = Cells(np.zeros((4, 6)), (2, 2))
PICTURE = Cells(np.zeros((4, 6)))
GLIMPSES = Steps(["glimpse 1", "glimpse 2"])


STORY = Facts(["Ana is in the garden.", "Rui left."], "Where is Ana?", ["It was night."])


SOUND = Frames(np.sin(np.arange(64)), 32, 2, 1.0, bands=np.ones((8, 3)))


DRAWING = Strokes(np.arange(8.0).reshape(4, 2), np.array([False, True, False, True]), [0, 1, 2])


def weights(queries: int, keys: int) -> list[Block]:
    return [Block("look", np.full((2, queries, keys), 1 / keys))]


WINDOWS = (np.array([[3, 2], [1, 1]]), np.array([[2], [2]]))
CASES: dict[str, LooksBetween] = {
    "matrix": LooksBetween("text to text", "ab c", "yes", TEXT, TEXT, weights(3, 3)),
    "answers over a text": LooksBetween("answer to text", "ab c", "yes", GLIMPSES, TEXT, weights(2, 3)),
    "graph": LooksBetween("nodes to nodes", "a", "X", PAPERS, PAPERS, edge_blocks(), EDGES),
    "overlay": LooksBetween("words to picture", "six.png", "ab c", TEXT, GRID, weights(3, 4)),
    "steps over a picture": LooksBetween("steps to picture", "six.png", "", GLIMPSES, GRID, weights(2, 4)),
    "picture over its signs": LooksBetween("picture to signs", "six.png", "77", GRID, GLIMPSES, weights(4, 2)),
    "picture over its caption": LooksBetween("cross", "ab c", "", GRID, TEXT, weights(4, 3)),
    "picture over itself": LooksBetween("encoder", "six.png", "7", GRID, GRID, weights(4, 4)),
    "strip": LooksBetween("cross", "it.gif", "ab c", TEXT, Video(np.zeros((2, 4, 6, 3))), weights(3, 2)),
    "windows": LooksBetween("glimpses to picture", "six.png", "7", GLIMPSES, PICTURE, windows=WINDOWS),
    "sound over its symbols": LooksBetween("frames to labels", "a.wav", "1", SOUND, GLIMPSES, weights(2, 2)),
    "sound that says a text": LooksBetween("frames to symbols", "ab c", "2 s", SOUND, TEXT, weights(2, 3)),
    "sound over itself": LooksBetween("encoder", "a.wav", "1", SOUND, SOUND, weights(2, 2)),
    "hops": LooksBetween("hops to facts", "story", "garden", GLIMPSES, STORY, weights(2, 4)),
    "strokes": LooksBetween("drawing to drawing", "a.json", "9 nats", DRAWING, DRAWING, weights(3, 3)),
    "slots": LooksBetween("steps to slots", "10", "01", GLIMPSES, Slots(9, ["read", "write"]), weights(2, 9)),
}


def test_every_drawer_is_tried() -> None:
    tried = {(case.manner, type(case.looks_from), type(case.looks_at)) for case in CASES.values()}
    assert tried == set(DRAWERS)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("case", CASES)
def test_every_form_can_be_made(case: str, tmp_path: Path) -> None:
    drawing = drawing_of(CASES[case], DrawingRequest())
    for suffix in (".png", ".svg"):
        assert drawing.draw(tmp_path / f"look{suffix}") == set()
        assert (tmp_path / f"look{suffix}").stat().st_size > 1000
    assert max(map(len, drawing.lines(40, colour=False))) <= 40
    assert json.loads(json.dumps(drawing.numbers()))
    drawing.page().write(tmp_path / "look.html")
    assert page_data(tmp_path / "look.html")


@pytest.mark.parametrize("case", CASES)
def test_a_page_must_be_called_one(case: str, tmp_path: Path) -> None:
    with pytest.raises(Fault, match=r"look.htm does not end in \.html"):
        drawing_of(CASES[case], DrawingRequest()).page().write(tmp_path / "look.htm")


def test_words_are_joined_before_they_look_at_a_picture() -> None:
    drawing: Any = drawing_of(CASES["overlay"], DrawingRequest())
    assert drawing.record.steps == ["ab", "c"]
    by_token: Any = drawing_of(CASES["overlay"], DrawingRequest(tokens=True))
    assert by_token.record.steps == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("case", "wanted", "words"),
    [
        (
            "graph",
            DrawingRequest(sheet=True),
            "--sheet goes with a matrix; the attention of this model is drawn as a graph",
        ),
        ("graph", DrawingRequest(heads="max"), "--heads goes with a matrix"),
        (
            "matrix",
            DrawingRequest(rings=2),
            "--rings goes with a graph; the attention of this model is drawn as a matrix",
        ),
        ("windows", DrawingRequest(layer=1), "--layer goes with a matrix; .* drawn as windows on a picture"),
        ("overlay", DrawingRequest(lines=True), "--lines goes with a matrix; .* drawn as weights over a picture"),
    ],
)
def test_an_option_of_another_drawer_is_refused(case: str, wanted: DrawingRequest, words: str) -> None:
    with pytest.raises(Fault, match=words):
        drawing_of(CASES[case], wanted)


def test_sides_that_nobody_draws_are_refused() -> None:
    with pytest.raises(Fault, match="There is no drawing yet for weights from words to nodes"):
        drawing_of(LooksBetween("?", "", "", TEXT, PAPERS, weights(3, 6)), DrawingRequest())


@pytest.mark.parametrize("case", ["graph", "windows", "overlay", "hops"])
def test_what_was_typed_stays_text(case: str, tmp_path: Path) -> None:
    """Names of nodes, pictures and words that look like markup add no element to a page."""
    looks = CASES[case]
    hostile = {
        "graph": LooksBetween("", "", "", *[Nodes([HOSTILE] * 6, [0], [HOSTILE] * 6)] * 2, edge_blocks(), EDGES),
        "windows": LooksBetween("", HOSTILE, HOSTILE, Steps([HOSTILE] * 2), PICTURE, windows=WINDOWS),
        "overlay": LooksBetween("", HOSTILE, "", Steps([HOSTILE] * 2), GRID, weights(2, 4)),
        "hops": LooksBetween("", "", HOSTILE, GLIMPSES, Facts([HOSTILE] * 2, HOSTILE, [HOSTILE]), weights(2, 2)),
    }[case]
    tags = []
    for number, view in enumerate((looks, hostile)):
        path = tmp_path / f"{number}.html"
        drawing_of(view, DrawingRequest()).page().write(path)
        tags.append([tag for tag, _ in Reader(path.read_text(encoding="utf-8")).tags])
    assert tags[0] == tags[1]
