"""Significance of differences: answers by hand, laws, and sacreBLEU's own test."""

import math
import random

import numpy as np
import pytest
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.significance import PairedTest

from regard.data.demo.corpus import pairs
from regard.metrics import METRICS, score, significance
from regard.metrics.significance import Sums, difference, interval, likelihood_sums, summing
from regard.metrics.text import OF_TREES

REFERENCES = [target for _, target in pairs("valid", count=120)]


def spoilt(texts: list[str], share: float, seed: int) -> list[str]:
    """Return the texts with some words removed."""
    chance = random.Random(seed)
    return [" ".join(word for word in text.split() if chance.random() >= share) or text for text in texts]


GOOD, WORSE = spoilt(REFERENCES, 0.08, 1), spoilt(REFERENCES, 0.14, 2)


def matches(right: str) -> Sums:
    """Return a system that is right where there is a +."""
    return summing("exact")(["yes" if sign == "+" else "no" for sign in right], [["yes"] * len(right)])


@pytest.mark.parametrize("metric", [name for name in METRICS if name not in OF_TREES])
def test_the_sums_of_all_sentences_finish_into_the_score(metric: str) -> None:
    sums = summing(metric)(WORSE, [REFERENCES])
    assert len(sums.rows) == len(REFERENCES)
    assert sums.value() == pytest.approx(score(WORSE, [REFERENCES], metric).value)
    if metric in ("nist", "cider"):  # they weight words by rarity in the whole test set
        return
    some = np.arange(10, 50)
    assert sums.value(some) == pytest.approx(score(WORSE[10:50], [REFERENCES[10:50]], metric).value)


@pytest.mark.parametrize("metric", ["bleu", "wer", "exact"])
def test_sentences_may_have_different_numbers_of_references(metric: str) -> None:
    written, references = ["a b c d e", "f g h i j"], [["a b c x e", "f g h i j"], ["a b c d e", None]]
    assert summing(metric)(written, references).value() == pytest.approx(score(written, references, metric).value)


def test_perplexity_is_two_when_every_token_costs_one_bit() -> None:
    sums = likelihood_sums([3 * math.log(2), 5 * math.log(2)], [3, 5])
    assert sums.value() == pytest.approx(2)
    assert likelihood_sums([1e6], [1]).value() == math.exp(100)


def test_a_single_sentence_says_nothing_about_others() -> None:
    assert all(map(math.isnan, interval(matches("+"))))
    result = difference([matches("-")], [matches("+")])
    assert result.value == 100
    assert all(map(math.isnan, (result.low, result.high, result.bootstrap, result.randomisation)))


def test_randomisation_on_paper() -> None:
    """Five sentences decide. All five must fall on one side for so large a difference: 2 of 32 ways."""
    result = difference([matches("+++++-----")], [matches("++++++++++")])
    assert result.value == 50
    assert result.randomisation == pytest.approx(2 / 32, abs=0.01)


def test_bootstrap_on_paper() -> None:
    """Two of four sentences differ: the difference is 0 or 100, as far off as 50, in 2 of 16 resamples."""
    result = difference([matches("++--")], [matches("++++")], resamples=4000)
    assert result.bootstrap == pytest.approx(2 / 16, abs=0.02)
    assert (result.low, result.high) == (0, 100)


def test_a_system_differs_from_itself_by_nothing() -> None:
    sums = summing("bleu")(WORSE, [REFERENCES])
    result = difference([sums], [sums], trials=200)
    assert (result.value, result.low, result.high, result.bootstrap, result.randomisation) == (0, 0, 0, 1, 1)


def test_the_other_way_round_is_the_other_sign() -> None:
    good, worse = summing("chrf")(GOOD, [REFERENCES]), summing("chrf")(WORSE, [REFERENCES])
    there, back = difference([worse], [good], trials=500), difference([good], [worse], trials=500)
    assert there.value == -back.value > 0
    assert (there.low, there.high) == pytest.approx((-back.high, -back.low))
    assert (there.bootstrap, there.randomisation) == (back.bootstrap, back.randomisation)
    assert there.low <= there.value <= there.high


def test_clear_differences_are_significant_and_small_ones_are_not() -> None:
    reference = summing("bleu")(REFERENCES, [REFERENCES])
    clear = difference([summing("bleu")(WORSE, [REFERENCES])], [reference], trials=500)
    assert clear.bootstrap < 0.01
    assert clear.randomisation < 0.01
    nearly = [GOOD[0] + " x", *GOOD[1:]]
    small = difference([summing("bleu")(GOOD, [REFERENCES])], [summing("bleu")(nearly, [REFERENCES])], trials=500)
    assert small.bootstrap > 0.2
    assert small.randomisation > 0.2


@pytest.mark.parametrize(("name", "metric"), [("bleu", BLEU()), ("chrf", CHRF())])
def test_randomisation_is_that_of_sacrebleu(name: str, metric: BLEU | CHRF) -> None:
    theirs = PairedTest([("a", WORSE), ("b", GOOD)], {"it": metric}, [REFERENCES], test_type="ar", n_samples=1000)
    _, results = theirs()
    [expected] = [result[1].p_value for key, result in results.items() if key != "System"]
    first, other = summing(name)(WORSE, [REFERENCES]), summing(name)(GOOD, [REFERENCES])
    assert difference([first], [other], trials=1000).randomisation == expected


def test_the_same_run_twice_makes_nothing_surer() -> None:
    """Outputs of several seeds for one sentence are not more sentences."""
    good, worse = summing("bleu")(GOOD, [REFERENCES]), summing("bleu")(WORSE, [REFERENCES])
    once, twice = difference([worse], [good], trials=300), difference([worse] * 2, [good] * 2, trials=300)
    assert (twice.bootstrap, twice.randomisation) == (once.bootstrap, once.randomisation)
    assert (twice.value, twice.low, twice.high) == pytest.approx((once.value, once.low, once.high))


def test_a_system_is_the_mean_of_its_runs() -> None:
    one, two, other = matches("++--"), matches("+---"), matches("++++")
    assert difference([one, two], [other, other], trials=10).value == pytest.approx(100 - (50 + 25) / 2)


def test_it_can_be_repeated_and_its_counts_and_seed_matter() -> None:
    first, other = [summing("exact")(WORSE, [REFERENCES])], [summing("exact")(GOOD, [REFERENCES])]
    result = difference(first, other, resamples=200, trials=1500)
    assert result == difference(first, other, resamples=200, trials=1500)
    assert result.randomisation * 1501 == pytest.approx(round(result.randomisation * 1501))
    assert result.bootstrap * 201 == pytest.approx(round(result.bootstrap * 201))
    assert result != difference(first, other, resamples=200, trials=1500, seed=7)


def test_other_sentences_or_runs_are_refused() -> None:
    with pytest.raises(ValueError, match="on the same sentences"):
        difference([matches("++")], [matches("+++")])
    with pytest.raises(ValueError, match="same number of runs"):
        difference([matches("++")], [matches("++"), matches("+-")])


def test_an_interval_on_paper() -> None:
    """With one right and one wrong sentence, a quarter of the resamples has none right and a quarter both."""
    assert interval(matches("+-")) == (0, 100)
    assert interval(matches("++++")) == (100, 100)
    low, high = interval(matches("+-" * 200))
    spread = 100 * math.sqrt(0.5 * 0.5 / 400)  # of a binomial
    assert (low, high) == pytest.approx((50 - 1.96 * spread, 50 + 1.96 * spread), abs=0.6)


def test_made_up_sets_without_a_rate_of_errors_are_left_out() -> None:
    """Resamples of one word and three empty references have one wrong word, or nothing to score."""
    wrong, right = (
        summing("wer")(["x", "", "", ""], [["a", "", "", ""]]),
        summing("wer")(["a", "", "", ""], [["a", "", "", ""]]),
    )
    assert interval(wrong) == (100, 100)
    result = difference([right], [wrong], trials=50)
    assert (result.low, result.high, result.randomisation) == (100, 100, 1)


def test_an_interval_narrows_with_more_sentences_and_can_be_repeated() -> None:
    few, many = matches("+--+" * 10), matches("+--+" * 100)
    assert interval(many)[1] - interval(many)[0] < interval(few)[1] - interval(few)[0]
    assert interval(few) == interval(few)
    sums = summing("bleu")(WORSE, [REFERENCES])
    assert interval(sums) != interval(sums, seed=7)
    assert interval(sums) != interval(sums, resamples=100)
    low, high = interval(sums)
    assert low < sums.value() < high


def test_resamples_do_not_depend_on_how_many_are_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    sums = summing("chrf")(WORSE, [REFERENCES])
    whole = interval(sums)
    monkeypatch.setattr(significance, "_CELLS", 17 * len(REFERENCES))
    assert interval(sums) == whole


def test_a_metric_of_which_nothing_is_known_is_tested_on_its_sentence_scores() -> None:
    def words_written(hypotheses: list[str], references: list[list[str]]) -> tuple[float, str]:
        return float(sum(len(text.split()) for text in hypotheses)), "words"

    sums = significance._summing("words", words_written)(["a b", "c", "d e f"], [["x", "y", "z"]])
    assert (sums.by, sums.signature) == ("sentence scores", "")
    assert sums.rows.tolist() == [[2, 1], [1, 1], [3, 1]]
    assert sums.value() == 2
    assert summing("bleu")(WORSE, [REFERENCES]).by == "sums"


@pytest.mark.parametrize("metric", [name for name in METRICS if name not in OF_TREES])
def test_sums_that_sign_themselves_say_what_the_score_says(metric: str) -> None:
    sums, whole = summing(metric)(WORSE[:20], [REFERENCES[:20]]), score(WORSE[:20], [REFERENCES[:20]], metric)
    assert sums.signature in ("", whole.signature)
    if sums.signature:
        assert sums.value() == whole.value
