"""Weights over the frames of a video: the place of each frame, and the same content in every form."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from regard.base.faults import Fault
from regard.viewing import page
from regard.viewing.drawers import drawing_of, page_view
from regard.viewing.looks import LooksBetween, names_along
from regard.viewing.seen import Block
from regard.viewing.sides import Video, Words
from regard.viewing.strip import StripDrawing, draw_strip, fade, from_json, strip_data, strip_lines, to_json
from regard.viewing.view import DrawingRequest

sys.path.insert(0, str(Path(__file__).parent))
from drawn import strip

FRAMES = strip().frames


def test_heads_are_chosen_or_joined() -> None:
    assert strip().one()[1].tolist() == [[1, 0, 0], [0, 0.5, 0.5]]
    assert strip().one(head=2)[1].tolist() == [[1, 0, 0], [0, 0, 1]]
    with pytest.raises(Fault, match="1 block of 2 heads"):
        strip().one(head=3)


def test_frames_fade_to_white_where_nobody_looks() -> None:
    assert fade(FRAMES[0], 1.0).tolist() == FRAMES[0].tolist()
    assert fade(FRAMES[0], 0.0).min() > 0.9
    assert fade(FRAMES[2], 0.3).tolist() == FRAMES[2].tolist()


def test_every_word_has_a_line_of_frames(tmp_path: Path) -> None:
    path = tmp_path / "strip.svg"
    assert draw_strip(strip(), path) == set()
    text = path.read_text(encoding="utf-8")
    assert "<image" in text
    assert text.count("stroke: #b8b8b8") == 3 * (1 + 2)  # edges of frames, including frames as white as the paper
    assert all(word in text for word in ("jumps", "then", "1.00", "0.50", "mean of 2 heads"))


def test_a_long_title_is_no_wider_than_the_frames(tmp_path: Path) -> None:
    draw_strip(replace(strip(), title="insertion " * 100), tmp_path / "strip.png")
    with Image.open(tmp_path / "strip.png") as picture:
        assert picture.width < 2000


def test_the_terminal_has_a_shade_under_every_frame() -> None:
    lines = strip_lines(strip(), 20)
    assert lines[0] == "it.gif: jumps then…"
    assert lines[1:4] == ["      1   2   3", "jumps ███ ··· ···", " then ··· ▓▓▓ ▓▓▓"]
    assert max(map(len, lines)) <= 20
    assert len(strip_lines(strip(), 80)) > len(lines)  # with room, the frames themselves


def test_numbers_survive_as_json() -> None:
    assert to_json(from_json(json.loads(json.dumps(to_json(strip()))))) == to_json(strip())


def test_a_page_has_the_frames_side_by_side(monkeypatch: pytest.MonkeyPatch) -> None:
    data = strip_data(strip())
    assert (data["picture"]["width"], data["picture"]["height"], data["count"]) == (18, 4, 3)
    assert data["picture"]["bytes"][: 6 * 3 + 3] == [0] * 18 + [128] * 3
    assert data["blocks"][0]["heads"][1] == [10000, 0, 0, 0, 0, 10000]
    monkeypatch.setattr(page, "MOST_WEIGHTS", 11)
    with pytest.raises(Fault, match="would hold 12 weights, but the limit is 11"):
        StripDrawing(strip()).page()


def test_words_that_look_at_a_video_are_drawn_so() -> None:
    words, video = Words(["ju", "mps", "then"], ["jumps", "then"], [0, 0, 1]), Video(FRAMES)
    weights = np.eye(3)[None]
    looks = LooksBetween("cross", "it.gif", "jumps then", words, video, [Block("look", weights)])
    view, data = page_view(looks)
    assert view == "strip"
    assert data["blocks"][0]["heads"][0] == [5000, 5000, 0, 0, 0, 10000]  # the mean over the tokens of a word
    assert drawing_of(looks, DrawingRequest(tokens=True)).numbers()["words"] == ["ju", "mps", "then"]
    assert names_along(video, words) == ["frame 1", "frame 2", "frame 3"]


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="do not fit 1 words and 3 frames"):
        replace(strip(), words=["jumps"])
    with pytest.raises(ValueError, match=r"a video is \(frame, height, width, 3\)"):
        Video(np.zeros((3, 4, 5)))
