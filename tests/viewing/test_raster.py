"""Pictures of pixels for pages and terminals."""

import numpy as np
import pytest

from regard.base.faults import Fault
from regard.viewing import raster
from regard.viewing.raster import grey, ink_rows, page_picture


def test_green_is_the_brightest_of_the_colours() -> None:
    red, green, blue = (float(grey(np.array([[colour]], dtype=float))[0, 0]) for colour in np.eye(3))
    assert green > red > blue
    assert red + green + blue == pytest.approx(1)
    assert grey(np.full((2, 3), 0.4)).tolist() == [[0.4] * 3] * 2


def test_bytes_stay_within_a_byte() -> None:
    assert page_picture(np.array([[-1.0, 0.5, 2.0]])) == {"height": 1, "width": 3, "bytes": [0, 128, 255]}


def test_a_picture_too_large_for_a_page_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(raster, "MOST_BYTES", 11)
    with pytest.raises(Fault, match="would hold 12 bytes, but the limit is 11"):
        page_picture(np.zeros((2, 2, 3)))


def test_brighter_is_more_ink() -> None:
    assert ink_rows(np.array([[0.0, 0.3, 0.5, 0.7, 1.0]]), 20) == [["  ", "░░", "▒▒", "▓▓", "██"]]


def test_a_picture_is_averaged_to_fit() -> None:
    """Six pixels in four cells: blocks of three by three; the remaining last row joins the block above."""
    picture = np.zeros((4, 6))
    picture[:, 3:] = 1
    assert ink_rows(picture, 4) == [["  ", "██"]]
