"""Probabilities computed by hand; with every kind of smoothing they sum to one."""

import math
from typing import Any

import numpy as np
import pytest
from counted import BEGIN, END, FIRST, PAD, UNKNOWN, counts_of, following, possible, tokens_of

from regard.base.faults import Fault
from regard.base.recipe import check
from regard.models.ngram import NgramOptions, Ngrams
from regard.models.ngram.counting import NgramCounts
from regard.models.ngram.discounts import absolute_discount, kneser_ney_discounts
from regard.models.ngram.kneser_ney import adjusted_counts
from regard.models.ngram.smoothing import estimate

LINES = ["a b", "b a c"]
A, B, C = FIRST, FIRST + 1, FIRST + 2
SETTINGS: list[dict[str, Any]] = [
    {"smoothing": "kneser-ney", "discount_fallback": True},
    {"smoothing": "back-off", "discount_fallback": True},
    {"smoothing": "add-k"},
    {"smoothing": "add-k", "k": 0.1},
]


def model_of(lines: list[str], order: int, **settings: Any) -> Ngrams:
    counts = counts_of(lines, order)
    return estimate(NgramOptions(order=order, **settings), counts, BEGIN, possible(counts.trie.size))


def after(model: Ngrams, *context: int) -> np.ndarray:
    """Return the probabilities of all tokens after a context."""
    return np.asarray(10 ** following(model, *context))


def test_adjusted_counts_are_the_words_before_but_for_what_begins_a_sentence() -> None:
    counts = counts_of([*LINES, "a b"], 2)
    words, pairs = adjusted_counts(counts, BEGIN)
    # </s> follows b and c, a follows <s> and b, b follows <s> and a, c follows a.
    assert {token: int(words[token]) for token in (BEGIN, END, A, B, C)} == {BEGIN: 0, END: 2, A: 2, B: 2, C: 1}
    assert pairs.tolist() == counts.counts[1].tolist()  # for the highest order, the number of occurrences
    three = counts_of([*LINES, "a b"], 3)
    spelled = [tuple(row) for row in three.trie.spell(2).tolist()]
    adjusted = dict(zip(spelled, adjusted_counts(three, BEGIN)[1].tolist(), strict=True))
    assert adjusted[BEGIN, A] == 2  # sentences
    assert adjusted[A, B] == 1  # only <s> precedes it, though it occurs twice


def test_kneser_ney_by_hand() -> None:
    """With D = ½, 1, 1½ the words have (2−1, 2−1, 2−1, 1−½) / 7, and the five possible ones share half of all."""
    model = model_of(LINES, 2, smoothing="kneser-ney", discount_fallback=True)
    words = after(model)
    expected = {UNKNOWN: 1 / 10, END: 1 / 7 + 1 / 10, A: 1 / 7 + 1 / 10, B: 1 / 7 + 1 / 10, C: 1 / 14 + 1 / 10}
    assert {token: pytest.approx(value, rel=1e-6) for token, value in expected.items()} == dict(
        zip(expected, words[list(expected)].tolist(), strict=True)
    )
    # </s> and a follow b once each: half of each is discounted and given to the unigrams.
    assert after(model, B)[A] == pytest.approx((1 - 0.5) / 2 + 0.5 * (1 / 7 + 1 / 10), rel=1e-6)
    assert after(model, B)[C] == pytest.approx(0.5 * (1 / 14 + 1 / 10), rel=1e-6)


def test_discounts_by_the_formula_of_chen_and_goodman() -> None:
    counts = np.array([1] * 8 + [2] * 3 + [3] * 2 + [4] + [9])
    share = 8 / (8 + 2 * 3)
    expected = (1 - 2 * share * 3 / 8, 2 - 3 * share * 2 / 3, 3 - 4 * share * 1 / 2)
    assert kneser_ney_discounts(counts, 1, fallback=False) == pytest.approx(expected)
    assert absolute_discount(counts, 1, fallback=False) == pytest.approx(share)


def test_add_k_by_hand() -> None:
    model = model_of(LINES, 2, smoothing="add-k", k=0.5)
    assert after(model, B)[A] == pytest.approx((1 + 0.5) / (2 + 0.5 * 5), rel=1e-6)
    assert after(model, B)[C] == pytest.approx(0.5 / (2 + 0.5 * 5), rel=1e-6)
    assert after(model, UNKNOWN)[C] == pytest.approx(1 / 5, rel=1e-6)


def test_add_k_counts_what_begins_a_sentence_in_the_shorter_context_it_has() -> None:
    model = model_of(LINES, 3, smoothing="add-k")
    assert after(model, BEGIN)[A] == pytest.approx((1 + 1) / (2 + 5), rel=1e-6)
    assert after(model, BEGIN)[C] == pytest.approx(1 / (2 + 5), rel=1e-6)


def test_back_off_by_hand() -> None:
    """Words occur 2, 2, 2 and 1 times of 7, each discounted by 1/(1 + 2·3); pairs occur once, discounted by ½."""
    model = model_of(LINES, 2, smoothing="back-off", discount_fallback=True)
    single = {token: (count - 1 / 7) / 7 + 1 / 7 * 4 / 7 / 5 for token, count in ((END, 2), (A, 2), (B, 2), (C, 1))}
    assert after(model)[A] == pytest.approx(single[A], rel=1e-6)
    assert after(model, B)[A] == pytest.approx((1 - 0.5) / 2, rel=1e-6)
    given_back = 0.5 * 2 / 2 / (1 - single[A] - single[END])
    assert after(model, B)[C] == pytest.approx(given_back * single[C], rel=1e-6)


def test_back_off_discounts_no_single_words_where_all_were_seen() -> None:
    """Rare words count as unknown, so no word occurs once; ends occur 3 times of 13, a and unknown words 4, b 2."""
    lines = ["a b x a", "y a b", "a x y"]
    counts = counts_of(lines, 2, ["a", "b"])
    model = estimate(NgramOptions(order=2, smoothing="back-off"), counts, BEGIN, possible(counts.trie.size))
    assert after(model)[[END, FIRST, UNKNOWN, FIRST + 1]] == pytest.approx(np.array([3, 4, 4, 2]) / 13, rel=1e-6)
    for context in ([BEGIN], [FIRST], [FIRST + 1], [UNKNOWN]):
        assert after(model, *context).sum() == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("settings", SETTINGS, ids=lambda options: f"{options['smoothing']} {options.get('k', '')}")
@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_probabilities_add_up_to_one_after_every_context(settings: dict[str, Any], order: int) -> None:
    lines = ["a b a c", "a b", "c c a b", "a", "b b b b a", "d a b"]
    model = model_of(lines, order, **settings)
    for context in ([], [BEGIN], [BEGIN, A], [A], [A, B], [BEGIN, A, B], [C, UNKNOWN, A], [B, B, B], [UNKNOWN]):
        probabilities = after(model, *context)
        assert probabilities.sum() == pytest.approx(1, abs=1e-6)
        assert probabilities[PAD] == probabilities[BEGIN] == 0
        assert (probabilities[possible(len(probabilities))] > 0).all()


@pytest.mark.parametrize("settings", SETTINGS[:2], ids=lambda options: options["smoothing"])
def test_a_text_in_which_everything_follows_everything_still_adds_up(settings: dict[str, Any]) -> None:
    """Every token, including unknown ones and ends, occurs after b."""
    counts = counts_of(["b b x b", "b b"], 2, ["b"])
    model = estimate(NgramOptions(order=2, **settings), counts, BEGIN, possible(counts.trie.size))
    assert after(model, FIRST).sum() == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("settings", SETTINGS, ids=lambda options: f"{options['smoothing']} {options.get('k', '')}")
def test_a_text_is_scored_as_its_words_are_predicted_one_by_one(settings: dict[str, Any]) -> None:
    lines = ["a b a c", "a b", "c c a b", "a", "b b b b a"]
    model = model_of(lines, 3, **settings)
    text = tokens_of(["c a b a", "", "b x a c", "a b"], ["a", "b", "c"])
    scores, starts = model.score(text, text == BEGIN), np.flatnonzero(text == BEGIN)
    for place in np.flatnonzero(text != BEGIN):
        context = text[starts[starts <= place].max() : place]
        assert scores[place] == pytest.approx(following(model, *context[-2:])[text[place]], abs=1e-5)


@pytest.mark.parametrize("prune", [[0, 1], [0, 0, 1], [0, 1, 2, 3], [0, 9]])
def test_what_is_pruned_leaves_its_probability_to_the_others(prune: list[int]) -> None:
    lines = ["a b a c", "a b", "c c a b", "a", "b b b b a", "d a b", "a b a c"]
    whole, pruned = (model_of(lines, 4, discount_fallback=True, prune=cutoffs) for cutoffs in ([], prune))
    counts = counts_of(lines, 4)
    for order, threshold in enumerate(NgramOptions(order=4, prune=prune).thresholds[1:], 2):
        assert pruned.trie.rows(order) == np.count_nonzero(counts.counts[order - 1] > threshold)
    assert pruned.trie.rows(4) < whole.trie.rows(4)
    for context in ([], [BEGIN], [BEGIN, A], [A, B], [B, A, B], [UNKNOWN]):
        assert after(pruned, *context).sum() == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("smoothing", ["kneser-ney", "back-off"])
def test_discounts_that_cannot_be_estimated_are_refused_with_what_to_do(smoothing: str) -> None:
    with pytest.raises(Fault, match=r"No discounts can be estimated for the 1-grams.*discount_fallback"):
        model_of(["a a", "a a"], 2, smoothing=smoothing)
    assert after(model_of(["a a", "a a"], 2, smoothing=smoothing, discount_fallback=True)).sum() == pytest.approx(1)


def test_discounts_out_of_their_range_are_refused() -> None:
    with pytest.raises(Fault, match="since they would not be positive"):
        kneser_ney_discounts(np.array([1] * 10 + [2] + [3] * 5 + [4]), 2, fallback=False)


def test_an_imported_model_is_not_counted() -> None:
    counts: NgramCounts = counts_of(LINES, 2)
    with pytest.raises(Fault, match="belongs to imported models"):
        estimate(NgramOptions(order=2, smoothing="imported"), counts, BEGIN, possible(counts.trie.size))


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"order": 0}, "order is 0, expected 1 or more"),
        ({"order": 21}, "order is 21, expected 20 or less"),
        ({"k": 0.5}, "k is for smoothing = 'add-k'"),
        ({"k": 0.0, "smoothing": "add-k"}, "k is 0.0, expected more than 0"),
        ({"smoothing": "add-k", "discount_fallback": True}, "discount_fallback is for smoothing with discounts"),
        ({"prune": [0, 2, 1]}, "0, 2, 1], but its numbers may not fall"),
        ({"prune": [1, 1]}, "prune must begin with 0; use data.tokeniser.at_least to leave out rare words"),
        ({"prune": [0, -1]}, "expected numbers of 0 or more"),
        ({"order": 2, "prune": [0, 0, 1]}, "prune has 3 numbers, but the longest n-grams have 2 words"),
        ({"smoothing": "add-k", "prune": [0, 1]}, "prune is for smoothing = 'kneser-ney'"),
    ],
)
def test_options_that_make_no_sense_are_refused(table: dict[str, Any], words: str) -> None:
    with pytest.raises(Fault, match=words.replace(".", r"\.")):
        check(NgramOptions, table, "model")


def test_impossible_tokens_have_no_probability_in_logarithms_either() -> None:
    model = model_of(LINES, 2, smoothing="add-k")
    assert model.log_probabilities[0][PAD] == model.log_probabilities[0][BEGIN] == -math.inf
