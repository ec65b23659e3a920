"""NIST: bits counted by hand, and the brevity factor."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.metrics.nist import nist

sentences = st.lists(st.sampled_from(["a", "b", "não", "ещё"]), min_size=1, max_size=7).map(" ".join)
REFERENCE = "a b a c"  # a carries 1 bit, b and c carry 2; after a, b and c carry 1 more; after b, a carries none


def value(hypothesis: str, *references: str) -> float:
    return nist()([hypothesis], [[text] for text in references])[0]


@pytest.mark.parametrize(
    ("hypothesis", "told"),
    [
        ("a b c c", (1 + 2 + 2) / 4 + 1 / 3),  # c matches only once
        ("c b a x", (2 + 2 + 1) / 4 + 0 / 3),  # b a carries no more than b
        (REFERENCE, (1 + 2 + 1 + 2) / 4 + (1 + 0 + 1) / 3),  # a b a and longer carry no more
        ("x y z w", 0),
    ],
)
def test_matching_ngrams_tell_as_much_as_on_paper(hypothesis: str, told: float) -> None:
    assert value(hypothesis, REFERENCE) == pytest.approx(told)


def test_two_thirds_of_the_length_halve_the_score() -> None:
    """Four of six words are written, each worth log₂ 6 bits; longer n-grams carry none."""
    assert value("a b c d", "a b c d e f") == pytest.approx(math.log2(6) / 2)


def test_a_longer_output_has_more_ngrams_but_no_penalty() -> None:
    assert value("a b x y", "a b") == pytest.approx((1 + 1) / 4)


def test_sums_run_over_the_test_set() -> None:
    mean, _ = nist()(["a", "x y z"], [["a", "b c d"]])
    assert mean == pytest.approx(math.log2(4) / 4)


def test_an_ngram_matches_as_often_as_in_the_reference_that_has_it_most_often() -> None:
    """Five words in two references of mean length 2.5: a carries log₂ 5/3 bits and matches twice."""
    bits = 2 * math.log2(5 / 3) / 3 + math.log2(3 / 1) / 2
    assert value("a a x", "a b", "a a c") == pytest.approx(bits)


def test_sentences_may_have_fewer_references() -> None:
    assert nist()(["a", "b"], [["a", "b"], ["c", None]])[1].startswith("nrefs:var|")


def test_case_does_not_count_and_punctuation_does() -> None:
    assert value("A B A C", REFERENCE) == value(REFERENCE, REFERENCE)
    assert value("ÉCOLE fermée.", "école fermée!") == pytest.approx(2 * math.log2(3) / 3)


def test_nothing_written_or_wanted_gives_nothing() -> None:
    assert value("", "a") == value("a", "") == value("", "") == 0


@given(sentences, sentences)
def test_it_is_never_negative_and_a_word_too_many_never_helps(written: str, wanted: str) -> None:
    assert value(written, wanted) >= 0
    assert value(f"{wanted} x", wanted) <= value(wanted, wanted)


def test_the_signature() -> None:
    assert nist()(["a"], [["a"]])[1] == "nrefs:1|case:lc|norm:NFC|tok:13a|ref:all|order:5|range:0-inf"
