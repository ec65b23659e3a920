"""Places whose states can be compared between an input and the training data, for each kind of model.

A place is a written token (the decoder's state before it), a word of a source, the end of a prompt, or a whole text.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from regard.base.faults import TextFault
from regard.data.tokenisers.tokeniser import Tokeniser
from regard.seeing.training_texts import TrainingText
from regard.viewing.examples import CLOSE, OPEN

_END = "end"


class MarkedPlace(NamedTuple):
    """A place in a training example, as people read it: text and answer with a mark, and what follows there."""

    text: str
    answer: str
    followed: str


class Asked(NamedTuple):
    """A place of the input: its name, and its state."""

    name: str
    state: Tensor


class Places(Protocol):
    """Places of inputs and of training texts that can be compared."""

    kind: str  # what a place is, as the name of a column; empty for whole texts

    def asked(self) -> list[Asked]:
        """Return the places of the input."""

    def read(self, texts: Sequence[TrainingText]) -> list[Tensor]:
        """Return the states (place, width) of every text."""

    def fits(self, text: TrainingText) -> bool:
        """Return True if the model can read the text."""

    def mark(self, text: TrainingText, place: int) -> MarkedPlace:
        """Return a place of a training text for people."""


@dataclass(frozen=True)
class Prompts:
    """Contexts of a language model: the end of a prompt, and every place of the training text."""

    task: Any
    text: str
    kind = "token"

    def asked(self) -> list[Asked]:
        scores = self.task.foresee(self.task.read([self.text]))[0]
        (name,) = token_names(self.task.tokeniser, [int(scores.argmax())])
        return [Asked(name, self.read([TrainingText(self.text)])[0][-1])]

    def read(self, texts: Sequence[TrainingText]) -> list[Tensor]:
        return [text.layers[max(text.layers)].float() for text in _embed(self.task, texts)]

    def fits(self, text: TrainingText) -> bool:
        return _is_readable(self.task, text)

    def mark(self, text: TrainingText, place: int) -> MarkedPlace:
        tokeniser, (row,) = self.task.tokeniser, self.task.read([text.text]).tokens
        tokens = [*row, self.task.end]
        return MarkedPlace(mark_token(tokeniser, tokens, place + 1), "", token_names(tokeniser, tokens)[place + 1])


@dataclass(frozen=True)
class WholeTexts:
    """Texts as a whole, by the mean of their last states; a classifier's texts have labels."""

    task: Any
    text: str
    kind = ""

    def asked(self) -> list[Asked]:
        return [Asked(self.text, self.read([TrainingText(self.text)])[0][0])]

    def read(self, texts: Sequence[TrainingText]) -> list[Tensor]:
        return [text.sentence[max(text.layers)].float()[None] for text in _embed(self.task, texts)]

    def fits(self, text: TrainingText) -> bool:
        return _is_readable(self.task, text)

    def mark(self, text: TrainingText, place: int) -> MarkedPlace:
        return MarkedPlace(text.text, text.answer, "")


def _embed(task: Any, texts: Sequence[TrainingText]) -> list[Any]:
    vectors: list[Any] = task.embed(task.read([text.text for text in texts]))
    return vectors


def _is_readable(task: Any, text: TrainingText) -> bool:
    try:
        (vectors,) = _embed(task, [text])
    except TextFault:
        return False
    return bool(len(vectors.text.tokens))


def token_names(tokeniser: Tokeniser, tokens: Sequence[int]) -> list[str]:
    """Return tokens by name; the end by a word."""
    pieces = tokeniser.pieces(tokens)
    return [
        _END if token == tokeniser.end else piece.replace("▁", " ").strip() or piece
        for token, piece in zip(tokens, pieces, strict=True)
    ]


def mark_token(tokeniser: Tokeniser, tokens: Sequence[int], place: int) -> str:
    """Return the text of tokens with a mark around one of them; the last is the end."""
    before, through, whole = (tokeniser.decode(tokens[:last]) for last in (place, place + 1, len(tokens)))
    if place + 1 == len(tokens):
        return f"{whole} {OPEN}{_END}{CLOSE}"
    if not (through.startswith(before) and whole.startswith(through)):  # part of a letter
        return whole
    token = through[len(before) :]
    space = token[: len(token) - len(token.lstrip())]
    return f"{before}{space}{OPEN}{token.lstrip()}{CLOSE}{whole[len(through) :]}"


def joined(states: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
    """Return states of several texts in one tensor (text, place, width), and which of them are real."""
    real = pad_sequence([torch.ones(len(own), dtype=torch.bool) for own in states], batch_first=True)
    return pad_sequence(list(states), batch_first=True), real
