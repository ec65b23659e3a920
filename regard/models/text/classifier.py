"""Base of the networks that classify texts."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import torch
from jaxtyping import Float
from torch import Tensor, nn

from regard.models.text.reader import Reader
from regard.models.text.texts import TextRows
from regard.models.text.word_inputs import WordInputs


class Classifier(nn.Module, ABC):
    """Network from texts to log-probabilities of classes; by default it reads texts of any length, without marks."""

    counts_ngrams: ClassVar[bool] = False  # True if it is built for the n-grams of its training texts

    @property
    def inputs(self) -> WordInputs | None:
        """Word vectors that may be pretrained; None if it has none."""
        return None

    @property
    def around(self) -> tuple[list[str], list[str]]:
        """The marks that it puts before a text and after it, as shown to users."""
        return [], []

    @abstractmethod
    def answer(self, texts: TextRows) -> Float[Tensor, "batch class"]:
        """Return the log-probabilities of the classes."""

    @abstractmethod
    def multiplications(self, length: int) -> int:
        """Return the multiplications for classifying a text of `length` words."""

    def layer_states(self, texts: TextRows) -> list[Float[Tensor, "batch time depth"]]:
        """Return the word vectors, layer by layer, if it has any."""
        return []

    def fit(self, texts: TextRows) -> TextRows:
        """Return the parts of the texts that are read."""
        return texts

    def most_tokens(self, second: int | None = None) -> int | None:
        """Return the most tokens of a text that can be read next to `second` tokens of another; None: no limit."""
        return None

    def penalty(self) -> Float[Tensor, ""] | float:
        """Return the penalty added to the loss of each text."""
        return 0.0

    def facts(self) -> dict[str, Any]:
        """Return facts about its size to show users, besides its classes and words."""
        return {}


class TextClassifier(Classifier):
    """log softmax(W s + b), where s is a reader's vector of the text."""

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
