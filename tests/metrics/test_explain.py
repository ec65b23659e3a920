"""BLEU explained: the paper's example by hand, sacreBLEU's exact digits, and the effect of the options."""

import math

import pytest
import sacrebleu
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.base.faults import Fault
from regard.data.demo.corpus import pairs
from regard.metrics.explain import Match, explain_corpus, explain_sentence, matches, parse_weights

REFERENCES = [target for _, target in pairs("valid", count=80)]
WRITTEN = [" ".join(text.split()[: 2 + place % 9]) for place, text in enumerate(REFERENCES)]
THE, MATS = "the the the the the the the", ["the cat is on the mat", "there is a cat on the mat"]
WORDS = st.lists(st.sampled_from(["a", "b", "c", "d."]), max_size=8).map(" ".join)


def test_the_example_of_the_paper() -> None:
    """Papineni et al. 2002, section 2.1.1: a clipped unigram precision of 2/7."""
    explanation = explain_sentence(THE, MATS)
    assert (explanation.orders[0].matches, explanation.orders[0].total) == (2, 7)
    assert explanation.orders[0].precision == pytest.approx(100 * 2 / 7)
    assert matches(THE, MATS, 1) == [Match(("the",), 7, 2)]
    assert matches(THE, MATS, 1)[0].clipped == 2


def test_a_sentence_on_paper() -> None:
    """Three of four words and two of three word pairs match; the output is one word short of five."""
    explanation = explain_sentence("a b c x", ["a b c d e"], orders=2)
    assert [(order.matches, order.total) for order in explanation.orders] == [(3, 4), (2, 3)]
    assert explanation.brevity_penalty == pytest.approx(math.exp(1 - 5 / 4))
    assert explanation.value == pytest.approx(100 * math.exp(1 - 5 / 4) * math.sqrt(3 / 4 * 2 / 3))
    assert (explanation.hypothesis_length, explanation.reference_length, explanation.n) == (4, 5, 1)
    assert explanation.orders[0].logarithm == pytest.approx(math.log(3 / 4))


def test_weights_on_paper() -> None:
    """All the weight on single words leaves the penalty times their precision. Weights are relative."""
    alone = explain_sentence("a b c x", ["a b c d e"], orders=2, weights=[1, 0])
    assert alone.value == pytest.approx(math.exp(1 - 5 / 4) * 75)
    tilted = explain_sentence("a b c x", ["a b c d"], orders=2, weights=[3, 1])
    assert tilted.value == pytest.approx(100 * (3 / 4) ** 0.75 * (2 / 3) ** 0.25)
    assert [order.weight for order in tilted.orders] == [0.75, 0.25]
    assert tilted.signature.endswith("|orders:2|weights:3,1")


def test_an_order_without_a_match_is_smoothed() -> None:
    """The first such order counts half a match, the next a quarter."""
    explanation = explain_sentence("a x b y", ["a b c d"])
    assert [order.precision for order in explanation.orders] == pytest.approx([50, 50 / 3, 25 / 2, 12.5])
    assert [order.smoothed for order in explanation.orders] == [False, True, True, True]
    nothing = explain_sentence("x", ["a b c d"])
    assert (nothing.value, nothing.orders[0].smoothed, nothing.orders[0].logarithm) == (0, False, -math.inf)


@pytest.mark.parametrize("references", [1, 2])
def test_a_corpus_is_that_of_sacrebleu_to_the_last_digit(references: int) -> None:
    lists = [REFERENCES, REFERENCES[1:] + REFERENCES[:1]][:references]
    explanation, theirs = explain_corpus(WRITTEN, lists), sacrebleu.corpus_bleu(WRITTEN, lists)
    assert explanation.value == theirs.score == explain_corpus(WRITTEN, lists, weights=[0.25] * 4).value
    assert [order.precision for order in explanation.orders] == theirs.precisions
    assert [(order.matches, order.total) for order in explanation.orders] == list(
        zip(theirs.counts, theirs.totals, strict=True)
    )
    assert (explanation.brevity_penalty, explanation.hypothesis_length, explanation.reference_length) == (
        theirs.bp, theirs.sys_len, theirs.ref_len,
    )  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(WORDS, st.lists(WORDS, min_size=1, max_size=3), st.integers(1, 5))
def test_any_sentence_is_that_of_sacrebleu_to_the_last_digit(written: str, references: list[str], orders: int) -> None:
    theirs = sacrebleu.BLEU(effective_order=True, max_ngram_order=orders).sentence_score(written, references)
    explanation = explain_sentence(written, references, orders)
    assert explanation.value == theirs.score
    for order in explanation.orders:
        ngrams = matches(written, references, order.order)
        assert sum(ngram.clipped for ngram in ngrams) == order.matches
        assert sum(ngram.count for ngram in ngrams) == order.total


def test_a_short_sentence_has_only_the_orders_it_has_ngrams_of() -> None:
    assert len(explain_sentence("a b", ["a b c d"]).orders) == 2
    assert len(explain_sentence("", ["a b c d"]).orders) == 1
    assert explain_sentence("", ["a b c d"]).value == 0
    assert explain_sentence("a b", ["a b"], weights=[0, 0, 1, 1]).value == 0
    assert len(explain_corpus(["a b"], [["a b c d"]]).orders) == 4


@pytest.mark.parametrize(
    ("orders", "weights", "words"),
    [
        (0, None, "n-grams of at least one order, not 0"),
        (4, [1, 1], "There are 2 weights for 4 orders"),
        (2, [0.7], "There is 1 weight for 2 orders"),
        (2, [1, -1], "The weights 1, -1 are not valid"),
        (2, [0, 0], "one must be more than 0"),
        (2, [math.nan, 1], "each must be 0 or more"),
    ],
)
def test_orders_and_weights_that_make_no_sense_are_refused(
    orders: int, weights: list[float] | None, words: str
) -> None:
    with pytest.raises(Fault, match=words):
        explain_corpus(["a"], [["a"]], orders, weights)


def test_weights_are_typed_with_commas() -> None:
    assert parse_weights(".4,.3, .2,0.1") == [0.4, 0.3, 0.2, 0.1]
    with pytest.raises(Fault, match="is not a list of weights; write numbers with commas"):
        parse_weights(".4;.6")
