"""Drawings on sheets: where each lies, how an animation proceeds, and how windows are outlined."""

import io

import numpy as np
import pytest
from PIL import Image

from regard.viewing.drawings import DrawnCanvas, WritingWindow, in_rows, sheet_gif, sheet_png, spread

BLACK, WHITE = np.zeros((2, 3, 3), np.uint8), np.full((2, 3, 3), 255, np.uint8)


def drawing() -> DrawnCanvas:
    """Return two steps on two by two pixels; the second fills the lower right one."""
    canvases = np.zeros((2, 2, 2))
    canvases[1, 1, 1] = 1
    return DrawnCanvas(canvases, [WritingWindow(1, 1, 2, 0.01), WritingWindow(1.5, 1.5, 1, 0.01)])


def test_drawings_lie_in_rows_that_make_a_square() -> None:
    assert [len(row) for row in in_rows([BLACK] * 7)] == [3, 3, 1]
    with Image.open(io.BytesIO(sheet_png(in_rows([BLACK, BLACK, WHITE])))) as sheet:
        pixels = np.asarray(sheet)
    assert pixels.shape == (2 * (2 + 6) + 6, 2 * (3 + 6) + 6, 3)
    assert (pixels[6:8, 6:9] == 0).all()
    assert (pixels[14:16, 6:9] == 255).all()


def test_frames_are_spread_from_the_first_to_the_last() -> None:
    frames = [np.full((1, 1, 3), place, np.uint8) for place in range(9)]
    assert [int(frame[0, 0, 0]) for frame in spread(frames, 3)] == [0, 4, 8]
    assert len(spread(frames[:2], 5)) == 2


def test_an_animation_waits_for_the_longest_drawing_and_rests_at_its_end() -> None:
    content = sheet_gif([[BLACK, WHITE], [BLACK, WHITE, BLACK, WHITE]])
    with Image.open(io.BytesIO(content)) as sheet:
        shades = []
        for frame in range(sheet.n_frames):
            sheet.seek(frame)
            pixels = np.asarray(sheet.convert("L"))
            shades.append((bool(pixels[6, 6] > 128), bool(pixels[6, 6 + 3 + 6] > 128)))
        assert sheet.info["duration"] == 2500
    assert shades == [(False, False), (True, True), (True, False), (True, True)]


def test_the_numbers_of_a_picture_are_those_that_are_shown() -> None:
    canvas = DrawnCanvas(np.array([[[-0.08, 0.1256, 1.2]]], np.float32))
    assert canvas.as_dict()["picture"] == [[0.0, 0.1256, 1.0]]


def test_a_canvas_shows_where_each_step_drew() -> None:
    sheet = drawing()
    first, last = sheet.frames()
    assert sheet.picture().shape == first.shape == (168, 168, 3)
    assert (sheet.picture()[84:, 84:] == 255).all()
    assert (sheet.picture()[:84] == 0).all()
    red = first[0, 0].tolist()
    assert red[0] > 200 > red[1]  # the first window is the whole picture,
    assert (last[84, 84:] == red).all()  # and the second the lower right pixel
    assert (last[83] == 0).all()
    assert sheet.as_dict()["windows"][1] == {"across": 1.5, "down": 1.5, "side": 1, "blur": 0.01}
    assert "data:image/png;base64," in sheet._repr_html_()


@pytest.mark.parametrize("window", [WritingWindow(-40, 9, 1, 1), WritingWindow(1, 1, 0, 0), WritingWindow(1, 1, 99, 9)])
def test_any_window_can_be_outlined(window: WritingWindow) -> None:
    assert len(DrawnCanvas(np.zeros((1, 2, 2)), [window]).frames()) == 1
