"""The use of a memory: which slots are shown, and the same content in every form."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from regard.base.edits import Edit
from regard.base.faults import Fault
from regard.viewing.drawers import drawing_of
from regard.viewing.looks import LooksBetween
from regard.viewing.seen import Block
from regard.viewing.sides import Slots, Steps, Words
from regard.viewing.slots import from_json, memory_data, memory_lines, to_json
from regard.viewing.view import DrawingRequest, Edited, View

sys.path.insert(0, str(Path(__file__).parent))
from drawn import stepping


def test_slots_are_shown_in_a_row_from_the_first_that_is_used_around_the_end() -> None:
    assert stepping().slots == [18, 19, 0, 1, 2, 3, 4, 5]
    assert stepping(first=4).slots == [4, 5, 6, 7, 8, 9, 10, 11]
    assert stepping(slots=5, first=4).slots == [4, 0, 1, 2, 3]
    assert len(replace(stepping(), weights=np.zeros((2, 3, 20))).slots) == 8
    assert replace(stepping(), weights=np.full((2, 3, 20), 0.5)).slots == list(range(20))


def test_a_terminal_has_a_line_for_each_slot_and_more_ink_where_a_head_is() -> None:
    lines = memory_lines(stepping(), 60, colour=False)
    assert lines[:5] == ["10 01: 10", "", "read, steps 1 to 3, slot by slot", "   18 ███", "   19 ···"]
    write = lines.index("write, steps 1 to 3, slot by slot")
    assert lines[write + 1 : write + 4] == ["   18 ▓··", "   19 ·▓·", "    0 ··▓"]
    narrow = memory_lines(stepping(), 8, colour=False)
    assert [line for line in narrow if line.endswith("…")] == ["10 01:…", *["read, s…", "write,…"] * 2, "░ ≥ 0.1…"]
    assert any("\x1b[33m▓" in line for line in memory_lines(stepping(), 60, colour=True))


def test_numbers_are_all_there_and_come_back() -> None:
    back = from_json(json.loads(json.dumps(to_json(stepping()))))
    assert np.array_equal(back.weights, stepping().weights)
    assert np.array_equal(back.given, stepping().given)
    assert (back.title, back.steps, back.heads) == (stepping().title, stepping().steps, stepping().heads)
    assert to_json(replace(stepping(), given=None))["given"] is None


def test_a_page_has_the_slots_that_are_shown_row_by_row() -> None:
    data = memory_data(stepping())
    read, write = data["heads"]
    assert data["slots"][0] == 18
    assert read["weights"][:4] == [10_000, 10_000, 10_000, 0]
    assert write["weights"][:6] == [6000, 0, 0, 0, 6000, 0]
    assert (read["writes"], write["writes"]) == (False, True)
    assert data["strips"]["given"]["bytes"] == [0, 255, 255, 255, 0, 255]


def looked_at() -> LooksBetween:
    use = stepping()
    sides = Steps(use.steps, use.given, use.answered), Slots(20, use.heads)
    return LooksBetween("steps to slots", "10 01", "10", *sides, [Block("heads", use.weights)])


def test_every_form_can_be_written_and_an_animation_has_a_picture_for_each_step(tmp_path: Path) -> None:
    view = View("", drawing_of(looked_at(), DrawingRequest()))
    for suffix in ("svg", "html", "json", "gif"):
        assert view.write(tmp_path / f"use.{suffix}") == set()
    assert ">write" in (tmp_path / "use.svg").read_text()
    with Image.open(tmp_path / "use.gif") as animation:
        assert animation.n_frames == 3
        assert animation.info["duration"] == 110
        height = animation.height
    replace(view, edited=Edited([Edit(at="read.1", part="window", do="zero")], "11")).write(tmp_path / "edited.gif")
    with Image.open(tmp_path / "edited.gif") as animation:
        assert animation.height > height  # the two lines above


def test_one_head_can_be_drawn_alone_and_one_that_is_not_there_is_refused() -> None:
    lines = drawing_of(looked_at(), DrawingRequest(head=2)).lines(60, False)
    assert [line[:5] for line in lines if "steps" in line] == ["write"]
    with pytest.raises(Fault, match="This model has 2 heads: read, write"):
        drawing_of(looked_at(), DrawingRequest(head=3))
    with pytest.raises(Fault, match="--lines goes with a matrix; the attention of this model is drawn as the slots"):
        drawing_of(looked_at(), DrawingRequest(lines=True))


def test_what_does_not_happen_step_by_step_is_not_animated(tmp_path: Path) -> None:
    words = Words(["a"], ["a"], [0])
    looks = LooksBetween("cross", "a", "a", words, words, [Block("cross", np.ones((1, 1, 1)))])
    with pytest.raises(Fault, match="would be an animation, which only views of steps have"):
        View("", drawing_of(looks, DrawingRequest())).write(tmp_path / "a.gif")


def test_weights_that_do_not_fit_their_heads_are_refused() -> None:
    with pytest.raises(ValueError, match="do not fit 1 heads and 3 steps"):
        replace(stepping(), heads=["read"])
    with pytest.raises(ValueError, match="2 rows of numbers do not fit 1 steps"):
        Steps(["one"], np.zeros((2, 3)))
