"""RIBES: word partners and orders found by hand."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.metrics.ribes import partners, ribes

sentences = st.lists(st.sampled_from(["a", "b", "não", "ещё", "x"]), min_size=1, max_size=7).map(" ".join)


def value(hypothesis: str, *references: str, alpha: float = 0.25, beta: float = 0.1) -> float:
    return ribes(alpha, beta)([hypothesis], [[text] for text in references])[0]


@pytest.mark.parametrize(
    ("written", "wanted", "places"),
    [
        ("c a b", "a b c", [2, 0, 1]),
        ("a x", "a b", [0]),
        ("a b a c", "a c a b", [2, 3, 0, 1]),  # the word after an a identifies it
        ("b a c a", "c a b a", [2, 3, 0, 1]),  # the word before it does
        ("x a b a c", "a b a c", [0, 1, 2, 3]),
        ("a a", "a", []),  # the two cannot be told apart
        ("p a q", "a a", []),
        ("r p a q a", "p a q a", [0, 1, 2, 3]),
    ],
)
def test_partners_are_found_by_context(written: str, wanted: str, places: list[int]) -> None:
    assert partners(written.split(), wanted.split()) == places


@pytest.mark.parametrize(
    ("hypothesis", "expected"),
    [
        ("a b c d", 1),
        ("d c b a", 0),
        ("b a c d", 5 / 6),  # one of six pairs is inverted
        ("a b c x", 1 * (3 / 4) ** 0.25),
        ("a b c", math.exp(1 - 4 / 3) ** 0.1),
        ("a b c d x y z x", (4 / 8) ** 0.25),
        ("a", 0),  # one word has no order
        ("", 0),
    ],
)
def test_sentences_score_as_on_paper(hypothesis: str, expected: float) -> None:
    assert value(hypothesis, "a b c d") == pytest.approx(expected)


def test_a_reference_of_one_word_needs_no_order() -> None:
    assert value("a", "a") == 1
    assert value("a x", "a") == pytest.approx((1 / 2) ** 0.25)


def test_the_exponents_say_how_much_precision_and_brevity_count() -> None:
    assert value("a b x", "a b c", alpha=1) == pytest.approx(2 / 3)
    assert value("a b", "a b c", beta=1) == pytest.approx(math.exp(-1 / 2))
    assert value("a b x", "a b c d", alpha=0, beta=0) == 1


def test_the_value_is_the_mean_of_the_best() -> None:
    mean, signature = ribes()(["a b", "a b", ""], [["b a", "b a", "c"], ["a b", None, None]])
    assert mean == pytest.approx(1 / 3)
    assert signature.startswith("nrefs:var|")


def test_case_counts_and_the_form_of_unicode_does_not() -> None:
    assert value("A b", "a b") == 0
    assert value("na\u0303o, é", "n\u00e3o, é") == 1


@given(sentences, sentences)
def test_it_stays_between_nothing_and_one(written: str, wanted: str) -> None:
    assert 0 <= value(written, wanted) <= 1


def test_signatures_say_how_it_was_made() -> None:
    how = "nrefs:1|case:mixed|norm:NFC|tok:13a|ref:best|mean:text|alpha:0.25|beta:0.1|range:0-1"
    assert ribes()(["a"], [["a"]])[1] == how
    assert ribes(alpha=1)(["a"], [["a"]])[1] == how.replace("0.25", "1")


def test_an_output_that_repeats_itself_takes_no_longer() -> None:
    """A degenerate model may repeat one word, and its occurrences cannot be told apart."""
    assert value("a " * 2000, "a cat sat on a mat") == 0
