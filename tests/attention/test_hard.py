"""Hard attention: one place is sampled from the weights, and each estimator passes the gradient its own way."""

import math

import pytest
import torch
from attention_cases import SIDES, draw

from regard.attention import Attention, Hard, Lengths, Manner, reinforce_loss
from regard.attention.hard import ESTIMATORS


def test_a_trained_eye_takes_the_most_probable() -> None:
    states, value = draw(2, 3, 4, 8), draw(2, 3, 4, 5, seed=1)
    soft = Attention(**SIDES).full(states, states, value)
    look = Attention(choice=Hard("reinforce"), **SIDES).eval()
    result = look.full(states, states, value)
    assert torch.equal(result.weights.argmax(-1), soft.weights.argmax(-1))
    assert torch.equal(result.weights.sum(-1), torch.ones(2, 3, 4).double())
    torch.testing.assert_close(result.log_probability, soft.weights.amax(-1).log())
    best = soft.weights.argmax(-1, keepdim=True).expand(-1, -1, -1, 5)
    torch.testing.assert_close(result.context, value.gather(2, best))


def test_training_draws_by_the_weights() -> None:
    torch.manual_seed(0)
    weights = torch.tensor([0.1, 0.0, 0.6, 0.3]).expand(1, 1, 40_000, 4)
    choice = Hard().train()(weights)
    torch.testing.assert_close(choice.weights.mean(2)[0, 0], weights[0, 0, 0], atol=0.01, rtol=0)
    assert (choice.weights[..., 1] == 0).all()
    place = choice.weights.argmax(-1, keepdim=True)
    torch.testing.assert_close(choice.log_probability, weights.gather(-1, place).squeeze(-1).log())


def test_the_seed_decides_what_is_drawn() -> None:
    weights, choice = draw(1, 1, 50, 4).softmax(-1), Hard()
    gradients = []
    for seed in (0, 0, 1):
        torch.manual_seed(seed)
        gradients.append(choice(weights).weights)
    assert torch.equal(gradients[0], gradients[1])
    assert not torch.equal(gradients[0], gradients[2])


def test_straight_through_gives_the_gradient_of_soft_weights() -> None:
    scores, direction = draw(1, 2, 3, 4).requires_grad_(), draw(1, 2, 3, 4, seed=1)
    chosen = Hard("straight-through")(scores.softmax(-1)).weights
    assert set(chosen.detach().round(decimals=12).unique().tolist()) == {0.0, 1.0}
    (through,) = torch.autograd.grad((chosen * direction).sum(), scores)
    (soft,) = torch.autograd.grad((scores.softmax(-1) * direction).sum(), scores)
    torch.testing.assert_close(through, soft)


def test_reinforce_lets_no_gradient_through_the_weights() -> None:
    scores = draw(1, 2, 3, 4).requires_grad_()
    result = Hard("reinforce")(scores.softmax(-1))
    assert not result.weights.requires_grad
    assert torch.autograd.grad(result.log_probability.sum(), scores)[0].any()


def test_straight_through_needs_no_full_look() -> None:
    states = draw(1, 1, 3, 4)
    look = Attention(choice=Hard("straight-through"), **SIDES).eval()
    torch.testing.assert_close(look(states, states, states), look.full(states, states, states).context)


def test_only_the_place_that_was_chosen_is_read() -> None:
    """Every other value may be anything, even NaN, which a sum over all of them would not survive."""
    states, value = draw(2, 1, 4, 8), draw(2, 1, 4, 5, seed=1)
    look = Attention(choice=Hard("reinforce"), **SIDES).eval()
    best = look.full(states[:, :, :1], states, value).weights
    poisoned = value.masked_fill(best.transpose(-1, -2) == 0, float("nan"))
    context = look.full(states[:, :, :1], states, poisoned).context
    torch.testing.assert_close(context, best @ value)


def test_a_drawn_place_hands_the_gradient_to_its_value_alone() -> None:
    states, value = draw(1, 1, 4, 8), draw(1, 1, 4, 5, seed=1).requires_grad_()
    result = Attention(choice=Hard("reinforce"), **SIDES).full(states[:, :, :1], states, value)
    (gradient,) = torch.autograd.grad(result.context.sum(), value)
    torch.testing.assert_close(gradient, result.weights.transpose(-1, -2).expand_as(value))


def test_the_entropy_is_that_of_the_weights() -> None:
    result = Hard()(torch.tensor([[0.5, 0.25, 0.25], [0.0, 1.0, 0.0]]).view(1, 1, 2, 3))
    torch.testing.assert_close(result.entropy, torch.tensor([[[1.5 * math.log(2), 0.0]]]))


def test_each_query_looks_in_its_own_manner() -> None:
    torch.manual_seed(0)
    weights = torch.tensor([0.6, 0.4]).expand(300, 1, 3, 2)
    manners = torch.tensor([Manner.DRAWN, Manner.BEST, Manner.MIXED]).expand(300, 1, 3)
    result = Hard().train()(weights, manners)
    assert result.place is None
    sample, best, mixed = result.weights[:, 0].unbind(1)
    assert {*map(tuple, sample.tolist())} == {(1.0, 0.0), (0.0, 1.0)}
    assert torch.equal(best, torch.tensor([1.0, 0.0]).expand(300, 2))
    assert torch.equal(mixed, weights[:, 0, 2])
    assert not result.log_probability[:, 0, 2].any()
    assert not result.entropy[:, 0, 2].any()
    settled = Hard().eval()(weights, manners).weights[0, 0]
    assert torch.equal(settled, torch.tensor([[1.0, 0.0], [1.0, 0.0], [0.6, 0.4]]))


def test_gumbel_draws_what_it_should_and_comes_nearer_to_one_place() -> None:
    weights = torch.tensor([0.1, 0.0, 0.6, 0.3]).expand(1, 1, 20_000, 4)
    nearest = []
    for temperature in (1.0, 0.1):
        torch.manual_seed(0)
        relaxed = Hard("gumbel", temperature).train()(weights).weights[0, 0]
        torch.testing.assert_close(relaxed.sum(-1), torch.ones(20_000))
        assert (relaxed[:, 1] == 0).all()
        often = relaxed.argmax(-1).bincount(minlength=4) / 20_000
        torch.testing.assert_close(often, weights[0, 0, 0], atol=0.015, rtol=0)
        nearest.append(relaxed.amax(-1).mean())
    assert nearest[0] < 0.9 < nearest[1]


def test_gumbel_straight_through_is_one_place_with_the_gradient_of_the_relaxed_one() -> None:
    scores, direction = draw(1, 2, 3, 4).requires_grad_(), draw(1, 2, 3, 4, seed=1)
    gradients = []
    for estimator in ("gumbel", "gumbel-straight-through"):
        torch.manual_seed(0)
        weights = Hard(estimator, 0.5)(scores.softmax(-1)).weights
        gradients.append(torch.autograd.grad((weights * direction).sum(), scores)[0])
    assert set(weights.detach().round(decimals=12).unique().tolist()) == {0.0, 1.0}
    torch.testing.assert_close(*gradients)


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_nowhere_to_look_is_zero_and_certain(training: bool, estimator: str) -> None:
    look = Attention(choice=Hard(estimator), **SIDES).train(training)
    query = draw(2, 1, 3, 4).requires_grad_()
    result = look.full(query, draw(2, 1, 5, 4), draw(2, 1, 5, 4), Lengths(torch.tensor([5, 0])))
    assert (result.context[1] == 0).all()
    assert (result.log_probability[1] == 0).all()
    (gradient,) = torch.autograd.grad(result.context.sum() + result.log_probability.sum(), query)
    assert gradient.isfinite().all()


def test_probabilities_are_normalised_behind_a_window() -> None:
    result = Hard().eval()(torch.tensor([0.1, 0.3, 0.0]).view(1, 1, 1, 3))
    assert result.log_probability.item() == pytest.approx(math.log(0.75))


@pytest.mark.usefixtures("unchecked_shapes")
def test_an_unknown_estimator_is_refused() -> None:
    with pytest.raises(ValueError, match=r"an estimator is one of 'reinforce', .*, got 'soft'"):
        Hard("soft")


@pytest.mark.one_in(2)
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_it_learns_where_to_look(estimator: str) -> None:
    """Of five keys, the fourth is right for the first query, the first for the second, and the third for the third."""
    torch.manual_seed(torch.seed() % 1000)
    keys, right = torch.eye(5).expand(16, 1, 5, 5), torch.tensor([3, 0, 2])
    query, real = torch.zeros(3, 5, requires_grad=True), torch.ones(1, 1, 3, dtype=torch.bool)
    look, optimizer = Attention(choice=Hard(estimator), **SIDES), torch.optim.Adam([query], lr=0.2)
    for _ in range(60):
        result = look.full(query.expand(16, 1, 3, 5), keys, keys)
        likelihood = result.context[:, 0, torch.arange(3), right] - 1  # 0 if right, −1 if wrong
        loss = -likelihood.mean(0).sum()
        if estimator == "reinforce":
            surplus = likelihood - likelihood.mean(0)
            loss = loss + reinforce_loss(
                surplus[None], result.log_probability[:, 0][None], result.entropy[:, 0][None], real
            )
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    best = look.eval().full(query.expand(16, 1, 3, 5), keys, keys).weights[0, 0].argmax(-1)
    assert torch.equal(best, right)
