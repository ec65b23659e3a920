"""CIDEr: vectors of two and four words counted by hand, and the difference between variant D and the plain one."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.base.faults import Fault
from regard.metrics.cider import cider

sentences = st.lists(st.sampled_from(["a", "b", "não", "ещё"]), min_size=4, max_size=8).map(" ".join)
OTHER = "w x y z"  # a second sentence, which makes words rare


def first(hypothesis: str, *references: str, clipped: bool = True) -> float:
    """Return the first of two sentences' scores; the second scores zero."""
    return 2 * cider(clipped)([hypothesis, "q"], [[text, OTHER] for text in references])[0]


def test_the_reference_itself_gives_ten() -> None:
    assert cider()(["a b c d", OTHER], [["a b c d", OTHER]])[0] == pytest.approx(10)
    assert cider(clipped=False)(["a b c d", OTHER], [["a b c d", OTHER]])[0] == pytest.approx(1)


def test_orders_that_a_text_is_too_short_for_agree_in_nothing() -> None:
    assert first("a b", "a b") == pytest.approx(10 * 2 / 4)


def test_cosines_are_averaged_over_the_orders() -> None:
    """3 of 4 unigrams, 2 of 3 bigrams, 1 of 2 trigrams and no 4-gram agree; all are equally rare."""
    assert first("a b c e", "a b c d") == pytest.approx(10 * (3 / 4 + 2 / 3 + 1 / 2) / 4)


def test_what_every_sentence_has_weighs_nothing() -> None:
    assert cider()(["a", "a"], [["a", "a"]])[0] == 0
    both = cider()(["a b", "a c"], [["a b", "a c"]])[0]
    assert both == pytest.approx(10 * 2 / 4)  # a has weight zero, but b alone makes the unigrams agree


def test_a_rare_word_weighs_more_than_a_frequent_one() -> None:
    references = ["a r", "a s", "x t", "y u"]
    frequent, rare = (cider()([text, "q", "q", "q"], [references])[0] for text in ("a", "r"))
    weights = {"a": math.log(4 / 2), "r": math.log(4 / 1)}
    norm = math.hypot(*weights.values())
    shorter = math.exp(-1 / 72)
    assert frequent == pytest.approx(10 * shorter * weights["a"] / norm / 4 / 4)
    assert rare == pytest.approx(10 * shorter * weights["r"] / norm / 4 / 4)


def test_a_length_that_differs_costs_in_the_variant_d() -> None:
    longer = "a b c d " + " ".join("efghij")
    cosines = sum((5 - n) / math.sqrt((5 - n) * (11 - n)) for n in (1, 2, 3, 4)) / 4
    assert first(longer, "a b c d", clipped=False) == pytest.approx(cosines)
    assert first(longer, "a b c d") == pytest.approx(10 * cosines * math.exp(-1 / 2))


def test_repeating_a_word_gains_nothing_in_the_variant_d() -> None:
    """Three a's against a and b: the cosine is 3/(3·√2), clipped 1/(3·√2)."""
    assert first("a a a", "a b", clipped=False) == pytest.approx(1 / math.sqrt(2) / 4)
    assert first("a a a", "a b") == pytest.approx(10 * math.exp(-1 / 72) / (3 * math.sqrt(2)) / 4)


def test_references_are_averaged() -> None:
    alone = [first("a b c d", text) for text in ("a b c d", "n o p r")]
    assert alone == [pytest.approx(10), 0]
    assert first("a b c d", "a b c d", "n o p r") == pytest.approx(5)


def test_sentences_may_have_fewer_references() -> None:
    value, signature = cider()(["a b c d", OTHER], [["a b c d", OTHER], ["n o p r", None]])
    assert value == pytest.approx((5 + 10) / 2)
    assert signature.startswith("nrefs:var|")


@given(sentences, sentences)
def test_it_stays_between_nothing_and_ten(written: str, wanted: str) -> None:
    assert 0 <= first(written, wanted) <= 10 + 1e-9
    assert 0 <= first(written, wanted, clipped=False) <= 1 + 1e-9


def test_signatures_name_the_variant_and_its_range() -> None:
    signatures = [cider(clipped)(["a", "b"], [["a", "b"]])[1] for clipped in (True, False)]
    how = "nrefs:1|case:lc|norm:NFC|tok:words|stem:off|ref:mean|idf:references|mean:text|"
    assert signatures == [f"{how}variant:D|range:0-10", f"{how}variant:plain|range:0-1"]


def test_one_sentence_is_refused() -> None:
    with pytest.raises(Fault, match="by how few sentences have them; give it at least two sentences"):
        cider()(["a"], [["a"]])
