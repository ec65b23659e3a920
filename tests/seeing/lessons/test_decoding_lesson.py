"""Five ways of decoding on a distribution that can be worked out by hand."""

from math import log

import pytest
import torch

from regard.seeing.lessons.decoding import Example, Ways, example_decoding, kept_by
from regard.viewing.decoding import decoding_tables

PROBABILITIES = [0.4, 0.3, 0.15, 0.1, 0.05]


def test_what_each_way_keeps_by_hand() -> None:
    decoding = example_decoding(Ways())
    assert list(decoding.tokens) == ["sun", "moon", "lamp", "star", "cat"]
    assert decoding.probabilities == pytest.approx(PROBABILITIES)
    squares = [p * p / 0.285 for p in PROBABILITIES]
    expected = {
        "greedy": [1, 0, 0, 0, 0],
        "beam 3": [0.4, 0.3, 0.15, 0, 0],
        "temperature 0.5": squares,
        "top-k 2": [4 / 7, 3 / 7, 0, 0, 0],
        "top-p 0.9": [0.4 / 0.95, 0.3 / 0.95, 0.15 / 0.95, 0.1 / 0.95, 0],
    }
    assert {way.name: pytest.approx(way.kept) for way in decoding.ways} == expected
    assert [way.count for way in decoding.ways] == [1, 3, 5, 2, 4]


def test_a_beam_finds_what_greedy_search_misses() -> None:
    greedy, beam, *samples = example_decoding(Ways()).ways
    assert (greedy.text, greedy.log_probability) == ("outside shines the sun brightly", pytest.approx(log(0.4 * 0.4)))
    assert (beam.text, beam.log_probability) == ("outside shines the moon brightly", pytest.approx(log(0.3 * 0.9)))
    assert all(way.text.startswith("outside shines the ") for way in samples)


@pytest.mark.long
def test_samples_follow_the_distribution_that_is_kept() -> None:
    """Of 400 samples with top-k 2, four sevenths begin with the likeliest word; no other word than two comes first."""
    example, firsts = Example(), []
    for seed in range(400):
        text, _ = example.write({"sample": {"top_k": 2, "seed": seed}})
        firsts.append(text.split()[3])
    assert set(firsts) == {"sun", "moon"}
    assert firsts.count("sun") / 400 == pytest.approx(4 / 7, abs=0.08)


def test_ties_and_the_whole_are_kept() -> None:
    even = torch.full((4,), 0.25, dtype=torch.float64).log()
    assert kept_by({"beam": 1}, even).tolist() == [1, 0, 0, 0]
    assert kept_by({"sample": {"top_p": 1.0}}, even).tolist() == pytest.approx([0.25] * 4)


def test_the_tables() -> None:
    decoding = example_decoding(Ways(beam=2))
    tables = decoding_tables(decoding)
    assert tables[0].columns == ["token", "model", "greedy", "beam 2", "temperature 0.5", "top-k 2", "top-p 0.9"]
    assert tables[0].rows[4] == ["cat", "5.0\u202f%", "cut", "cut", "0.9\u202f%", "cut", "cut"]
    assert tables[1].rows[1][0] == "beam 2"
