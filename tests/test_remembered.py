"""Words of a source that an output has, by place, as benchmarks/remembered.py counts them."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
from remembered import rare_words, recall_by_part


def test_recall_on_paper() -> None:
    """Halves of a b c d: of a and b only b is there, of c and d both, wherever they are."""
    assert recall_by_part(["a b c d"], ["d c x b"], set("abcd"), parts=2) == [50, 100]


def test_words_that_are_common_or_said_twice_do_not_count() -> None:
    assert recall_by_part(["a b a c"], ["c"], set("ac"), parts=2) == [pytest.approx(float("nan"), nan_ok=True), 100]


def test_a_word_of_many_sources_can_be_guessed() -> None:
    assert rare_words(["a dog .", *["a cat ."] * 99]) == {"dog"}
