"""Maps of decisions: laws of the methods, captum's numbers, and a linear model worked out by hand."""

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

sys.path.insert(0, str(Path(__file__).parent))
from why_models import ASKED, toy_question

from regard.base.faults import Fault
from regard.seeing.why import maps
from regard.seeing.why.decision import Question
from regard.seeing.why.maps import integrated_gradients, map_of


@pytest.fixture(scope="module")
def question_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Question]:
    """Return the question of a family, made once."""
    made: dict[str, Question] = {}

    def make(family: str) -> Question:
        if family not in made:
            made[family] = toy_question(family, tmp_path_factory.mktemp("toy"))
        return made[family]

    return make


def linear(weights: Tensor, inputs: Tensor, baseline: Tensor | None = None) -> Question:
    """Return a decision whose log-probability is the sum of all inputs times their weights."""
    names = [str(number) for number in range(len(inputs))]
    return Question(
        names,
        "yes",
        inputs,
        torch.zeros_like(inputs) if baseline is None else baseline,
        lambda copies: (copies * weights).sum((1, 2)),
        None,
    )


def test_a_linear_model_by_hand() -> None:
    """log p = 1·x₁₁ + 2·x₁₂ − 3·x₂₁ + 4·x₂₂, with inputs (1, 1), (2, 0) and a baseline of (0, 1), (0, 0)."""
    question = linear(
        torch.tensor([[1.0, 2.0], [-3.0, 4.0]]),
        torch.tensor([[1.0, 1.0], [2.0, 0.0]]),
        torch.tensor([[0.0, 1.0], [0, 0]]),
    )
    assert map_of(question, "gradient").scores == pytest.approx([5**0.5, 5.0])
    for method in ("input-x-gradient", "integrated-gradients", "occlusion"):
        assert map_of(question, method).scores == pytest.approx([1.0, -6.0])


def test_scores_that_miss_their_sum_are_remarked_on() -> None:
    """A step function has no slope anywhere, but its ends differ by 10."""
    question = linear(torch.ones(1, 1), torch.ones(1, 1))
    step = Question(
        ["0"], "yes", question.inputs, question.baseline, lambda x: 0 * x.sum((1, 2)) + 10 * (x > 0.5).sum((1, 2)), None
    )
    (remark,) = integrated_gradients(step).remarks
    assert remark == "After 800 steps the scores add up to 0, but log p differs by 10; do not trust this map."
    assert not integrated_gradients(question).remarks


def test_steps_are_doubled_until_the_scores_add_up() -> None:
    """A steep sigmoid rises within a hundredth of the way, where 50 steps have one place or none."""
    question = linear(torch.ones(1, 1), torch.ones(1, 1))
    steep = replace(question, log_probability=lambda x: 10 * torch.sigmoid(500 * (x.sum((1, 2)) - 0.3)))
    assert "After 50 steps" in integrated_gradients(steep, most=50).remarks[0]
    found = integrated_gradients(steep)
    assert not found.remarks
    assert found.scores == pytest.approx([10], rel=0.05)


def test_copies_are_few_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many steps there are, and the scores are those of all copies together."""
    inputs, sizes = torch.tensor([[1.0, 2.0], [0.5, -1.0]], dtype=torch.float64), []

    def log_probability(copies: torch.Tensor) -> torch.Tensor:
        sizes.append(len(copies))
        return copies.prod(1).sum(1)

    question = replace(linear(inputs, inputs), log_probability=log_probability)
    together = integrated_gradients(question).scores
    assert max(sizes) == 50
    monkeypatch.setattr(maps, "_AT_ONCE", 14)
    sizes.clear()
    assert integrated_gradients(question).scores == pytest.approx(together, rel=1e-12)
    assert max(sizes) == 7


@pytest.mark.one_in(4)
@pytest.mark.parametrize("family", ASKED)
def test_a_question_of_the_inputs_is_the_plain_run(family: str, question_of: Callable[[str], Question]) -> None:
    """Copies do not influence each other, and leaving nothing out changes nothing."""
    question = question_of(family)
    with torch.no_grad():
        one = question.log_probability(question.inputs[None])
        three = question.log_probability(torch.stack([question.baseline, question.inputs, question.baseline]))
    if question.without is not None:
        assert float(one) == pytest.approx(question.without([]), abs=1e-12)
    assert float(three[1]) == pytest.approx(float(one), abs=1e-12)
    assert float(three[0]) != pytest.approx(float(one), abs=1e-9)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("family", ASKED)
def test_integrated_gradients_add_up(family: str, question_of: Callable[[str], Question]) -> None:
    question = question_of(family)
    found = integrated_gradients(question, steps=100)
    with torch.no_grad():
        ends = question.log_probability(torch.stack([question.inputs, question.baseline]))
    assert sum(found.scores) == pytest.approx(float(ends[0] - ends[1]), rel=0.02, abs=0.005)  # ReLUs have kinks
    assert not found.remarks
    assert len(found.scores) == len(found.names) == len(question.inputs)


@pytest.mark.one_in(4)
@pytest.mark.filterwarnings("ignore:Input Tensor 0 did not already require gradients")
@pytest.mark.parametrize("family", ASKED)
def test_maps_equal_those_of_captum(family: str, question_of: Callable[[str], Question]) -> None:
    attr = pytest.importorskip("captum.attr")
    question = question_of(family)
    inputs, baseline = question.inputs[None].clone(), question.baseline[None]
    units = torch.arange(len(question.inputs))[None, :, None].expand_as(inputs)
    expected = {
        "gradient": attr.Saliency(question.log_probability).attribute(inputs, abs=False)[0].norm(dim=1),
        "input-x-gradient": _input_x_gradient(attr, question),
        "integrated-gradients": attr.IntegratedGradients(question.log_probability)
        .attribute(inputs, baseline, n_steps=50)[0]
        .sum(1),
        "occlusion": attr.FeatureAblation(question.log_probability).attribute(inputs, baseline, feature_mask=units)[
            0, :, 0
        ],
    }
    for method, scores in expected.items():
        by_50_steps = method == "integrated-gradients"
        own = integrated_gradients(question, most=50) if by_50_steps else map_of(question, method)
        found = torch.tensor(own.scores, dtype=torch.float64)
        torch.testing.assert_close(found, scores.detach(), check_dtype=False)


def _input_x_gradient(attr: Any, question: Question) -> Tensor:
    """Return captum's input × gradient; it knows no baseline, so one is taken off its input."""
    log_probability, baseline = question.log_probability, question.baseline[None]
    if not baseline.any():
        return attr.InputXGradient(log_probability).attribute(question.inputs[None].clone())[0].sum(1)
    shifted = attr.InputXGradient(lambda inputs: log_probability(inputs + baseline))
    return shifted.attribute(question.inputs[None] - baseline)[0].sum(1)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("family", ASKED)
def test_leaving_one_out_is_reading_without_it(family: str, question_of: Callable[[str], Question]) -> None:
    question = question_of(family)
    if question.without is None:
        with pytest.raises(Fault, match=r"; use occlusion\.$"):
            map_of(question, "leave-one-out")
        return
    scores = map_of(question, "leave-one-out").scores
    assert scores[1] == pytest.approx(question.without([]) - question.without([1]))
    with pytest.raises(Fault, match="keep at least one"):
        question.without(range(len(question.names)))
