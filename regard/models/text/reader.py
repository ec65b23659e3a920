"""Shared by networks that make one vector of a text."""

from abc import ABC, abstractmethod
from typing import ClassVar

from jaxtyping import Float
from torch import Tensor, nn

from regard.models.text.texts import TextRows
from regard.models.text.word_inputs import WordInputs


class Reader(nn.Module, ABC):
    """A network over the vectors of words; what it makes of a text, or of each word, is `width` wide."""

    counts_ngrams: ClassVar[bool] = False
    inputs: WordInputs | None  # none where its vectors of tokens are its own
    width: int

    @abstractmethod
    def layer_states(self, texts: TextRows) -> list[Float[Tensor, "batch time depth"]]:
        """The vectors of the words as they are read, and then what every layer makes of them in their context."""

    @abstractmethod
    def summary(self, texts: TextRows) -> Float[Tensor, "batch width"]:
        """One vector for each text."""

    def fit(self, texts: TextRows) -> TextRows:
        """The texts as far as they are read: the middle of one that is too long may be left out."""
        return texts

    def most_tokens(self, second: int | None = None) -> int | None:
        """The most tokens of a text that can be read, beside a second one of so many; None: any number."""
        return None

    @property
    def around(self) -> tuple[list[str], list[str]]:
        """The marks that it puts before a text, and behind each text, as people see them."""
        return [], []

    @abstractmethod
    def multiplications(self, length: int) -> int:
        """Return the multiplications for reading a text of `length` words."""

    def matrices(self) -> int:
        """The numbers in all of its matrices, but for the vectors of words, which are looked up."""
        assert self.inputs is not None
        looked_up = [*self.inputs.tables]
        if self.inputs.contexts is not None:
            looked_up.append(self.inputs.contexts.bilm.embedding.weight)
        every = sum(weights.numel() for weights in self.parameters() if weights.dim() == 2)
        return every - sum(table.numel() for table in looked_up)


class OrderedReader(Reader):
    """One that reads words in their order, so that each has a state of its own."""

    @abstractmethod
    def states(self, texts: TextRows) -> Float[Tensor, "batch time width"]:
        """Return the state at each word."""
