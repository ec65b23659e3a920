"""Local attention (Luong et al. 2015), computed by hand."""

import math

import pytest
import torch
from attention_cases import SIDES, draw
from torch import Tensor, nn

from regard.attention import Attention, Lengths, LocalMonotonic, LocalPredictive
from regard.attention.local import Focus


def weights(focus: Focus, queries: int, lengths: list[int], places: list[int] | None = None) -> Tensor:
    """Return the weights for equal scores, with as many keys as the longest row."""
    query, key = torch.ones(len(lengths), 1, queries, 1), torch.zeros(len(lengths), 1, max(lengths), 1)
    look = Attention(focus=focus, **SIDES)
    where = 0 if places is None else torch.tensor(places)
    return look.full(query, key, key, Lengths(torch.tensor(lengths)), places=where).weights[:, 0]


def test_monotonic_windows_on_paper() -> None:
    result = weights(LocalMonotonic(1), 3, [4])[0]
    third = 1 / 3
    torch.testing.assert_close(
        result, torch.tensor([[0.5, 0.5, 0, 0], [third, third, third, 0], [0, third, third, third]])
    )
    assert torch.equal(weights(LocalMonotonic(1), 1, [4], places=[2])[0], result[2:])  # a decoder at its third step


def test_past_the_end_a_monotonic_window_stays_at_the_last_real_keys() -> None:
    result = weights(LocalMonotonic(1), 2, [5, 3], places=[4, 9])
    torch.testing.assert_close(result[0], torch.tensor([[0, 0, 0, 0.5, 0.5]] * 2))
    torch.testing.assert_close(result[1], torch.tensor([[0, 0.5, 0.5, 0, 0]] * 2))


def predictive(reach: int, share: float) -> LocalPredictive:
    """Return a window centred at this share of every sentence, for single queries."""
    focus = LocalPredictive(query_depth=1, hidden=1, reach=reach)
    nn.init.ones_(focus.of_query.weight)
    nn.init.constant_(focus.centre.weight, math.log(share / (1 - share)) / math.tanh(1))
    return focus


def test_predictive_windows_on_paper() -> None:
    """Half of 4 keys is p = 2. With D = 2, σ = 1: a quarter each times exp(−(s − 2)²/2), not renormalised."""
    result = weights(predictive(2, 0.5), 1, [4])[0, 0]
    torch.testing.assert_close(result, 0.25 * torch.tensor([math.exp(-2), math.exp(-0.5), 1.0, math.exp(-0.5)]))


def test_a_predicted_window_ends_at_its_reach_and_knows_the_real_length() -> None:
    """The centre is 5.6 of 8 keys and 2.8 of 4: keys 5 and 6, keys 2 and 3, with D = 1 and σ = ½."""

    def half(distance: float) -> float:
        return 0.5 * math.exp(-2 * distance**2)

    result = weights(predictive(1, 0.7), 1, [8, 4])[:, 0]
    torch.testing.assert_close(result[0], torch.tensor([0, 0, 0, 0, 0, half(0.6), half(0.4), 0]))
    torch.testing.assert_close(result[1], torch.tensor([0, 0, half(0.8), half(0.2), 0, 0, 0, 0]))


def test_the_centre_learns() -> None:
    focus = LocalPredictive(4, 3, reach=2).double()
    look, states = Attention(focus=focus, **SIDES), draw(1, 1, 6, 4)
    look(states, states, states).sum().backward()
    for parameter in focus.parameters():
        assert parameter.grad is not None
        assert parameter.grad.any()


@pytest.mark.parametrize("make", [lambda reach: LocalMonotonic(reach), lambda reach: LocalPredictive(4, 3, reach)])
def test_each_reach_gives_another_window(make: type[LocalMonotonic]) -> None:
    states = draw(1, 1, 6, 4)
    outputs = []
    for reach in (1, 2):
        torch.manual_seed(0)
        outputs.append(Attention(focus=make(reach).double(), **SIDES)(states, states, states))
    assert not torch.allclose(*outputs)
    with pytest.raises(ValueError, match="at least 1 key to either side, got 0"):
        make(0)


def test_where_no_key_is_real_a_window_is_empty() -> None:
    for focus in (LocalMonotonic(2), predictive(2, 0.5)):
        assert torch.equal(weights(focus, 2, [3, 0])[1], torch.zeros(2, 3))
