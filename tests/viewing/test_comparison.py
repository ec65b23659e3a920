"""Pictures of a comparison: their texts and refusals."""

import math
import re
from pathlib import Path

import pytest

from regard.base.faults import Fault
from regard.viewing.comparison import draw_by_length, draw_comparison


def svg_texts(path: Path) -> list[str]:
    return re.findall(r"<text[^>]*>([^<]*)</text>", path.read_text(encoding="utf-8"))


def test_a_comparison_names_its_variants_and_measures_and_gives_the_means(tmp_path: Path) -> None:
    path = tmp_path / "comparison.svg"
    measures = {"bleu": [[30.0, 32.0], [35.5, 36.0]], "ter (lower is better)": [[50.0, 51.0], [40.0, 40.5]]}
    assert draw_comparison(["точка", "x$y$"], measures, path, "De inglês a português") == set()
    texts = svg_texts(path)
    assert {"точка", "x$y$", *measures, "De inglês a português", "31.00", "35.75", "50.50", "40.25"} <= set(texts)
    assert any("mean of a variant" in text for text in texts)


def test_one_run_has_no_mean_to_explain(tmp_path: Path) -> None:
    draw_comparison(["a", "b"], {"bleu": [[1.0], [math.nan]]}, tmp_path / "one.svg", "x")
    assert not any("mean" in text for text in svg_texts(tmp_path / "one.svg"))


def test_lengths_have_their_counts_and_variants_their_lines(tmp_path: Path) -> None:
    path = tmp_path / "by-length.svg"
    measures = {
        "bleu": [[[30.0, 31.0], [20.0, 22.0]], [[32.0], [31.0]]],
        "chrf": [[[50.0, 51.0], [40.0, 42.0]], [[52.0], [51.0]]],
    }
    assert draw_by_length([("1–9", 120), ("10", 1500)], ["none", "attention"], measures, path, "Lengths") == set()
    texts = svg_texts(path)
    assert {"1–9", "n = 120", "10", "n = 1,500", "none", "attention", "bleu", "chrf", "Lengths"} <= set(texts)


def test_pngs_are_drawn_and_other_suffixes_refused(tmp_path: Path) -> None:
    draw_comparison(["a"], {"bleu": [[1.0]]}, tmp_path / "a.png", "x")
    draw_by_length([("1", 2)], ["a"], {"bleu": [[[1.0]]]}, tmp_path / "b.png", "x")
    for name in ("a.png", "b.png"):
        assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")
    with pytest.raises(Fault, match=r"a\.pdf does not end in \.png or \.svg"):
        draw_comparison(["a"], {"bleu": [[1.0]]}, tmp_path / "a.pdf", "x")
    with pytest.raises(Fault, match=r"b\.pdf does not end in \.png or \.svg"):
        draw_by_length([("1", 2)], ["a"], {"bleu": [[[1.0]]]}, tmp_path / "b.pdf", "x")
