"""Maps: a score for each unit of an input, larger where the unit mattered more for a decision."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from numpy.polynomial.legendre import leggauss
from torch import Tensor

from regard.base.faults import Fault
from regard.loading import Loaded
from regard.seeing.why.decision import Question
from regard.seeing.why.entrance import differentiable
from regard.seeing.why.gazing import USUAL, WhichAttention, attention_scores, flow_scores, rollout_scores
from regard.seeing.why.question import ask

STEPS, MOST_STEPS = 50, 800  # of integrated gradients: at first, and where doubling them ends
TOLERANCE = 0.05  # share by which their sum may miss the difference of log p
_AT_ONCE = 4096  # units of all copies in one pass


@dataclass(frozen=True)
class Map:
    """The scores of one method; larger: the unit mattered more for what was chosen."""

    method: str
    names: Sequence[str]
    chosen: str
    scores: Sequence[float]
    remarks: Sequence[str] = field(default=())  # what a reader should know, such as a sum that is not reached


def _parts(question: Question, copies: Tensor) -> Iterator[Tensor]:
    """Return copies of the input in parts that fit into memory together."""
    return iter(copies.split(_rows_at_once(question)))


def _rows_at_once(question: Question) -> int:
    return max(1, _AT_ONCE // len(question.names))


def _gradients(question: Question, copies: Tensor) -> Tensor:
    """Return ∂ log p / ∂x at each copy."""
    found = []
    for part in _parts(question, copies):
        with differentiable():
            inputs = part.detach().requires_grad_()
            (gradient,) = torch.autograd.grad(question.log_probability(inputs).sum(), inputs)
        found.append(gradient)
    return torch.cat(found)


@torch.no_grad()
def log_probabilities(question: Question, copies: Tensor) -> Tensor:
    """Return log p of the chosen output for each copy of the input (copies, unit, depth), in parts."""
    return torch.cat([question.log_probability(part) for part in _parts(question, copies)])


def gradient(question: Question) -> Map:
    """‖∂ log p / ∂x_i‖₂ for each unit i (Simonyan et al. 2014)."""
    return _map(question, "gradient", _gradients(question, question.inputs[None])[0].norm(dim=1))


def input_x_gradient(question: Question) -> Map:
    """(x_i − b_i) · ∂ log p / ∂x_i (Shrikumar et al. 2017); b is the baseline, usually zero."""
    slopes = _gradients(question, question.inputs[None])[0]
    return _map(question, "input-x-gradient", ((question.inputs - question.baseline) * slopes).sum(1))


def integrated_gradients(question: Question, steps: int = STEPS, most: int = MOST_STEPS) -> Map:
    """(x_i − b_i) · mean of the gradients on the straight line from baseline to input (Sundararajan et al. 2017).

    The integral is taken by Gauss–Legendre quadrature. The scores add up to log p(x) − log p(b) if there are enough
    steps. While they miss it by more than `TOLERANCE` of it, or of one nat if it is smaller, the steps are doubled, up
    to `most`; if that is not enough, a remark says so.
    """
    baseline, whole = log_probabilities(question, torch.stack([question.baseline, question.inputs])).tolist()
    while True:
        scores = ((question.inputs - question.baseline) * _mean_gradient(question, steps)).sum(1)
        remarks = _incomplete(float(scores.sum()), whole - baseline, steps)
        if not remarks or 2 * steps > most:
            return replace(_map(question, "integrated-gradients", scores), remarks=remarks)
        steps *= 2


def _mean_gradient(question: Question, steps: int) -> Tensor:
    """Return the mean of the gradients from baseline to input; only a part of the copies is in memory at once."""
    mean, rows = torch.zeros_like(question.inputs), _rows_at_once(question)
    places, weights = (torch.as_tensor(values).to(mean)[:, None, None] for values in _quadrature(steps))
    for at, weight in zip(places.split(rows), weights.split(rows), strict=True):
        copies = question.baseline + at * (question.inputs - question.baseline)
        mean += (weight * _gradients(question, copies)).sum(0)
    return mean


def _incomplete(total: float, difference: float, steps: int) -> list[str]:
    """Return a remark if the scores do not add up to the difference that they share out."""
    if abs(total - difference) <= TOLERANCE * max(1.0, abs(difference)):
        return []
    return [
        f"After {steps} steps the scores add up to {total:.3g}, but log p differs by {difference:.3g}; "
        "do not trust this map."
    ]


def occlusion(question: Question) -> Map:
    """Log p − log p with the baseline in place of unit i (Zeiler and Fergus 2014)."""
    lost = [log_probabilities(question, part) for part in _occluded(question)]
    return _map(question, "occlusion", log_probabilities(question, question.inputs[None]) - torch.cat(lost))


def _occluded(question: Question) -> Iterator[Tensor]:
    """Yield copies of the input, each with another unit occluded, as many as fit into memory together."""
    for units in torch.arange(len(question.names)).split(_rows_at_once(question)):
        copies = question.inputs.expand(len(units), -1, -1).clone()
        copies[torch.arange(len(units)), units] = question.baseline[units]
        yield copies


def leave_one_out(question: Question) -> Map:
    """Log p − log p of the input without unit i (Li et al. 2016)."""
    if question.without is None:
        raise Fault(question.inseparable or "No unit of this input can be left out; use occlusion.")
    whole = float(log_probabilities(question, question.inputs[None]))
    scores = [whole - question.without([unit]) for unit in range(len(question.names))]
    return Map("leave-one-out", question.names, question.chosen, scores)


def attention(question: Question, which: WhichAttention = USUAL) -> Map:
    """Weights of one block from the places that decide, as the mean of its heads or of one head."""
    return _gaze_map(question, "attention", attention_scores(question, which))


def rollout(question: Question) -> Map:
    """Products of (A + I) / 2 through all blocks (Abnar and Zuidema 2020, section 3)."""
    return _gaze_map(question, "rollout", rollout_scores(question))


def flow(question: Question) -> Map:
    """Maximum flow through the graph of all blocks, with (A + I) / 2 as capacities (Abnar and Zuidema 2020)."""
    return _gaze_map(question, "flow", flow_scores(question))


METHODS: dict[str, Callable[[Question], Map]] = {
    "attention": attention,
    "rollout": rollout,
    "flow": flow,
    "gradient": gradient,
    "input-x-gradient": input_x_gradient,
    "integrated-gradients": integrated_gradients,
    "occlusion": occlusion,
    "leave-one-out": leave_one_out,
}


def explain(
    model: Loaded,
    item: Any,
    method: str,
    output: str | None = None,
    place: int | None = None,
    word: str | None = None,
) -> Map:
    """Return the map of one method for a decision, chosen as in `ask`."""
    return map_of(ask(model, item, output, place, word), method)


def map_of(question: Question, method: str, which: WhichAttention = USUAL) -> Map:
    """Return the map of one method by name; `which` chooses a block and head of attention."""
    if method not in METHODS:
        raise Fault(f"There is no method '{method}'; the methods are {', '.join(METHODS)}.")
    if which != USUAL:
        if method != "attention":
            raise Fault(f"A layer and a head choose an attention; omit them for {method}.")
        return attention(question, which)
    return METHODS[method](question)


def every_map(question: Question) -> tuple[list[Map], dict[str, str]]:
    """Return the maps of all methods that have a meaning here, and the reasons why the others have none."""
    maps, refusals = [], {}
    for name, method in METHODS.items():
        try:
            maps.append(method(question))
        except Fault as fault:
            refusals[name] = str(fault)
    return maps, refusals


def _quadrature(steps: int) -> tuple[Any, Any]:
    """Return the places from 0 to 1 and weights of Gauss–Legendre quadrature."""
    places, weights = leggauss(steps)
    return (places + 1) / 2, weights / 2


def _gaze_map(question: Question, method: str, scores: np.ndarray) -> Map:
    return Map(method, question.names, question.chosen, scores.tolist())


def _map(question: Question, method: str, scores: Tensor) -> Map:
    return Map(method, question.names, question.chosen, scores.detach().double().cpu().tolist())
