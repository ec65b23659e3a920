"""What all networks share that make one vector of a text."""

from abc import ABC, abstractmethod

from jaxtyping import Float
from torch import Tensor, nn

from regard.models.text.inputs import WordInputs
from regard.models.text.texts import TextRows


class Reader(nn.Module, ABC):
    """A network over the vectors of words; what it makes of a text, or of each word, is `width` wide."""

    inputs: WordInputs
    width: int

    def layer_states(self, texts: TextRows) -> list[Float[Tensor, "batch time depth"]]:
        """The vectors of the words as they are read, and then what every layer makes of them in their context."""
        return [self.inputs(texts.tokens, texts.beside)]

    @abstractmethod
    def summary(self, texts: TextRows) -> Float[Tensor, "batch width"]:
        """One vector for each text."""

    @abstractmethod
    def multiplications(self, length: int) -> int:
        """How many reading a text of so many words takes."""

    def matrices(self) -> int:
        """The numbers in all of its matrices, but for the vectors of words, which are looked up."""
        looked_up = [*self.inputs.tables]
        if self.inputs.contexts is not None:
            looked_up.append(self.inputs.contexts.bilm.embedding.weight)
        every = sum(weights.numel() for weights in self.parameters() if weights.dim() == 2)
        return every - sum(table.numel() for table in looked_up)


class OrderedReader(Reader):
    """One that reads words in their order, so that each has a state of its own."""

    @abstractmethod
    def states(self, texts: TextRows) -> Float[Tensor, "batch time width"]:
        """What is known at each word."""
