"""Base of the networks that make one vector of a text."""

from abc import ABC, abstractmethod
from typing import ClassVar

from jaxtyping import Float
from torch import Tensor, nn

from regard.models.text.texts import TextRows
from regard.models.text.word_inputs import WordInputs


class Reader(nn.Module, ABC):
    """A network over word vectors; its vector for a text, or for each word, is `width` wide."""

    counts_ngrams: ClassVar[bool] = False
    inputs: WordInputs | None  # None if it has its own token embeddings
    width: int

    @abstractmethod
    def layer_states(self, texts: TextRows) -> list[Float[Tensor, "batch time depth"]]:
        """Return the input vectors of the words, then the output of every layer in context."""

    @abstractmethod
    def summary(self, texts: TextRows) -> Float[Tensor, "batch width"]:
        """Return one vector for each text."""

    def fit(self, texts: TextRows) -> TextRows:
        """Return the parts of the texts that are read: the middle of a text that is too long may be left out."""
        return texts

    def most_tokens(self, second: int | None = None) -> int | None:
        """Return the most tokens of a text that can be read next to `second` tokens of another; None: no limit."""
        return None

    @property
    def around(self) -> tuple[list[str], list[str]]:
        """The marks that it puts before a text and after it, as shown to users."""
        return [], []

    @abstractmethod
    def multiplications(self, length: int) -> int:
        """Return the multiplications for reading a text of `length` words."""

    def matrices(self) -> int:
        """Return the number of weights in all matrices except the word vectors, which are looked up."""
        assert self.inputs is not None
        looked_up = [*self.inputs.tables]
        if self.inputs.contexts is not None:
            looked_up.append(self.inputs.contexts.bilm.embedding.weight)
        every = sum(weights.numel() for weights in self.parameters() if weights.dim() == 2)
        return every - sum(table.numel() for table in looked_up)


class OrderedReader(Reader):
    """A reader that reads words in their order, so that each has its own state."""

    @abstractmethod
    def states(self, texts: TextRows) -> Float[Tensor, "batch time width"]:
        """Return the state at each word."""
