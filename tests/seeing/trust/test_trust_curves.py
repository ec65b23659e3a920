"""Deletion and insertion curves: answers on paper, and laws."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations
from math import exp, log

import numpy as np
import pytest
import torch
from torch import Tensor

from regard.seeing.trust.curves import SHARES, Curves, count_of, faithfulness, order_of, random_curves
from regard.seeing.trust.curves import curves_of as curves_of_orders


@dataclass(frozen=True)
class Linear:
    """A log-probability that is a sum over units: what each unit's vector says of the decision."""

    inputs: Tensor
    weights: Tensor
    bias: float = -6.0

    @property
    def baseline(self) -> Tensor:
        return torch.zeros_like(self.inputs)

    def log_probability(self, inputs: Tensor) -> Tensor:
        return (inputs * self.weights).sum(dim=(1, 2)) + self.bias

    @property
    def contributions(self) -> list[float]:
        """Input × gradient."""
        return (self.inputs * self.weights).sum(dim=1).tolist()


def curves_of(question: Linear, order: Sequence[int]) -> Curves:
    """Return the curves of one order."""
    (curves,) = curves_of_orders(question, [order])
    return curves


def _linear(units: int, seed: int = 1) -> Linear:
    chance = torch.Generator().manual_seed(seed)
    inputs, weights = (torch.randn(units, 4, generator=chance, dtype=torch.float64) for _ in range(2))
    return Linear(inputs, 0.3 * weights)


def _three_units() -> Linear:
    """Three units that multiply the probability 1/16 by 4, 2 and 1."""
    return Linear(torch.tensor([[log(4)], [0.0], [log(2)]], dtype=torch.float64), torch.ones(1), bias=-log(16))


def test_three_units_give_the_curves_worked_out_by_hand() -> None:
    curves = curves_of(_three_units(), [0, 2, 1])
    assert curves.counts == [0, 1, 2, 3]
    assert np.exp(curves.deletion) == pytest.approx([1 / 2, 1 / 8, 1 / 16, 1 / 16])
    assert np.exp(curves.insertion) == pytest.approx([1 / 16, 1 / 4, 1 / 2, 1 / 2])
    assert curves.deletion_area == pytest.approx((1 / 4 + 1 / 8 + 1 / 16 + 1 / 32) / 3)
    assert curves.insertion_area == pytest.approx((1 / 32 + 1 / 4 + 1 / 2 + 1 / 4) / 3)


def test_three_units_give_the_figures_worked_out_by_hand() -> None:
    curves = curves_of(_three_units(), [0, 2, 1])
    # One unit for shares up to 20 %, two of three for 50 %.
    assert [curves.comprehensiveness(share) for share in SHARES] == pytest.approx([3 / 8] * 4 + [7 / 16])
    assert [curves.sufficiency(share) for share in SHARES] == pytest.approx([1 / 4] * 4 + [0.0], abs=1e-12)
    figures = curves.figures()
    assert figures["comprehensiveness"] == pytest.approx((4 * 3 / 8 + 7 / 16) / 5)
    assert figures["sufficiency"] == pytest.approx(1 / 5)


@pytest.mark.parametrize(("share", "units", "count"), [(0.01, 3, 1), (0.1, 30, 3), (0.2, 10, 2), (0.5, 5, 3)])
def test_a_share_has_whole_units_and_at_least_one(share: float, units: int, count: int) -> None:
    assert count_of(share, units) == count


def test_input_times_gradient_has_the_best_curves_of_a_linear_model() -> None:
    question = _linear(5)
    best = curves_of(question, order_of(question.contributions))
    for order in permutations(range(5)):
        other = curves_of(question, order)
        assert all(own <= theirs + 1e-12 for own, theirs in zip(best.deletion, other.deletion, strict=True))
        assert all(own >= theirs - 1e-12 for own, theirs in zip(best.insertion, other.insertion, strict=True))
    assert best.deletion_area < curves_of(question, order_of([-x for x in question.contributions])).deletion_area


def test_curves_begin_and_end_with_the_whole_input_and_nothing() -> None:
    question = _linear(7)
    whole, nothing = question.log_probability(torch.stack([question.inputs, question.baseline])).tolist()
    curves = curves_of(question, list(range(7)))
    assert (curves.deletion[0], curves.deletion[-1]) == pytest.approx((whole, nothing))
    assert (curves.insertion[0], curves.insertion[-1]) == pytest.approx((nothing, whole))


@pytest.mark.parametrize("figure", ["comprehensiveness", "sufficiency", "deletion", "insertion"])
def test_a_map_drawn_at_random_scores_chance(figure: str) -> None:
    question = _linear(12)
    chance = np.array([one.figures()[figure] for one in random_curves(question, 100)])
    drawn = [np.random.default_rng([7, seed]).normal(size=12).tolist() for seed in range(100)]
    own = np.array([curves_of(question, order_of(scores)).figures()[figure] for scores in drawn])
    standard_error = ((own.var(ddof=1) + chance.var(ddof=1)) / 100) ** 0.5
    assert abs(own.mean() - chance.mean()) < 2.5 * standard_error


def test_a_good_map_is_beyond_chance_and_a_bad_one_below_it() -> None:
    question = _linear(12)
    good = faithfulness(question, question.contributions).figures()
    bad = faithfulness(question, [-score for score in question.contributions]).figures()
    for figure, sign in {"comprehensiveness": 1, "sufficiency": -1, "deletion": -1, "insertion": 1}.items():
        assert sign * (good[figure].value - good[figure].random) > 0
        assert sign * (bad[figure].value - bad[figure].random) < 0


def test_shares_are_compared_with_the_same_random_orders() -> None:
    found = faithfulness(_linear(20), _linear(20).contributions, random_curves(_linear(20), 3))
    by_share = found.by_share("comprehensiveness")
    assert list(by_share) == list(SHARES)
    expected = np.mean([curves.comprehensiveness(0.2) for curves in found.random])
    assert by_share[0.2].random == pytest.approx(expected)
    means = np.mean([[exp(x) for x in curves.deletion] for curves in found.random], axis=0)
    assert found.random_curve("deletion") == pytest.approx(means.tolist())


def test_equal_scores_keep_no_order_of_places() -> None:
    order = order_of([1.0] * 30)
    assert sorted(order) == list(range(30))
    assert order != list(range(30))
    assert order == order_of([5.0] * 30)
    assert order_of([0.1, 3.0, 2.0]) == [1, 2, 0]


def test_an_input_of_many_units_loses_several_at_once_and_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    question = _linear(1000)
    whole = curves_of(question, list(range(1000)))
    assert whole.units == 1000
    assert len(whole.counts) < 60
    assert {count_of(share, 1000) for share in SHARES} <= set(whole.counts)
    monkeypatch.setattr("regard.seeing.trust.curves._AT_ONCE", 3)
    parts = curves_of(question, list(range(1000)))
    assert parts.deletion == pytest.approx(whole.deletion)


def test_orders_together_have_the_curves_that_each_has_alone() -> None:
    question, orders = _linear(6), [[0, 1, 2, 3, 4, 5], [5, 0, 4, 1, 3, 2], [3, 4, 5, 0, 1, 2]]
    together = curves_of_orders(question, orders)
    for order, curves in zip(orders, together, strict=True):
        assert curves.deletion == pytest.approx(curves_of(question, order).deletion)
        assert curves.insertion == pytest.approx(curves_of(question, order).insertion)


def test_one_unit_is_everything() -> None:
    curves = curves_of(Linear(torch.ones(1, 1), torch.ones(1), bias=-2.0), [0])
    assert isinstance(curves, Curves)
    assert curves.counts == [0, 1]
    assert curves.comprehensiveness(0.01) == pytest.approx(exp(-1) - exp(-2))
    assert curves.sufficiency(0.5) == pytest.approx(0.0)
