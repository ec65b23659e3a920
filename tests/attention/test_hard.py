"""Hard attention: what it looks at, and that its training signal is the gradient it should be."""

import math
from itertools import product

import pytest
import torch
from attention_cases import SIDES, draw
from torch import Tensor

from regard.attention import Attention, Hard, Lengths, reinforce_loss

KEYS, STEPS = 3, 3


def test_a_trained_eye_takes_the_most_probable() -> None:
    states, value = draw(2, 3, 4, 8), draw(2, 3, 4, 5, seed=1)
    soft = Attention(**SIDES).full(states, states, value)
    look = Attention(choice=Hard("reinforce"), **SIDES).eval()
    found = look.full(states, states, value)
    assert torch.equal(found.weights.argmax(-1), soft.weights.argmax(-1))
    assert torch.equal(found.weights.sum(-1), torch.ones(2, 3, 4).double())
    torch.testing.assert_close(found.log_probability, soft.weights.amax(-1).log())
    best = soft.weights.argmax(-1, keepdim=True).expand(-1, -1, -1, 5)
    torch.testing.assert_close(found.context, value.gather(2, best))


def test_training_draws_by_the_weights() -> None:
    torch.manual_seed(0)
    weights = torch.tensor([0.1, 0.0, 0.6, 0.3]).expand(1, 1, 40_000, 4)
    drawn = Hard().train()(weights)
    torch.testing.assert_close(drawn.weights.mean(2)[0, 0], weights[0, 0, 0], atol=0.01, rtol=0)
    assert (drawn.weights[..., 1] == 0).all()
    place = drawn.weights.argmax(-1, keepdim=True)
    torch.testing.assert_close(drawn.log_probability, weights.gather(-1, place).squeeze(-1).log())


def test_the_seed_decides_what_is_drawn() -> None:
    weights, choice = draw(1, 1, 50, 4).softmax(-1), Hard()
    found = []
    for seed in (0, 0, 1):
        torch.manual_seed(seed)
        found.append(choice(weights).weights)
    assert torch.equal(found[0], found[1])
    assert not torch.equal(found[0], found[2])


def test_straight_through_gives_the_gradient_of_soft_weights() -> None:
    scores, direction = draw(1, 2, 3, 4).requires_grad_(), draw(1, 2, 3, 4, seed=1)
    chosen = Hard("straight-through")(scores.softmax(-1)).weights
    assert set(chosen.detach().round(decimals=12).unique().tolist()) == {0.0, 1.0}
    (through,) = torch.autograd.grad((chosen * direction).sum(), scores)
    (soft,) = torch.autograd.grad((scores.softmax(-1) * direction).sum(), scores)
    torch.testing.assert_close(through, soft)


def test_reinforce_lets_no_gradient_through_the_weights() -> None:
    scores = draw(1, 2, 3, 4).requires_grad_()
    found = Hard("reinforce")(scores.softmax(-1))
    assert not found.weights.requires_grad
    assert torch.autograd.grad(found.log_probability.sum(), scores)[0].any()


def test_straight_through_needs_no_full_look() -> None:
    states = draw(1, 1, 3, 4)
    look = Attention(choice=Hard("straight-through"), **SIDES).eval()
    torch.testing.assert_close(look(states, states, states), look.full(states, states, states).context)


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("estimator", ["reinforce", "straight-through"])
def test_nowhere_to_look_is_zero_and_certain(training: bool, estimator: str) -> None:
    look = Attention(choice=Hard(estimator), **SIDES).train(training)
    query = draw(2, 1, 3, 4).requires_grad_()
    found = look.full(query, draw(2, 1, 5, 4), draw(2, 1, 5, 4), Lengths(torch.tensor([5, 0])))
    assert (found.context[1] == 0).all()
    assert (found.log_probability[1] == 0).all()
    (gradient,) = torch.autograd.grad(found.context.sum() + found.log_probability.sum(), query)
    assert gradient.isfinite().all()


def test_probabilities_are_normalised_behind_a_window() -> None:
    found = Hard().eval()(torch.tensor([0.1, 0.3, 0.0]).view(1, 1, 1, 3))
    assert found.log_probability.item() == pytest.approx(math.log(0.75))


@pytest.mark.usefixtures("unchecked_shapes")
def test_an_unknown_estimator_is_refused() -> None:
    with pytest.raises(ValueError, match="'reinforce' or 'straight-through', got 'gumbel'"):
        Hard("gumbel")


class Toy:
    """Three choices in a row among three keys, each depending on the one before; tokens depend on both."""

    def __init__(self) -> None:
        self.scores = draw(STEPS, KEYS, KEYS).requires_grad_()  # step, choice before, choice
        self.tokens = draw(STEPS, KEYS, KEYS, seed=1).requires_grad_()
        self.parameters = (self.scores, self.tokens)

    def __call__(self, choices: tuple[int, ...]) -> tuple[Tensor, Tensor]:
        """log p(y_t | a) and log p(a_t | a before) of one row, by step."""
        steps = list(zip(range(STEPS), (0, *choices), choices, strict=False))
        likelihood = torch.stack([-self.tokens[step][before, now].exp() for step, before, now in steps])
        probability = torch.stack([self.scores[step, before].log_softmax(-1)[now] for step, before, now in steps])
        return likelihood[None], probability[None]


def exact_gradient(toy: Toy, real: Tensor, entropy: float) -> tuple[Tensor, ...]:
    """Of −E_a[Σ log p(y_t | a)] − λ H(a), with every a written out."""
    bound = torch.zeros((), dtype=torch.float64)
    for choices in product(range(KEYS), repeat=int(real.sum())):
        likelihood, probability = (each[real[:, : each.shape[1]]] for each in toy(choices))
        chance = probability.sum().exp()
        bound = bound + chance * (likelihood.sum() - entropy * probability.sum())
    return torch.autograd.grad(-bound, toy.parameters)


def expected_gradient(toy: Toy, real: Tensor, entropy: float, baseline: Tensor | None) -> tuple[Tensor, ...]:
    """The gradient of the training loss, each way to choose counted as often as it is drawn."""
    loss = torch.zeros((), dtype=torch.float64)
    for choices in product(range(KEYS), repeat=STEPS):
        likelihood, probability = toy(choices)
        trying = reinforce_loss(likelihood, probability, real, baseline, entropy).loss
        chance = probability.sum().exp().detach()
        loss = loss + chance * (trying - likelihood[real].sum())
    return torch.autograd.grad(loss, toy.parameters)


@pytest.mark.parametrize("steps", [2, 3])
@pytest.mark.parametrize("entropy", [0.0, 0.7])
@pytest.mark.parametrize("baseline", [None, torch.tensor(-2.5, dtype=torch.float64)])
def test_the_signal_is_the_exact_gradient_on_average(steps: int, entropy: float, baseline: Tensor | None) -> None:
    toy, real = Toy(), (torch.arange(STEPS) < steps)[None]
    torch.testing.assert_close(expected_gradient(toy, real, entropy, baseline), exact_gradient(toy, real, entropy))


def test_the_entropy_counts() -> None:
    toy, real = Toy(), torch.ones(1, STEPS, dtype=torch.bool)
    plain, spread = (expected_gradient(toy, real, entropy, None)[0] for entropy in (0.0, 0.7))
    assert not torch.allclose(plain, spread)


def test_the_loss_on_paper() -> None:
    """The rewards to come are −3 and −2; of these the baseline of −1 a step expected −2 and −1."""
    likelihood, probability = torch.tensor([[-1.0, -2.0, -9.0]]), torch.tensor([[-0.5, -0.25, -9.0]])
    real = torch.tensor([[True, True, False]])
    found = reinforce_loss(likelihood, probability, real, torch.tensor(-1.0))
    assert found.loss.item() == pytest.approx(-((-3 + 2) * -0.5 + (-2 + 1) * -0.25))
    assert found.baseline.item() == pytest.approx(0.9 * -1 + 0.1 * -1.5)
    assert reinforce_loss(likelihood, probability, real).baseline.item() == -1.5
    assert reinforce_loss(likelihood, probability, real, torch.tensor(-1.0), momentum=0.5).baseline.item() == -1.25


def test_a_good_baseline_makes_the_signal_steadier() -> None:
    toy, real = Toy(), torch.ones(1, STEPS, dtype=torch.bool)
    spreads = []
    for baseline in (None, torch.tensor(-1.5, dtype=torch.float64)):
        gradients, chances = [], []
        for choices in product(range(KEYS), repeat=STEPS):
            likelihood, probability = toy(choices)
            loss = reinforce_loss(likelihood, probability, real, baseline).loss
            gradients.append(torch.autograd.grad(loss, toy.scores)[0].flatten())
            chances.append(probability.sum().exp().detach())
        weights, each = torch.stack(chances), torch.stack(gradients)
        spreads.append((weights[:, None] * (each - weights @ each) ** 2).sum().item())
    assert spreads[1] < spreads[0]


@pytest.mark.parametrize("estimator", ["reinforce", "straight-through"])
def test_it_learns_where_to_look(estimator: str) -> None:
    """Of five keys the fourth is right for the first query, the first for the second, the third for the third."""
    torch.manual_seed(torch.seed() % 1000)
    keys, right = torch.eye(5).expand(16, 1, 5, 5), torch.tensor([3, 0, 2])
    query, real = torch.zeros(3, 5, requires_grad=True), torch.ones(16, 3, dtype=torch.bool)
    look, optimizer, baseline = Attention(choice=Hard(estimator), **SIDES), torch.optim.Adam([query], lr=0.2), None
    for _ in range(100):
        found = look.full(query.expand(16, 1, 3, 5), keys, keys)
        likelihood = found.context[:, 0, torch.arange(3), right] - 1  # 0 if right, −1 if wrong
        loss = -likelihood.sum()
        if estimator == "reinforce":
            trying, baseline = reinforce_loss(likelihood, found.log_probability[:, 0], real, baseline)
            loss = loss + trying
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    best = look.eval().full(query.expand(16, 1, 3, 5), keys, keys).weights[0, 0].argmax(-1)
    assert torch.equal(best, right)
