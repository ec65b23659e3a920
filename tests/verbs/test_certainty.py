"""A translator's certainty, and when it is reported as unsure."""

from dataclasses import replace
from pathlib import Path

import pytest

from regard.base.faults import Fault
from regard.base.model_folder import CERTAINTY
from regard.data.corpora.sentences import Sentence
from regard.engines.translated import Translated, join_sentences
from regard.verbs.translate.certainty import FEWEST, Certainty, certainty_in, certainty_of, find_certainty


def output(*scores: float) -> Translated:
    return Translated("x", sum(scores), ["x"] * (len(scores) - 1), list(scores), [("x", 0.0)], list)


def test_certainty_is_the_mean_of_the_log_probabilities() -> None:
    assert certainty_of([-0.1, -0.2, -0.6]) == pytest.approx(-0.3)


def test_the_threshold_is_that_of_the_least_certain_twentieth() -> None:
    """Of the certainties 0, -0.01, …, -1 the lowest five in a hundred are those below -0.95."""
    threshold = find_certainty(output(-place / 100) for place in range(101))
    assert threshold == Certainty(threshold=-0.95, percentile=5, outputs=101)
    marked = threshold.mark([output(-0.95), output(-0.96), output(-2.0, 0.0)])
    assert [output.unsure for output in marked] == [False, True, True]


def test_too_few_outputs_or_outputs_without_scores_say_nothing() -> None:
    assert find_certainty(output(-0.1) for _ in range(FEWEST - 1)) is None
    assert find_certainty([replace(output(-0.1), token_scores=[])] * 50) is None
    assert find_certainty([output(float("-inf"))] * 50) is None
    unscored = replace(output(-5.0), token_scores=[])
    assert Certainty(threshold=-1.0, outputs=20).mark([unscored]) == [unscored]
    assert unscored.unsure is None


def test_a_line_is_unsure_if_one_of_its_sentences_is() -> None:
    sentences = [Sentence("", "a", " "), Sentence("", "b", "")]
    kinds = {(None, None): None, (False, None): False, (False, False): False, (False, True): True}
    for unsure, expected in kinds.items():
        assert join_sentences(sentences, [replace(output(-1.0), unsure=mark) for mark in unsure]).unsure is expected


def test_an_older_folder_says_nothing_and_a_damaged_one_is_refused() -> None:
    certainty = Certainty(threshold=-0.5, outputs=40)
    assert certainty_in({}, Path("m")) is None
    assert certainty_in({CERTAINTY: certainty.to_bytes()}, Path("m")) == certainty
    for damaged in (b"{", b'{"threshold": 1.0, "outputs": 40}', b'{"threshold": -1.0, "outputs": 1}'):
        with pytest.raises(Fault, match=r"m/certainty\.json is damaged"):
            certainty_in({CERTAINTY: damaged}, Path("m"))
