"""Several models that write as one: each is Stepwise, and so is the combination.

Their states are tuples in one state, so a search moves the rows of all of them at once.
"""

from collections.abc import Callable, Sequence
from typing import Any, Literal

import torch
from torch import Tensor

from regard.base.faults import Fault
from regard.decoding.hypothesis_scores import Covers
from regard.hardware.cuda_graphs import leaves
from regard.protocols import State, Stepwise


class Ensemble:
    """The mean of several models over one vocabulary.

    With mean "probability" p = (p_1 + … + p_n) / n, a mixture: what one model is sure of stays likely. With mean "log"
    p ∝ (p_1 · … · p_n)^(1/n), normalised: what one model rules out stays ruled out.
    """

    def __init__(self, tasks: Sequence[Stepwise], mean: Literal["probability", "log"] = "probability") -> None:
        if not tasks:
            raise Fault("An ensemble needs at least one model.")
        _check_ends(tasks)
        self.tasks, self.mean = list(tasks), mean
        self.begin, self.end = tasks[0].begin, tasks[0].end

    def start(self, batch: Any) -> State:
        return _side_by_side([task.start(batch) for task in self.tasks])

    def step(self, tokens: Tensor, state: State) -> tuple[Tensor, State]:
        outputs, states = _step_all(self.tasks, tokens, state)
        if self.mean == "log":
            return torch.stack(outputs).mean(dim=0).log_softmax(dim=-1), states
        count = torch.tensor(float(len(outputs)), dtype=outputs[0].dtype, device=outputs[0].device)
        return torch.stack(outputs).logsumexp(dim=0) - count.log(), states

    def coverage(self, state: State) -> Tensor:
        """Return the mean of the models' coverage."""
        parts = zip(self.tasks, _apart(state, len(self.tasks)), strict=True)
        return torch.stack([_coverage(task, part) for task, part in parts]).mean(dim=0)


class Fused:
    """A model fused with a language model: log p + weight · log p_LM, not normalised.

    Shallow fusion (Gülçehre et al. 2015). `context` makes the language model's input from the batch; a model that takes
    the same batches needs none. Sampling uses the softmax of the sum.
    """

    def __init__(
        self,
        task: Stepwise,
        language_model: Stepwise,
        weight: float,
        context: Callable[[Any], Any] = lambda batch: batch,
    ) -> None:
        _check_ends([task, language_model])
        self.tasks, self.weight, self.context = [task, language_model], weight, context
        self.begin, self.end = task.begin, task.end

    def start(self, batch: Any) -> State:
        task, language_model = self.tasks
        return _side_by_side([task.start(batch), language_model.start(self.context(batch))])

    def step(self, tokens: Tensor, state: State) -> tuple[Tensor, State]:
        (log_probabilities, of_language), states = _step_all(self.tasks, tokens, state)
        # Weight zero must mean no influence, even where the language model says -inf.
        return (
            log_probabilities + self.weight * of_language.to(log_probabilities.dtype)
            if self.weight
            else log_probabilities
        ), states

    def coverage(self, state: State) -> Tensor:
        return _coverage(self.tasks[0], _apart(state, 2)[0])


def _check_ends(tasks: Sequence[Stepwise]) -> None:
    pairs = {(task.begin, task.end) for task in tasks}
    if len(pairs) > 1:
        raise Fault("Models that write together need the same begin and end tokens. Combine models with one tokeniser.")


def _side_by_side(states: Sequence[State]) -> State:
    """Join all states on the device of the first: a counting model starts on the CPU and steps anywhere."""
    device = leaves((states[0].sentence, states[0].row))[0].device
    states = [state.to(device) for state in states]
    return State(tuple(state.sentence for state in states), tuple(state.row for state in states))


def _apart(state: State, count: int) -> list[State]:
    return [State(state.sentence[place], state.row[place]) for place in range(count)]


def _step_all(tasks: Sequence[Stepwise], tokens: Tensor, state: State) -> tuple[list[Tensor], State]:
    parts = zip(tasks, _apart(state, len(tasks)), strict=True)
    outputs, states = zip(*(task.step(tokens, part) for task, part in parts), strict=True)
    sizes = [output.shape[-1] for output in outputs]
    if len(set(sizes)) > 1:
        counts = ", ".join(str(size) for size in sizes)
        raise Fault(f"Models that write together need one vocabulary, but these have {counts} tokens.")
    return list(outputs), _side_by_side(states)


def _coverage(task: Stepwise, state: State) -> Tensor:
    if not isinstance(task, Covers):
        raise Fault("One of the combined models does not record its attention. Set coverage_penalty to 0.")
    return task.coverage(state)
