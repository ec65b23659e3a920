"""Attention over the frames of a sound, under its waveform: pictures, pages, numbers and terminal."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from regard.base.faults import Fault
from regard.viewing.drawers import drawing_of, page_view
from regard.viewing.frames import FrameLooks, draw_frames, frames_data, frames_lines, from_json, to_json
from regard.viewing.looks import LooksBetween
from regard.viewing.seen import Block
from regard.viewing.sides import Frames, Steps
from regard.viewing.view import DrawingRequest

SOUND = np.concatenate([np.zeros(4), [0.5, -1.0, 1.0, -0.5]])


def looks() -> FrameLooks:
    """Return four frames of two samples: blank, blank, a, and a or blank."""
    weights = np.array([[[0.0, 1.0], [0.0, 1.0], [1.0, 0.0], [0.5, 0.5]]])
    return FrameLooks("a.wav: a", SOUND, 8, 0.25, ["a", "–"], [Block("occupancy", weights)])


def test_weights_have_a_row_for_each_symbol_and_a_column_for_each_frame() -> None:
    which, weights = looks().one()
    assert which == ""
    np.testing.assert_array_equal(weights, [[0, 0, 1, 0.5], [1, 1, 0, 0.5]])
    assert looks().duration == 1.0


def test_the_envelope_is_the_lowest_and_highest_sample_of_each_part() -> None:
    np.testing.assert_array_equal(looks().envelope(4), [[0, 0, -1.0, -0.5], [0, 0, 0.5, 1.0]])


def test_numbers_come_back_as_they_were() -> None:
    copy = from_json(json.loads(json.dumps(to_json(looks()))))
    np.testing.assert_array_equal(copy.blocks[0].weights, looks().blocks[0].weights)
    assert (copy.title, copy.rate, copy.seconds, copy.rows) == ("a.wav: a", 8, 0.25, ["a", "–"])


def test_the_terminal_shows_how_loud_it_is_and_a_line_for_each_symbol() -> None:
    title, wave, a, blank, time, _ = frames_lines(looks(), 80)
    assert (title, wave, a, blank) == ("a.wav: a", "    ██", "a ··█▓", "– ██·▓")
    assert time == "  0 1.00 s"
    assert all(len(line) <= 20 for line in frames_lines(looks(), 20))


def test_a_page_has_weights_as_ten_thousandths_row_after_row() -> None:
    data = frames_data(looks())
    assert data["blocks"] == [{"where": "occupancy", "heads": [[0, 0, 10_000, 5000, 10_000, 10_000, 0, 5000]]}]
    assert (data["count"], data["rows"], max(data["wave"]["high"])) == (4, ["a", "–"], 100)


def between(looks_at: Frames | Steps, columns: int) -> LooksBetween:
    weights = np.full((2, 4, columns), 1 / columns)
    return LooksBetween("source to labels", "a.wav", "a", Frames(SOUND, 8, 4, 0.25), looks_at, [Block("one", weights)])


@pytest.mark.parametrize(
    ("side", "columns", "names"),
    [(Steps(["a", "–"]), 2, ["a", "–"]), (Frames(SOUND, 8, 4, 0.25), 4, ["0.00", "0.25", "0.50", "0.75"])],
)
def test_frames_are_drawn_in_every_form(side: Frames | Steps, columns: int, names: list[str], tmp_path: Path) -> None:
    drawing = drawing_of(between(side, columns), DrawingRequest())
    assert drawing.numbers()["rows"] == names
    assert not drawing.draw(tmp_path / "sound.svg")
    svg = (tmp_path / "sound.svg").read_text()
    assert all(f">{name}<" in svg for name in names)
    assert "seconds" in svg
    assert "frames-weights" in drawing.page().html
    assert page_view(between(side, columns))[0] == "frames"


@pytest.mark.parametrize("words", [1, 200])
def test_a_long_title_is_wrapped_to_the_width_of_the_picture(words: int, tmp_path: Path) -> None:
    draw_frames(replace(looks(), title=" ".join(["insertion"] * words)), tmp_path / "sound.png")
    with Image.open(tmp_path / "sound.png") as picture:
        assert picture.width < 800
        assert (picture.height > 800) == (words > 1)


def test_what_no_waveform_has_is_refused() -> None:
    with pytest.raises(Fault, match=r"--lines goes with a matrix; .* drawn as weights under a waveform"):
        drawing_of(between(Steps(["a", "–"]), 2), DrawingRequest(lines=True))
    with pytest.raises(ValueError, match="do not fit 1 rows"):
        FrameLooks("", SOUND, 8, 0.25, ["a"], looks().blocks)
