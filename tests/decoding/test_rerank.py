"""Choosing among outputs by utilities and scores one can add up."""

from collections.abc import Sequence

import pytest

from regard.decoding.rerank import Channel, minimum_bayes_risk, noisy_channel


def common_letters(hypotheses: Sequence[str], references: Sequence[str]) -> list[float]:
    """How many letters two texts share, of all they have."""
    return [
        len(set(one) & set(other)) / len(set(one) | set(other))
        for one, other in zip(hypotheses, references, strict=True)
    ]


def test_expected_utility_on_paper() -> None:
    """ab shares 1/3 with bc and all with the other ab; bc shares 1/3 with either; z nothing with any."""
    found = minimum_bayes_risk(["ab", "bc", "ab", "z"], common_letters)
    assert [(each.text, each.place) for each in found] == [("ab", 0), ("bc", 1), ("z", 3)]
    assert [each.value for each in found] == pytest.approx([(1 / 3 + 1 + 0) / 3, (1 / 3 + 1 / 3 + 0) / 3, 0.0])


def test_what_is_drawn_often_wins() -> None:
    samples = ["да", "нет", "нет", "нет"]
    assert minimum_bayes_risk(samples, common_letters)[0].text == "нет"


def test_it_is_the_mean_over_the_others_written_out() -> None:
    samples = ["abc", "abd", "bcd", "abc", "xyz", "abd", "a"]
    for each in minimum_bayes_risk(samples, common_letters):
        others = [other for number, other in enumerate(samples) if number != samples.index(each.text)]
        values = common_letters([each.text] * len(others), others)
        assert each.value == pytest.approx(sum(values) / len(values))


def test_candidates_of_their_own_meet_every_sample() -> None:
    found = minimum_bayes_risk(["ab", "ab", "c"], common_letters, candidates=["c", "ab", "abc"])
    assert [(each.text, each.place) for each in found] == [("ab", 1), ("abc", 2), ("c", 0)]
    assert found[0].value == pytest.approx(2 / 3)
    assert found[1].value == pytest.approx((2 / 3 + 2 / 3 + 1 / 3) / 3)


def test_the_utility_is_called_once_with_distinct_pairs() -> None:
    calls: list[list[tuple[str, str]]] = []

    def utility(hypotheses: Sequence[str], references: Sequence[str]) -> list[float]:
        calls.append(list(zip(hypotheses, references, strict=True)))
        return [0.0] * len(hypotheses)

    assert minimum_bayes_risk(["b", "a", "b"], utility)[0].text == "b"  # of equals the earlier
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
