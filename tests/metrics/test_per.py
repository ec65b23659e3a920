"""Position-independent error rate: counted by hand, and never above the word error rate."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.base.faults import Fault
from regard.metrics.errors import position_independent_error_rate, word_error_rate

sentences = st.lists(st.sampled_from(["a", "b", "não", "ещё"]), max_size=6).map(" ".join)


def rate(hypothesis: str, *references: str) -> float:
    return position_independent_error_rate([hypothesis], [[text] for text in references])[0]


@pytest.mark.parametrize(
    ("hypothesis", "reference", "expected"),
    [
        ("b a", "a b", 0),
        ("a c", "a b", 50),  # one replaced
        ("a", "a b", 50),  # one missing
        ("b a c", "a b", 50),  # one too many
        ("a a", "a b", 50),  # a word is shared as often as in the text that has fewer
        ("", "a b", 100),
        ("x y z", "a", 300),
        ("A b", "a b", 50),
        ("na\u0303o", "n\u00e3o", 0),
    ],
)
def test_words_count_wherever_they_stand(hypothesis: str, reference: str, expected: float) -> None:
    assert rate(hypothesis, reference) == expected


def test_the_nearest_reference_counts() -> None:
    assert rate("a b", "x y z", "b a c") == pytest.approx(100 / 3)


@given(sentences, sentences.filter(bool))
def test_ignoring_order_never_adds_errors(hypothesis: str, reference: str) -> None:
    assert rate(hypothesis, reference) <= word_error_rate([hypothesis], [[reference]])[0]


def test_the_signature_says_that_order_is_free() -> None:
    _, signature = position_independent_error_rate(["a"], [["a"]])
    assert signature == "nrefs:1|case:mixed|norm:NFC|ref:nearest|unit:word|order:free"


def test_empty_references_are_refused() -> None:
    with pytest.raises(Fault, match="All references are empty, so there is no error rate"):
        rate("a", "")
