"""Hops through a story: the text of the picture, page and lines, and mismatched inputs."""

from pathlib import Path

import numpy as np
import pytest

from regard.viewing.facts import Hops, draw_hops, facts_data, facts_lines, from_json, to_json

FACTS = ["Ana went to the garden.", "Rui went to the office."]
STORY = Hops(FACTS, "Where is Ana?", "garden", ["hop 1", "hop 2"], np.array([[0.25, 0.75], [1.0, 0.0]]), ["It rained."])


def test_a_terminal_has_a_line_for_each_fact_and_a_column_for_each_hop() -> None:
    assert [line.replace("\u202f", " ") for line in facts_lines(STORY, 60, colour=False)] == [
        "                           hop 1   hop 2",
        "(1 earlier fact is forgotten)",
        "Ana went to the garden.   ░ 25 % █ 100 %",
        "Rui went to the office.   █ 75 %   · 0 %",
        "Where is Ana? garden",
    ]


def test_what_a_hop_looks_at_most_stands_out_in_colour() -> None:
    first, second = (line.replace("\u202f", " ") for line in facts_lines(STORY, 60, colour=True)[2:4])
    assert "\x1b[1;36m █ 100 %\x1b[0m" in first
    assert "\x1b[1;36m  █ 75 %\x1b[0m" in second


def test_a_page_has_weights_in_ten_thousandths() -> None:
    data = facts_data(STORY)
    assert data["hops"] == [[2500, 7500], [10000, 0]]
    assert (data["facts"], data["forgotten"]) == (FACTS, ["It rained."])


def test_a_drawing_names_each_weight(tmp_path: Path) -> None:
    draw_hops(STORY, tmp_path / "hops.svg")
    text = (tmp_path / "hops.svg").read_text(encoding="utf-8")
    assert all(f'id="hop-{hop}-{fact}"' in text for hop in (1, 2) for fact in (1, 2))
    assert "Where is Ana? garden" in text
    assert "1 earlier fact is forgotten" in text


def test_numbers_come_back() -> None:
    again = from_json(to_json(STORY))
    assert to_json(again) == to_json(STORY)


def test_weights_that_do_not_fit_are_no_hops() -> None:
    with pytest.raises(ValueError, match=r"weights \(2, 2\) do not fit 2 hops and 1 facts"):
        Hops(FACTS[:1], "", "", ["1", "2"], np.eye(2), [])
