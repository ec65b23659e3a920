"""The loss of word-level distillation, against the formula written out in float64."""

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from regard.models import cross_entropy
from regard.models.cross_entropy import TeacherOutput, projected_cross_entropy, taught_cross_entropy

PLACES, WIDTH, TOKENS = 7, 6, 11


def draw(seed: int, *shape: int) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def student(has_bias: bool = False) -> tuple[Tensor, Tensor, Tensor, Tensor | None]:
    """Return states, a layer, wanted tokens (one is padding) and a bias."""
    wanted = torch.randint(0, TOKENS, (PLACES,), generator=torch.Generator().manual_seed(9))
    wanted[3] = -1
    bias = draw(4, TOKENS).requires_grad_() if has_bias else None
    return draw(1, PLACES, WIDTH).requires_grad_(), draw(2, TOKENS, WIDTH).requires_grad_(), wanted, bias


def teacher(seed: int) -> TeacherOutput:
    return TeacherOutput(draw(seed, PLACES, 4), draw(seed + 1, TOKENS, 4), draw(seed + 2, TOKENS))


def written_out(
    states: Tensor,
    weight: Tensor,
    wanted: Tensor,
    bias: Tensor | None,
    smoothing: float,
    teachers: list[TeacherOutput],
    share: float,
    temperature: float,
) -> Tensor:
    """Return the loss place by place and token by token."""
    total = torch.zeros((), dtype=torch.float64)
    for place in range(PLACES):
        if wanted[place] < 0:
            continue
        logits = weight @ states[place] + (0 if bias is None else bias)
        entropy = F.cross_entropy(logits, wanted[place], label_smoothing=smoothing)
        soft = [((one.weight @ one.states[place] + one.bias) / temperature).softmax(0) for one in teachers]
        q, p = sum(soft) / len(soft), (logits / temperature).softmax(0)
        divergence = sum(q[token] * (q[token].log() - p[token].log()) for token in range(TOKENS))
        total = total + (1 - share) * entropy + share * temperature**2 * divergence
    return total


@pytest.mark.parametrize("portion", [2 * TOKENS, 2**20])
@pytest.mark.parametrize("has_bias", [False, True])
@pytest.mark.parametrize(("share", "temperature", "smoothing"), [(1.0, 1.0, 0.0), (0.3, 2.0, 0.1), (0.7, 0.5, 0.0)])
@pytest.mark.parametrize("count", [1, 3])
def test_loss_and_gradients_are_those_of_the_formula(
    portion: int,
    has_bias: bool,
    share: float,
    temperature: float,
    smoothing: float,
    count: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(cross_entropy.TAUGHT_PORTION, "cpu", portion)
    states, weight, wanted, bias = student(has_bias)
    teachers = [teacher(10 * number) for number in range(1, count + 1)]
    learnt = [states, weight, *([bias] if bias is not None else [])]
    loss = taught_cross_entropy(states, weight, wanted, smoothing, teachers, share, temperature, bias)
    expected = written_out(states, weight, wanted, bias, smoothing, teachers, share, temperature)
    torch.testing.assert_close(loss, expected)
    ours = torch.autograd.grad(loss, learnt, retain_graph=True)
    for gradient, of_formula in zip(ours, torch.autograd.grad(expected, learnt), strict=True):
        torch.testing.assert_close(gradient, of_formula)


def test_a_student_that_is_its_teacher_learns_nothing_from_it() -> None:
    states, weight, wanted, _ = student()
    itself = TeacherOutput(states.detach(), weight.detach())
    loss = taught_cross_entropy(states, weight, wanted, 0.0, [itself], 1.0, 1.0)
    torch.testing.assert_close(loss, torch.zeros_like(loss), atol=1e-12, rtol=0)
    for gradient in torch.autograd.grad(loss, [states, weight]):
        torch.testing.assert_close(gradient, torch.zeros_like(gradient), atol=1e-12, rtol=0)


def test_without_a_share_for_the_teacher_the_loss_is_plain_cross_entropy() -> None:
    states, weight, wanted, _ = student()
    loss = taught_cross_entropy(states, weight, wanted, 0.1, [teacher(5)], 0.0, 3.0)
    torch.testing.assert_close(loss, projected_cross_entropy(states, weight, wanted, 0.1))


def test_a_divergence_on_paper() -> None:
    # The student knows nothing: p = (1/2, 1/2); the teacher's logits are (ln 3, 0): q = (3/4, 1/4).
    states, weight = torch.ones(1, 1, dtype=torch.float64), torch.zeros(2, 1, dtype=torch.float64)
    sure = TeacherOutput(states, torch.tensor([[3.0], [1.0]], dtype=torch.float64).log())
    loss = taught_cross_entropy(states, weight, torch.tensor([0]), 0.0, [sure], 1.0, 1.0)
    expected = 0.75 * torch.tensor(1.5, dtype=torch.float64).log() + 0.25 * torch.tensor(0.5, dtype=torch.float64).log()
    torch.testing.assert_close(loss, expected)


def test_nothing_but_padding_costs_nothing() -> None:
    states, weight, wanted, _ = student()
    loss = taught_cross_entropy(states, weight, torch.full_like(wanted, -1), 0.1, [teacher(5)], 0.5, 2.0)
    assert loss == 0
    assert not torch.autograd.grad(loss, weight)[0].any()
