"""Repetition in a text, as benchmarks/continuations.py counts it."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
from continuations import invented_share, repeated_share, words_of


def test_shares_on_paper() -> None:
    """In ab ba ab ba ab two pairs are new; in aba bab aba bab two triples are."""
    assert repeated_share(list("ababab"), 2) == pytest.approx(3 / 5)
    assert repeated_share(list("ababab"), 3) == pytest.approx(2 / 4)
    assert repeated_share(list("abcdef"), 2) == 0
    assert repeated_share(["a"], 2) == 0


def test_who_writes_empty_lines_alone_repeats_himself() -> None:
    assert words_of("I am,\nmy lord") == ["I", "am,", "\n", "my", "lord"]
    assert repeated_share(words_of("\n" * 11), 2) == pytest.approx(0.9)


def test_an_invented_word_is_one_that_is_not_known() -> None:
    """One of I, am and mokz is unknown; the last word is cut off and does not count."""
    assert invented_share("I am; Mokz 'the", {"i", "am"}) == pytest.approx(1 / 3)
    assert invented_share("", set()) == 0
