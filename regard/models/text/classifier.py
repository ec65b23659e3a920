"""Networks that give a text its class, and what each says of how it reads."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import torch
from jaxtyping import Float
from torch import Tensor, nn

from regard.models.text.reader import Reader
from regard.models.text.texts import TextRows
from regard.models.text.word_inputs import WordInputs


class Classifier(nn.Module, ABC):
    """Texts in, log-probabilities of classes out; without more it reads texts of any length, unmarked."""

    counts_ngrams: ClassVar[bool] = False  # whether it is built for the n-grams of its training texts

    @property
    def inputs(self) -> WordInputs | None:
        """Vectors of words that others may have made ready; None where there are none."""
        return None

    @property
    def around(self) -> tuple[list[str], list[str]]:
        """The marks that it puts before a text, and behind each text, as people see them."""
        return [], []

    @abstractmethod
    def answer(self, texts: TextRows) -> Float[Tensor, "batch class"]:
        """Return the log-probabilities of the classes."""

    @abstractmethod
    def multiplications(self, length: int) -> int:
        """Return how many the class of a text of so many words takes."""

    def layer_states(self, texts: TextRows) -> list[Float[Tensor, "batch time depth"]]:
        """Return the vectors of the words, layer by layer, where it has such."""
        return []

    def fit(self, texts: TextRows) -> TextRows:
        """Return the texts as far as they are read."""
        return texts

    def most_tokens(self, second: int | None = None) -> int | None:
        """Return the most tokens of a text that can be read, next to a second one of so many; None: any number."""
        return None

    def penalty(self) -> Float[Tensor, ""] | float:
        """Return what is added to the loss of each text."""
        return 0.0

    def facts(self) -> dict[str, Any]:
        """Return what people are told of its size, beyond its classes and words."""
        return {}


class TextClassifier(Classifier):
    """log softmax(W s + b), where s is what a network makes of a text."""

    def __init__(self, reader: Reader, classes: int) -> None:
        super().__init__()
        self.reader = reader
        self.out = nn.Linear(reader.width, classes)

    @property
    def inputs(self) -> WordInputs | None:
        return self.reader.inputs

    @property
    def around(self) -> tuple[list[str], list[str]]:
        return self.reader.around

    def answer(self, texts: TextRows) -> Float[Tensor, "batch class"]:
        return torch.log_softmax(self.out(self.reader.summary(texts)), dim=-1)

    def multiplications(self, length: int) -> int:
        return self.reader.multiplications(length) + self.out.weight.numel()

    def layer_states(self, texts: TextRows) -> list[Float[Tensor, "batch time depth"]]:
        return self.reader.layer_states(texts)

    def fit(self, texts: TextRows) -> TextRows:
        return self.reader.fit(texts)

    def most_tokens(self, second: int | None = None) -> int | None:
        return self.reader.most_tokens(second)
