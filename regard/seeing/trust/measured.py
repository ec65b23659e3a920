"""Measure the maps of a trained model against the truth, over many decisions."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from math import exp

import numpy as np
import torch

from regard.base.faults import Fault
from regard.base.progress import Progress, silent
from regard.loading import Loaded
from regard.seeing.trust.agreement import agreement
from regard.seeing.trust.curves import Curves, faithfulness, random_curves
from regard.seeing.trust.report import true_units
from regard.seeing.trust.truths import truth_for
from regard.seeing.why.decision import Question
from regard.seeing.why.maps import METHODS, map_of
from regard.seeing.why.question import ask

RANDOM = "random"  # the name of a map drawn at random
_SURE = 0.5  # a more probable output is the one that the model chooses
_ORDERS = 5  # random orders of each decision


@dataclass(frozen=True)
class MeasuredMaps:
    """Mean figures of each method over the decisions that a model got right; `refused` says why methods are missing."""

    family: str
    truth: str
    asked: int
    right: int
    methods: dict[str, dict[str, float]]
    refused: dict[str, str]


def measure_maps(model: Loaded, count: int, methods: Sequence[str] = (), progress: Progress = silent) -> MeasuredMaps:
    """Measure the methods, by default all, on `count` decisions whose true units are known.

    Decisions that the model got wrong are left out: what matters for a right output says nothing about a wrong one.
    """
    truth = truth_for(model)
    if truth is None:
        raise Fault(f"Nobody knows which units matter for this {model.recipe.family}: its data were not made by rules.")
    figures: dict[str, list[dict[str, float]]] = defaultdict(list)
    refused: dict[str, str] = {}
    asked = right = 0
    for decision in islice(truth.decisions(), count):
        progress("explaining", asked, count)
        asked += 1
        question = ask(model, decision.item, decision.output, decision.place)
        units = true_units(truth, decision.item, question)
        if not units or probability_of(question) < _SURE:
            continue
        right += 1
        chance = random_curves(question, _ORDERS)
        for method in (*(methods or METHODS), RANDOM):
            try:
                scores = scores_of(question, method, [model.recipe.seed, asked])
            except Fault as fault:
                refused[method] = str(fault)
                continue
            figures[method].append(_figures(question, scores, units, chance))
    if not right:
        raise Fault(
            f"None of {asked} decisions was right with a probability of {_SURE} or more; train the model longer."
        )
    means = {
        method: {name: float(np.mean([row[name] for row in rows])) for name in rows[0]}
        for method, rows in figures.items()
    }
    return MeasuredMaps(model.recipe.family, truth.name, asked, right, means, refused)


@torch.no_grad()
def probability_of(question: Question) -> float:
    """Return the probability of what was chosen, given the whole input."""
    return exp(float(question.log_probability(question.inputs[None])))


def scores_of(question: Question, method: str, draw: Sequence[int]) -> Sequence[float]:
    """Return the scores of a method, or random ones, which depend only on `draw`: the run's seed and the decision."""
    if method == RANDOM:
        return list(np.random.default_rng([2, *draw]).uniform(size=len(question.names)))
    return map_of(question, method).scores


def _figures(
    question: Question, scores: Sequence[float], units: frozenset[int], chance: Sequence[Curves]
) -> dict[str, float]:
    """Return the agreement with the truth, its chance level, and each figure of the curves minus that of chance."""
    agrees, found = agreement(scores, units), faithfulness(question, scores, chance).figures()
    above = {name: figure.value - figure.random for name, figure in found.items()}
    return {**agrees.figures(), "share": agrees.share, **above}
