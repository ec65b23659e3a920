"""The class of a text, from the one vector that a network makes of it."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from regard.models.text.reader import Reader
from regard.models.text.texts import TextRows


class TextClassifier(nn.Module):
    """log softmax(W s + b), where s is what a network makes of a text."""

    def __init__(self, reader: Reader, classes: int) -> None:
        super().__init__()
        self.reader = reader
        self.out = nn.Linear(reader.width, classes)

    def answer(self, texts: TextRows) -> Float[Tensor, "batch class"]:
        """The log-probabilities of the classes."""
        return torch.log_softmax(self.out(self.reader.summary(texts)), dim=-1)

    def multiplications(self, length: int) -> int:
        """How many the class of a text of so many words takes."""
        return self.reader.multiplications(length) + self.out.weight.numel()
