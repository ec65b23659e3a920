"""Curves of a training."""

import math
import re

import pytest

from regard.base.faults import Fault
from regard.viewing.canvas import PALETTE
from regard.viewing.curves import draw_curves, smooth

TRAINING = [(step, 2 + 6 * math.exp(-step / 100)) for step in range(10, 1000, 10)]


def svg_texts(path):
    return re.findall(r"<text[^>]*>([^<]*)</text>", path.read_text(encoding="utf-8"))


def test_losses_and_measures_have_a_panel_each(tmp_path):
    path = tmp_path / "curves.svg"
    series = {"training loss": TRAINING, "validation loss": [(500, 2.5)], "bleu": [(500, 20.0), (990, 30.0)]}
    assert draw_curves(series, path, "De inglês a português") == set()
    texts = svg_texts(path)
    assert {"De inglês a português", *series, "loss", "measure", "step"} <= set(texts)


def test_measures_of_different_scales_do_not_share_an_axis(tmp_path):
    def panels(**peaks):
        draw_curves({name: [(1, 0.0), (2, peak)] for name, peak in peaks.items()}, tmp_path / "curves.svg", "x")
        return svg_texts(tmp_path / "curves.svg").count("measure")

    assert panels(bleu=30.0, chrf=60.0) == 1
    assert panels(bleu=30.0, accuracy=0.8) == 2
    assert panels(bleu=30.0, chrf=60.0, accuracy=0.8, perplexity=4000.0) == 3


def test_a_loss_per_text_is_no_loss_and_what_is_always_zero_is_left_out(tmp_path):
    series = {"validation loss": [(1, 4.5), (2, 4.2)], "validation loss_per_text": [(1, 99.0), (2, 91.0)]}
    draw_curves(series | {"validation unknown": [(1, 0.0), (2, 0.0)]}, tmp_path / "curve.svg", "Training")
    text = (tmp_path / "curve.svg").read_text(encoding="utf-8")
    assert text.count('id="axes_') == 2
    assert "loss_per_text" in text
    assert "unknown" not in text


def test_without_measures_there_is_one_panel(tmp_path):
    draw_curves({"training loss": TRAINING}, tmp_path / "curves.svg", "x")
    assert "measure" not in svg_texts(tmp_path / "curves.svg")


def test_a_png_is_drawn_and_what_is_not_finite_left_out(tmp_path):
    broken = [*TRAINING, (1000, math.nan), (1010, math.inf)]
    draw_curves({"training loss": broken, "empty": []}, tmp_path / "curves.png", "x")
    draw_curves({"training loss": TRAINING}, tmp_path / "same.png", "x")
    assert (tmp_path / "curves.png").read_bytes() == (tmp_path / "same.png").read_bytes()
    assert (tmp_path / "same.png").read_bytes().startswith(b"\x89PNG")


def test_many_series_are_told_apart_by_colour_and_without_their_noise(tmp_path):
    def drawn(count: int) -> str:
        noisy = [(step, 1.0 + step % 3) for step in range(40)]
        draw_curves({f"loss {number}": noisy for number in range(count)}, tmp_path / "many.svg", "many")
        return (tmp_path / "many.svg").read_text()

    few, many = drawn(3), drawn(8)
    assert few.count("stroke-opacity: 0.22") == 3
    assert "stroke-opacity: 0.22" not in many
    assert all(f"stroke: {colour}" in many for colour in PALETTE)


def test_nothing_to_draw_and_other_suffixes_are_refused(tmp_path):
    with pytest.raises(ValueError, match="no point to draw"):
        draw_curves({"training loss": [(1, math.nan)]}, tmp_path / "curves.png", "x")
    with pytest.raises(Fault, match=r"curves\.pdf does not end in \.png or \.svg"):
        draw_curves({"training loss": TRAINING}, tmp_path / "curves.pdf", "x")
    with pytest.raises(Fault, match=r"There is no folder .*nowhere to write curves\.png into"):
        draw_curves({"training loss": TRAINING}, tmp_path / "nowhere" / "curves.png", "x")


def test_smoothing_keeps_a_straight_line_straight_and_calms_noise():
    line = [float(value) for value in range(300)]
    assert smooth(line)[:290] == pytest.approx(line[:290])
    zigzag = [1.0, -1.0] * 150
    assert max(map(abs, smooth(zigzag)[10:])) < 0.2
    assert smooth([3.0]) == [3.0]
