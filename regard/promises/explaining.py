"""Promise about decisions: a family that can be asked why describes its decision faithfully."""

import torch

from regard.base.faults import Fault
from regard.promises.asking import check_same
from regard.promises.trial import Broken, DoesNotApply, Trial
from regard.seeing.why.decision import Question
from regard.seeing.why.maps import log_probabilities, map_of
from regard.seeing.why.question import ask


def decisions_can_be_explained(trial: Trial) -> None:
    """A decision is a deterministic, differentiable function of its units, and all units together are the plain run."""
    if not trial.inputs:
        raise DoesNotApply("its toy has no inputs")
    try:
        question = ask(trial.model, trial.inputs[0])
    except Fault as reason:
        raise DoesNotApply(str(reason)) from None
    inputs, baseline = question.inputs, question.baseline
    if inputs.ndim != 2 or len(inputs) != len(question.names):
        raise Broken(f"its inputs are {tuple(inputs.shape)}, but there are {len(question.names)} units")
    if baseline.shape != inputs.shape:
        raise Broken(f"its baseline is {tuple(baseline.shape)}, but its inputs are {tuple(inputs.shape)}")
    whole = _log_probability(question)
    if not -float("inf") < whole <= 1e-6:
        raise Broken(f"the log-probability of what it chose is {whole}")
    if _log_probability(question) != whole:
        raise Broken("the same decision has another probability when it is asked again")
    together = log_probabilities(question, torch.stack([baseline, inputs, baseline]))[1]
    check_same(float(together), whole, "the log-probability among other copies")
    if question.without is not None:
        check_same(question.without([]), whole, "the log-probability with nothing taken out")
    try:
        scores = torch.tensor(map_of(question, "gradient").scores)
    except RuntimeError as error:
        raise Broken(f"its log-probability has no gradient: {next(iter(str(error).splitlines()), '')}") from None
    if not scores.isfinite().all():
        raise Broken("the gradient of its log-probability is not finite")


def _log_probability(question: Question) -> float:
    found = log_probabilities(question, question.inputs[None])
    if found.shape != (1,):
        raise Broken(f"log_probability returns {tuple(found.shape)} for one copy, expected (1,)")
    return float(found)
