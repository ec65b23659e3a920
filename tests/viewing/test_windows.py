"""Glimpses: squares by hand, their contents, and the same content in every form."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from regard.attention.glimpses import centre_pixels, take_glimpses, window_sides
from regard.viewing.windows import GlimpsePath, draw_glimpses, from_json, glimpse_data, glimpse_lines, to_json

sys.path.insert(0, str(Path(__file__).parent))
from drawn import glimpses


def test_squares_lie_around_their_centres() -> None:
    assert glimpses().squares(0) == [(2, 1, 2), (1, 0, 4)]
    assert glimpses().squares(2) == [(5, 2, 2), (4, 1, 4)]


def test_what_is_seen_on_paper() -> None:
    """The picture is 0, 0.2, … 1 from left to right, so a window of four pixels has means 0.3 and 0.7."""
    small, large = glimpses().patches(0)
    assert small == pytest.approx(np.array([[0.4, 0.6]] * 2))
    assert large == pytest.approx(np.array([[0.3, 0.7]] * 2))


def test_beyond_the_picture_it_is_black() -> None:
    small, large = glimpses().patches(2)
    assert small == pytest.approx(np.array([[1.0, 0.0]] * 2))
    assert large == pytest.approx(np.array([[0.9, 0.0], [0.45, 0.0]]))  # the last of its four rows is below the picture


def test_what_is_seen_is_what_the_model_saw() -> None:
    """Windows inside or half outside the picture have the same numbers as the network's patches."""
    chance = torch.Generator().manual_seed(3)
    picture = torch.rand(1, 9, 14, generator=chance, dtype=torch.float64)
    places = torch.rand(1, 20, 2, generator=chance, dtype=torch.float64) * 2 - 1
    centres = centre_pixels(places, picture.shape)[0].numpy()
    extents = np.tile(window_sides(4, 3), (20, 1))
    path = GlimpsePath("", picture[0].numpy(), ["look"] * 20, centres, extents)
    patches = take_glimpses(picture, places, 4, 3)[0]
    for step in range(20):
        assert np.stack(path.patches(step)) == pytest.approx(patches[step].numpy())


def test_colours_are_seen_as_colours() -> None:
    grey = glimpses()
    colours = replace(grey, picture=np.stack([grey.picture, 0 * grey.picture, grey.picture], axis=2))
    assert colours.patches(0)[1][0, 0].tolist() == pytest.approx([0.3, 0, 0.3])


def test_the_picture_has_every_window_and_every_patch(tmp_path: Path) -> None:
    path = tmp_path / "windows.svg"
    assert draw_glimpses(glimpses(), path) == set()
    text = path.read_text()
    assert all(f'id="window-{step}-{scale}"' in text for step in (1, 2, 3) for scale in (1, 2))
    assert text.count("<image") == 1 + 3 * 2
    assert "glimpse 3" in text
    many = replace(
        glimpses(), steps=[f"{step}" for step in range(9)], centres=np.ones((9, 2)), extents=np.full((9, 1), 2)
    )
    draw_glimpses(many, tmp_path / "many.png")
    assert (tmp_path / "many.png").read_bytes()[:4] == b"\x89PNG"


def test_the_terminal_numbers_the_places() -> None:
    lines = glimpse_lines(glimpses(), 60, colour=False)
    assert lines[:5] == [
        "six.png: bright",
        "  ░░▒▒▓▓████",
        "  2 ▒▒▓▓████",
        "  ░░▒▒1 ████",
        "  ░░▒▒▓▓██3 ",
    ]
    assert lines[5] == "glimpse 1: at 3 across, 2 down; sides of 2, 4 pixels"
    assert "glim…" not in lines[8]
    assert max(map(len, glimpse_lines(glimpses(), 20, colour=False))) <= 20


def test_a_picture_wider_than_the_terminal_is_made_smaller() -> None:
    wide = replace(glimpses(), picture=np.ones((5, 100)))
    lines = glimpse_lines(wide, 41, colour=False)
    assert max(map(len, lines)) <= 41
    assert lines[1] == "1 3 " + "█" * 36


def test_numbers_survive_as_json() -> None:
    back = from_json(json.loads(json.dumps(to_json(glimpses()))))
    assert to_json(back) == to_json(glimpses())


def test_a_page_has_bytes_and_squares() -> None:
    data = glimpse_data(glimpses())
    assert data["picture"] == {"height": 4, "width": 6, "bytes": [0, 51, 102, 153, 204, 255] * 4}
    assert data["steps"][0]["squares"] == [[2, 1, 2], [1, 0, 4]]
    assert data["steps"][0]["patches"][0]["bytes"] == [102, 153] * 2


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="2 steps do not fit 3 centres and 3 extents"):
        replace(glimpses(), steps=["a", "b"])
