"""LEPOR: its three factors counted by hand."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.metrics.lepor import lepor, lepor_part, partners

sentences = st.lists(st.sampled_from(["a", "b", "não", "ещё", "x"]), min_size=1, max_size=7).map(" ".join)


def value(hypothesis: str, *references: str, alpha: float = 1, beta: float = 1) -> float:
    return lepor(alpha, beta)([hypothesis], [[text] for text in references])[0]


@pytest.mark.parametrize(
    ("written", "wanted", "pairs"),
    [
        ("b a", "a b", [(0, 1), (1, 0)]),
        ("a a", "a", [(1, 0)]),  # the end of one is nearest to the end of the other
        ("x a b", "a c c a b", [(1, 3), (2, 4)]),  # the a that b follows
        ("a x b", "a c c a c b", [(0, 3), (2, 5)]),  # the same, two words apart
        ("a y x", "a c a", [(0, 0)]),  # no context, so the nearest
        ("x", "y", []),
    ],
)
def test_partners_have_neighbours_in_common_or_are_near(
    written: str, wanted: str, pairs: list[tuple[int, int]]
) -> None:
    assert partners(written.split(), wanted.split()) == pairs


@pytest.mark.parametrize(
    ("hypothesis", "reference", "expected"),
    [
        ("a b c d", "a b c d", 1),
        ("a x", "a b", 1 / 2),  # P and R are a half, places match, lengths are equal
        ("b a", "a b", math.exp(-(1 / 2 + 1 / 2) / 2)),
        ("a", "a b", math.exp(1 - 2) * math.exp(-1 / 2) * 2 / (2 + 1)),
        ("a b", "a", math.exp(1 - 2) * math.exp(-(1 / 2) / 2) * 2 / (1 + 2)),
        ("x", "a", 0),
        ("", "a", 0),
        ("a", "", 0),
    ],
)
def test_sentences_score_as_on_paper(hypothesis: str, reference: str, expected: float) -> None:
    assert value(hypothesis, reference) == pytest.approx(expected)


def test_the_weights_favour_recall_or_precision() -> None:
    """Both output words are right, half of the four reference words: P = 1 and R = 1/2."""
    length, places = math.exp(1 - 4 / 2), math.exp(-(1 / 4 + 1 / 2) / 2)
    assert value("a b", "a b c d", alpha=9) == pytest.approx(length * places * 10 / (9 / (1 / 2) + 1))
    assert value("a b", "a b c d", beta=9) == pytest.approx(length * places * 10 / (1 / (1 / 2) + 9))


def test_the_value_is_the_mean_of_the_best() -> None:
    mean, signature = lepor()(["a b", "x", ""], [["c d", "y", "z"], ["a b", None, None]])
    assert mean == pytest.approx(1 / 3)
    assert signature.startswith("nrefs:var|")


@given(sentences, sentences)
def test_it_is_one_for_the_reference_itself_and_stays_between(written: str, wanted: str) -> None:
    assert value(wanted, wanted) == pytest.approx(1)
    assert 0 <= value(written, wanted) <= 1


def test_signatures_say_how_it_was_made() -> None:
    how = "nrefs:1|case:mixed|norm:NFC|tok:13a|ref:best|mean:text|alpha:1|beta:1|variant:LEPOR|range:0-1"
    assert lepor()(["a"], [["a"]])[1] == how
    assert lepor(alpha=9)(["a"], [["a"]])[1] == how.replace("alpha:1", "alpha:9")


def test_the_parts_multiply_to_lepor() -> None:
    """One word of two matches, at the end of the one in the reference: length e⁻¹, places e^(−¼), P = ½ and R = 1."""
    parts = {part: lepor_part(part)(["a b"], [["a"]])[0] for part in ("length", "places", "harmonic")}
    assert parts == pytest.approx({"length": math.exp(-1), "places": math.exp(-1 / 4), "harmonic": 2 / 3})
    assert math.prod(parts.values()) == pytest.approx(value("a b", "a"))


def test_the_parts_are_those_of_the_reference_that_gives_the_best_lepor() -> None:
    """The first reference has the better length but one word in common; the second has more words in common."""
    references = [["a x y"], ["a b c d"]]
    assert value("a b c", "a b c d") > value("a b c", "a x y")
    assert lepor_part("length")(["a b c"], references)[0] == pytest.approx(math.exp(1 - 4 / 3))
    assert lepor_part("harmonic")(["x"], [["a"]])[0] == 0
