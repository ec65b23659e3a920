"""What a network writes label by label, as searches ask for it."""

from collections.abc import Callable, Sequence
from typing import Any

from jaxtyping import Float, Int
from torch import Tensor

from regard.models.online.sounds import Listener
from regard.models.online.steps import OnlineMemory
from regard.models.transcriber import Labelling
from regard.protocols import State

LabelFinder = Callable[[Any], Sequence[Labelling]]  # gives the labels of each sound, from what the network has heard


class LabelSteps:
    """The steps of a network that writes while it hears: each gives the next label, or the end."""

    def __init__(self, model: Listener) -> None:
        self.model, self.begin, self.end = model, model.end, model.end

    def start(self, heard: OnlineMemory) -> State:
        return State(sentence=heard, row=self.model.begin(heard))

    def step(self, tokens: Int[Tensor, " row"], state: State) -> tuple[Float[Tensor, "row token"], State]:
        scores, past = self.model.step(tokens, state.sentence, state.row)
        return scores.float().log_softmax(-1), State(state.sentence, past)

    def limits(self, heard: OnlineMemory) -> Int[Tensor, " sentence"]:
        """As many labels as it takes steps, and the end."""
        return heard.last + 2
