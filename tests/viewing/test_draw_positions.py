"""Positions as pictures."""

import re
from pathlib import Path

import numpy as np
import pytest

from regard.base.faults import Fault
from regard.viewing.positions import draw_positions

PLACES = np.arange(8)[:, None]
ANGLES = PLACES * 10_000.0 ** (-np.arange(0, 6, 2) / 6)
SINUSOIDAL = np.stack([np.sin(ANGLES), np.cos(ANGLES)], axis=-1).reshape(8, 6)
ALIBI = -np.array([0.5, 0.25])[:, None, None] * np.abs(PLACES - PLACES.T)


def texts_of(path: Path) -> list[str]:
    return re.findall(r"<text[^>]*>([^<]*)</text>", path.read_text(encoding="utf-8"))


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("name", "table", "axes"),
    [
        ("sinusoidal", SINUSOIDAL, {"place", "coordinate"}),
        ("learned", SINUSOIDAL, {"place", "coordinate"}),
        ("dot product of sinusoidal", SINUSOIDAL @ SINUSOIDAL.T, {"place"}),
        ("rotary angles", ANGLES, {"place", "pair of coordinates", "angle", "2π"}),
        ("ALiBi", ALIBI[0], {"place of the query", "place of the key", "factor of the weight"}),
        ("something", SINUSOIDAL, {"place", "coordinate"}),
        ("something square", np.eye(4), {"place"}),
    ],
)
def test_the_name_says_what_the_axes_are(name: str, table: np.ndarray, axes: set[str], tmp_path: Path) -> None:
    assert draw_positions({name: table}, tmp_path / "positions.svg") == set()
    texts = set(texts_of(tmp_path / "positions.svg"))
    assert name in texts
    assert axes <= texts
    assert ("coordinate" in texts) == ("coordinate" in axes)


def test_a_table_of_heads_gives_some_of_them(tmp_path: Path) -> None:
    draw_positions({"alibi": np.repeat(ALIBI, 4, axis=0)}, tmp_path / "positions.svg")
    titles = [text for text in texts_of(tmp_path / "positions.svg") if text.startswith("alibi")]
    assert titles == ["alibi, head 1 of 8", "alibi, head 5 of 8", "alibi, head 8 of 8"]


def test_all_encodings_go_into_one_picture(tmp_path: Path) -> None:
    encodings = {"sinusoidal": SINUSOIDAL, "dot product": SINUSOIDAL @ SINUSOIDAL.T, "rotary": ANGLES, "alibi": ALIBI}
    draw_positions(encodings, tmp_path / "positions.png")
    assert (tmp_path / "positions.png").read_bytes().startswith(b"\x89PNG")


def test_what_cannot_be_drawn_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Fault, match=r"does not end in \.png or \.svg"):
        draw_positions({"rotary": ANGLES}, tmp_path / "positions.gif")
    with pytest.raises(ValueError, match=r"'flat' has the shape \(3,\)"):
        draw_positions({"flat": np.ones(3)}, tmp_path / "positions.png")
    with pytest.raises(ValueError, match="no positions"):
        draw_positions({}, tmp_path / "positions.png")
