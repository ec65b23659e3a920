"""Choosing among outputs by utilities and scores that can be added by hand."""

from collections.abc import Sequence

import pytest

from regard.decoding.rerank import Channel, minimum_bayes_risk, noisy_channel


def common_letters(hypotheses: Sequence[str], references: Sequence[str]) -> list[float]:
    """Return the share of letters that two texts have in common."""
    return [
        len(set(one) & set(other)) / len(set(one) | set(other))
        for one, other in zip(hypotheses, references, strict=True)
    ]


def test_expected_utility_on_paper() -> None:
    """ab shares 1/3 with bc and everything with the other ab; bc shares 1/3 with either; z shares nothing."""
    candidates = minimum_bayes_risk(["ab", "bc", "ab", "z"], common_letters)
    assert [(candidate.text, candidate.place) for candidate in candidates] == [("ab", 0), ("bc", 1), ("z", 3)]
    assert [candidate.value for candidate in candidates] == pytest.approx(
        [(1 / 3 + 1 + 0) / 3, (1 / 3 + 1 / 3 + 0) / 3, 0.0]
    )


def test_what_is_drawn_often_wins() -> None:
    samples = ["да", "нет", "нет", "нет"]
    assert minimum_bayes_risk(samples, common_letters)[0].text == "нет"


def test_it_is_the_mean_over_the_others_written_out() -> None:
    samples = ["abc", "abd", "bcd", "abc", "xyz", "abd", "a"]
    for candidate in minimum_bayes_risk(samples, common_letters):
        others = [other for number, other in enumerate(samples) if number != samples.index(candidate.text)]
        values = common_letters([candidate.text] * len(others), others)
        assert candidate.value == pytest.approx(sum(values) / len(values))


def test_candidates_of_their_own_meet_every_sample() -> None:
    ranking = minimum_bayes_risk(["ab", "ab", "c"], common_letters, candidates=["c", "ab", "abc"])
    assert [(candidate.text, candidate.place) for candidate in ranking] == [("ab", 1), ("abc", 2), ("c", 0)]
    assert ranking[0].value == pytest.approx(2 / 3)
    assert ranking[1].value == pytest.approx((2 / 3 + 2 / 3 + 1 / 3) / 3)


def test_the_utility_is_called_once_with_distinct_pairs() -> None:
    calls: list[list[tuple[str, str]]] = []

    def utility(hypotheses: Sequence[str], references: Sequence[str]) -> list[float]:
        calls.append(list(zip(hypotheses, references, strict=True)))
        return [0.0] * len(hypotheses)

    assert minimum_bayes_risk(["b", "a", "b"], utility)[0].text == "b"  # of ties the earlier
    assert calls == [[("b", "b"), ("b", "a"), ("a", "b"), ("a", "a")]]


def test_one_sample_is_chosen() -> None:
    assert minimum_bayes_risk(["só"], common_letters)[0].text == "só"


def test_noisy_channel_on_paper() -> None:
    scores = {"direct": [-1.0, -2.0], "backward": [-3.0, -1.0], "language_model": [-1.0, -2.0]}
    for backward, language_model, worth in ((0.0, 0.0, [-1, -2]), (0.5, 0.0, [-2.5, -2.5]), (0.5, 0.25, [-2.75, -3])):
        assert noisy_channel(**scores, channel=Channel(backward, language_model)) == worth


def test_refusals() -> None:
    with pytest.raises(ValueError, match="at least one sample"):
        minimum_bayes_risk([], common_letters)
    with pytest.raises(ValueError, match="gave 1 values for 4 pairs"):
        minimum_bayes_risk(["a", "b"], lambda hypotheses, references: [1.0])
