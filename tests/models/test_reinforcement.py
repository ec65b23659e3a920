"""REINFORCE: on average its signal is the exact gradient with any baseline; and its variance."""

from itertools import product

import pytest
import torch
from torch import Tensor

from regard.attention.reinforce import from_here_on, leave_one_out, rewards_to_come
from regard.base.faults import Fault
from regard.base.recipe import check
from regard.models.recurrent.seq2seq_options import Seq2SeqOptions
from regard.models.reinforcement import ReinforceOptions, learn_choices

KEYS, STEPS = 2, 3
PATHS = list(product(range(KEYS), repeat=STEPS))


class Toy:
    """Three successive choices between two keys, each depending on the one before, as the tokens do.

    `PATHS` lists the paths; quantities are computed for all of them at once.
    """

    def __init__(self) -> None:
        chance = torch.Generator().manual_seed(4)
        self.scores = torch.randn(STEPS, KEYS, KEYS, dtype=torch.float64, generator=chance).requires_grad_()
        self.tokens = torch.randn(STEPS, KEYS, KEYS, dtype=torch.float64, generator=chance).requires_grad_()
        self.parameters = (self.scores, self.tokens)

    def __call__(self) -> tuple[Tensor, Tensor, Tensor]:
        """Return log p(y_t | a), log p(a_t | a before) and the entropy of a_t for each path (path, time)."""
        now = torch.tensor(PATHS)
        before = torch.cat([torch.zeros_like(now[:, :1]), now[:, :-1]], dim=1)
        steps, logs = torch.arange(STEPS), self.scores.log_softmax(-1)
        likelihood = -2.0 - steps - self.tokens[steps, before, now].exp()  # later tokens are harder to guess
        entropy = -(logs.exp() * logs).sum(-1)
        return likelihood, logs[steps, before, now], entropy[steps, before]

    def best(self) -> int:
        """Return the path of the most probable choices."""
        path, place = list[int](), 0
        for step in range(STEPS):
            place = int(self.scores[step, place].argmax())
            path.append(place)
        return PATHS.index(tuple(path))


def exact_gradient(toy: Toy, steps: int, entropy_weight: float) -> tuple[Tensor, ...]:
    """Return the gradient of −E_a[Σ log p(y_t | a)] − λ H(a), with every path written out."""
    likelihood, probability, _ = (values[:, :steps] for values in toy())
    chance = toy()[1].sum(-1).exp()  # padded steps sum to one
    bound = (chance * (likelihood.sum(-1) - entropy_weight * probability.sum(-1))).sum()
    return torch.autograd.grad(-bound, toy.parameters)


def gradients(toy: Toy, options: ReinforceOptions, steps: int) -> tuple[Tensor, list[tuple[Tensor, ...]]]:
    """Return the probability and gradient of every way to draw the samples."""
    all_gradients, chances = [], []
    real = (torch.arange(STEPS) < steps)[None, None]
    for sample in product(range(len(PATHS)), repeat=options.samples):
        rows = [*sample, *([toy.best()] if options.paths > options.samples else [])]
        likelihood, probability, entropy = (values[rows][None] for values in toy())
        average = torch.tensor(-4.0, dtype=torch.float64)
        trying = learn_choices(options, likelihood, probability, entropy, real, average).loss
        written = (likelihood * real)[:, : options.samples].sum() / options.samples
        all_gradients.append(torch.autograd.grad(trying - written, toy.parameters))
        chances.append(probability[0, : options.samples].sum().exp().detach())
    return torch.stack(chances), all_gradients


def mean_gradient(toy: Toy, options: ReinforceOptions, steps: int = STEPS) -> list[Tensor]:
    chances, all_gradients = gradients(toy, options, steps)
    return [torch.einsum("w,w...->...", chances, torch.stack(parts)) for parts in zip(*all_gradients, strict=True)]


CASES = [("none", 1), ("moving", 1), ("moving", 2), ("leave-one-out", 2), ("self-critical", 1), ("self-critical", 2)]


@pytest.mark.one_in(4)
@pytest.mark.parametrize(("baseline", "samples"), CASES)
@pytest.mark.parametrize(("steps", "entropy"), [(STEPS, 0.0), (2, 0.7)])
def test_the_signal_is_the_exact_gradient_on_average(baseline: str, samples: int, steps: int, entropy: float) -> None:
    toy = Toy()
    options = check(ReinforceOptions, {"baseline": baseline, "samples": samples, "entropy": entropy})
    torch.testing.assert_close(tuple(mean_gradient(toy, options, steps)), exact_gradient(toy, steps, entropy))


@pytest.mark.parametrize("changed", [{"discount": 0.5}, {"reward": 0.5}])
def test_what_is_said_to_be_inexact_is(changed: dict[str, float]) -> None:
    toy, options = Toy(), check(ReinforceOptions, {"samples": 2, "entropy": 0.0} | changed)
    (scores, tokens), exact = mean_gradient(toy, options), exact_gradient(toy, STEPS, 0.0)
    assert not torch.allclose(scores, exact[0])
    torch.testing.assert_close(tokens, exact[1])  # these learn from the cross-entropy alone


def test_half_the_reward_is_half_the_signal() -> None:
    toy = Toy()
    whole, half = (
        mean_gradient(toy, check(ReinforceOptions, {"samples": 2, "entropy": 0.0, "reward": reward}))[0]
        for reward in (1.0, 0.5)
    )
    torch.testing.assert_close(half, whole / 2)


def wavering(baseline: str, **options: float) -> float:
    """Return the total variance of the gradient of the scores with two samples."""
    toy = Toy()
    chosen = check(ReinforceOptions, {"samples": 2, "entropy": 0.0, "baseline": baseline, **options})
    chances, all_gradients = gradients(toy, chosen, STEPS)
    flat = torch.stack([scores.flatten() for scores, _ in all_gradients])
    return float((chances[:, None] * (flat - chances @ flat) ** 2).sum())


def test_better_baselines_waver_less() -> None:
    none, moving, critical, others = map(wavering, ("none", "moving", "self-critical", "leave-one-out"))
    assert others < moving < none
    assert critical < moving


def test_to_answer_for_the_own_step_alone_is_steadier() -> None:
    assert wavering("moving", discount=0.0) < wavering("moving")


def test_rewards_on_paper() -> None:
    """Two steps of three are real. With entropy weight 0.5 the first is credited with −1 − 2 and 0.5 · 0.8."""
    likelihood, entropy = torch.tensor([[[-1.0, -2.0, -9.0]]]), torch.tensor([[[0.6, 0.8, 9.0]]])
    real = torch.tensor([[[True, True, False]]])
    assert rewards_to_come(likelihood, entropy, real).tolist() == [[[-3, -2, 0]]]
    weighed = rewards_to_come(likelihood, entropy, real, entropy_weight=0.5)
    torch.testing.assert_close(weighed, torch.tensor([[[-2.6, -2.0, 0.0]]]))
    assert rewards_to_come(likelihood, entropy, real, discount=0.0).tolist() == [[[-1, -2, 0]]]
    assert from_here_on(torch.tensor([[[1.0, 2.0, 4.0]]]), 0.5).tolist() == [[[3.0, 4.0, 4.0]]]


def test_a_sample_is_compared_with_the_others() -> None:
    assert leave_one_out(torch.tensor([[[1.0], [2.0], [6.0]]])).tolist() == [[[4.0], [3.5], [1.5]]]


def test_the_moving_baseline_follows_the_rewards() -> None:
    options = check(ReinforceOptions, {"baseline": "moving", "samples": 1})
    likelihood, real = torch.tensor([[[-1.0, -2.0, -9.0]]]), torch.tensor([[[True, True, False]]])
    first = learn_choices(options, likelihood, likelihood, likelihood, real, None)
    assert first.average.item() == -1.5
    second = learn_choices(options, likelihood, likelihood, likelihood, real, torch.tensor(-1.0))
    assert second.average.item() == pytest.approx(0.9 * -1 + 0.1 * -1.5)


def test_a_batch_without_a_choice_leaves_the_moving_baseline_as_it_is() -> None:
    options = check(ReinforceOptions, {"baseline": "moving", "samples": 1})
    zeros, nothing = torch.zeros(2, 1, 3), torch.zeros(2, 1, 3, dtype=torch.bool)
    assert float(learn_choices(options, zeros, zeros, zeros, nothing, torch.tensor(-4.0)).average) == -4


def test_one_sample_has_no_others_to_be_compared_with() -> None:
    with pytest.raises(Fault, match="'leave-one-out' is the mean of the other samples, so it needs samples ≥ 2"):
        check(Seq2SeqOptions, {"hard": "reinforce", "samples": 1})
