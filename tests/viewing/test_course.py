"""The picture of a training: a panel for each measure."""

import math
import re
from pathlib import Path

import pytest

from regard.base.faults import Fault
from regard.families import check_recipe
from regard.runs.train import course_of
from regard.training.snapshot import Facts
from regard.viewing.course import Best, Course, draw_course

TRAINING = [(step, 2 + 6 * math.exp(-step / 100)) for step in range(10, 1000, 10)]
RATES = [(step, step / 1000) for step in range(10, 1000, 10)]


def drawn(course: Course, path: Path) -> tuple[list[str], str]:
    """Return the texts of the picture, and the picture."""
    draw_course(course, path, "Training of a toy")
    svg = path.read_text(encoding="utf-8")
    return re.findall(r"<text[^>]*>([^<]*)</text>", svg), svg


def test_each_measure_has_a_panel_of_its_own_scale(tmp_path: Path) -> None:
    validation = {"loss": [(500, 2.5), (990, 2.4)], "bleu": [(500, 20.0), (990, 30.0)]}
    texts, svg = drawn(Course({"loss": TRAINING}, validation, RATES, Best("bleu", 990, 30.0)), tmp_path / "curve.svg")
    assert svg.count('id="axes_') == 3
    titles = [text for text in texts if text in ("loss", "bleu", "learning rate")]
    assert titles == ["loss", "bleu", "learning rate"]
    assert {"training", "validation", "best bleu", "30", "step", "Training of a toy"} <= set(texts)


def test_training_is_thin_and_validation_strong(tmp_path: Path) -> None:
    _, svg = drawn(Course({"loss": TRAINING}, {"loss": [(500, 2.5), (990, 2.4)]}), tmp_path / "curve.svg")
    styles = re.findall(r'style="fill: none; stroke: (#1f5fa8|#d1622b)([^"]*)"', svg)
    widths = {colour: {_width(style) for name, style in styles if name == colour} for colour in ("#1f5fa8", "#d1622b")}
    assert widths == {"#1f5fa8": {"0.6", "1"}, "#d1622b": {"2.2"}}


def _width(style: str) -> str:
    (width,) = re.findall(r"stroke-width: ([\d.]+)", style) or ["1"]
    return width


def test_what_tells_nothing_is_left_out_and_many_panels_stand_in_two_columns(tmp_path: Path) -> None:
    measured = {"loss": 4.2, "perplexity": 66.0, "loss_per_text": 91.0, "accuracy": 0.4}
    changing = {name: [(1, value), (2, value / 2)] for name, value in measured.items()}
    course = Course({"loss": [(1, 5.0), (2, math.nan)]}, {"unknown": [(1, 0.1), (2, 0.1)], **changing})
    texts, svg = drawn(course, tmp_path / "curve.svg")
    assert "loss per text" in texts
    assert "unknown" not in texts
    assert svg.count('id="axes_') == 4
    assert texts.count("step") == 2  # below each column


def test_what_falls_by_orders_of_magnitude_has_a_logarithmic_scale(tmp_path: Path) -> None:
    falls = {"perplexity": [(1, 5000.0), (2, 60.0)], "accuracy": [(1, 0.2), (2, 0.8)]}
    texts, _ = drawn(Course({}, falls), tmp_path / "curve.svg")
    assert [text for text in texts if "perpl" in text or "accur" in text] == ["perplexity (logarithmic)", "accuracy"]


def test_the_best_validation_is_the_first_that_has_the_best_value() -> None:
    recipe = check_recipe({"family": "gat", "data": {"graph": "planetoid:cora"}, "training": {"best_by": "loss"}})
    facts = Facts(best=0.8, losses=[(1, 3.0)], tallies=[(1, {"accuracy": 0.5})], rates=[(1, 0.1)])
    facts.validations = [(1, {"loss": 0.9, "accuracy": 0.1}), (2, {"loss": 0.8}), (3, {"loss": 0.8})]
    course = course_of(facts, recipe)
    assert course.training == {"loss": [(1, 3.0)], "accuracy": [(1, 0.5)]}
    assert course.validation["accuracy"] == [(1, 0.1)]
    assert (course.best, course.rates) == (Best("loss", 2, 0.8), [(1, 0.1)])


def test_nothing_to_draw_and_other_suffixes_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no point to draw"):
        draw_course(Course({"loss": [(1, math.nan)]}, {}), tmp_path / "curve.png", "x")
    with pytest.raises(Fault, match=r"curve\.pdf does not end in \.png or \.svg"):
        draw_course(Course({"loss": TRAINING}, {}), tmp_path / "curve.pdf", "x")
