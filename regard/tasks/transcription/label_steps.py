"""Stepwise writing of labels, for searches."""

from collections.abc import Callable, Sequence
from typing import Any

from jaxtyping import Float, Int
from torch import Tensor

from regard.models.transcriber import Labelling, LabelWriter
from regard.protocols import State

LabelFinder = Callable[[Any], Sequence[Labelling]]  # returns the labels of each sound, from the network's encoding


class LabelSteps:
    """The steps of a network that writes label by label: each gives the next label, or the end."""

    def __init__(self, model: LabelWriter) -> None:
        self.model, self.begin, self.end = model, model.end, model.end

    def start(self, heard: Any) -> State:
        return State(sentence=heard, row=self.model.begin(heard))

    def step(self, tokens: Int[Tensor, " row"], state: State) -> tuple[Float[Tensor, "row token"], State]:
        scores, past = self.model.step(tokens, state.sentence, state.row)
        return scores.float().log_softmax(-1), State(state.sentence, past)

    def limits(self, heard: Any) -> Int[Tensor, " sentence"]:
        """Return the most labels an output may have, including the end."""
        return self.model.most_tokens(heard)
