"""Statistics of judgements, against numbers worked out by hand or published."""

from typing import Any

import pytest

from regard.metrics.judgements import Judged, Tally, agreement, cohen_kappa, fleiss_kappa, majority, sign_test


@pytest.mark.parametrize(
    ("wins", "losses", "p"),
    [
        (0, 0, 1.0),
        (1, 0, 1.0),
        (5, 0, 2 / 32),
        (8, 2, 2 * (1 + 10 + 45) / 1024),
        (2, 8, 2 * (1 + 10 + 45) / 1024),
        (3, 3, 1.0),
    ],
)
def test_the_sign_test_counts_the_binomial_tails(wins: int, losses: int, p: float) -> None:
    assert sign_test(wins, losses) == p


def test_a_sign_test_of_thousands_is_exact_too() -> None:
    assert sign_test(2000, 0) == 0.5**1999
    assert sign_test(1000, 1000) == 1.0


def test_cohen_kappa_of_fifty_grants() -> None:
    """Both yes 20, only the first 5, only the second 10, both no 15: p = 0.7, e = 0.5."""
    pairs = [("a", "a")] * 20 + [("a", "b")] * 5 + [("b", "a")] * 10 + [("b", "b")] * 15
    one, other = zip(*pairs, strict=True)
    assert cohen_kappa(one, other) == pytest.approx(0.4)


def test_kappa_is_zero_by_chance_negative_below_it_and_undefined_without_choice() -> None:
    assert cohen_kappa(["a", "a", "b", "b"], ["a", "b", "a", "b"]) == 0
    assert cohen_kappa(["a", "b"], ["b", "a"]) == -1
    assert cohen_kappa(["a", "tie"], ["a", "tie"]) == 1
    assert cohen_kappa(["a", "a"], ["a", "a"]) is None
    assert cohen_kappa(["a", "a"], ["b", "b"]) == 0
    assert fleiss_kappa([["a", "a", "a"], ["a", "a", "a"]]) is None


def test_fleiss_kappa_of_two_items() -> None:
    """Pairs agree in 1/3 and 1, so p = 2/3; e = (2/6)² + (4/6)² = 5/9; κ = (1/9) / (4/9)."""
    assert fleiss_kappa([["a", "a", "b"], ["b", "b", "b"]]) == pytest.approx(0.25)


def test_fleiss_kappa_of_a_published_table() -> None:
    """Fourteen judges sort ten items into five classes: κ = 0.210. Each row has a hexadecimal digit for a class."""
    counts = [
        "0000e",
        "02642",
        "00356",
        "03920",
        "22811",
        "77000",
        "32630",
        "25322",
        "65210",
        "02237",
    ]  # in hexadecimal digits
    items = [[str(kind) for kind, count in enumerate(row) for _ in range(int(count, 16))] for row in counts]
    assert {len(item) for item in items} == {14}
    kappa = fleiss_kappa(items)
    assert kappa is not None
    assert round(kappa, 3) == 0.210


BALLOTS: Any = {
    "Ana": {"1": "a", "2": "a", "3": "b", "4": "tie"},
    "Rui": {"1": "a", "2": "b", "3": "b", "5": "a"},
}


def test_the_majority_decides_for_each_item() -> None:
    assert majority(BALLOTS) == {"1": "a", "2": "tie", "3": "b", "4": "tie", "5": "a"}


def test_agreement_is_on_items_that_all_judged() -> None:
    """Of items 1 to 3 they agree on two: p = 2/3, e = (2·1 + 1·2) / 9 = 4/9, κ = 0.4."""
    result = agreement(BALLOTS)
    assert result is not None
    assert (result.statistic, result.judges, result.items) == ("cohen", 2, 3)
    assert result.kappa == pytest.approx(0.4)
    three = agreement(BALLOTS | {"Eva": {"1": "a", "2": "b", "3": "b"}})
    assert three is not None
    assert (three.statistic, three.judges, three.items) == ("fleiss", 3, 3)
    assert agreement({"Ana": BALLOTS["Ana"]}) is None
    apart = agreement({"Ana": {"1": "a"}, "Rui": {"2": "a"}})
    assert apart is not None
    assert (apart.items, apart.kappa) == (0, None)


def test_m1_counts_ties_for_the_model_and_m2_does_not() -> None:
    tally = Tally(a=3, b=5, ties=2)
    assert tally.share_of_model("better", "b") == 0.5
    assert tally.share_of_model("better", "a") == 0.7
    assert tally.share_of_model("person", "b") == 0.3
    assert tally.share_of_model("person", "a") == 0.5


def test_the_row_of_all_counts_votes_and_tests_items() -> None:
    judged = Judged("better", "b", BALLOTS)
    assert judged.row() == {"votes": 8, "a": 4, "b": 3, "ties": 1, "p": sign_test(2, 1), "m1": 5 / 8}
    assert judged.row("Ana") == {"votes": 4, "a": 2, "b": 1, "ties": 1, "p": 1.0, "m1": 3 / 4}
    assert "m1" not in Judged("better", None, BALLOTS).row()
    assert Judged("person", "a", BALLOTS).row("Rui")["m2"] == 0.5
