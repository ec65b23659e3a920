"""Places whose states can be compared between an input and the training data, for each kind of model.

A place is a written token (the decoder's state before it), a word of a source, the end of a prompt, or a whole text.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from regard.base.faults import Fault, TextFault
from regard.base.figures import quantity
from regard.data.tokenisers.tokeniser import Tokeniser
from regard.seeing.gazes import Foresees
from regard.seeing.sentences import Translator
from regard.seeing.training_texts import TrainingText
from regard.tasks.translation.forcing import force_batch
from regard.tasks.translation.lengths import check_length, target_tokens
from regard.tasks.translation.objectives import forced
from regard.tasks.translation.task import Translation
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
class WrittenTokens:
    """Tokens that a translator writes, by the decoder's state before each (Khandelwal et al. 2021)."""

    task: Translation
    text: str
    written: Sequence[int]
    at: int | None = None
    kind = "token"

    def asked(self) -> list[Asked]:
        names = _names(self.task.target_for(self.text), [*self.written, self.task.end])
        states = self._states(force_batch(self.task, [self.text], [self.written]))[0]
        return _at([Asked(*place) for place in zip(names, states, strict=True)], self.at, "token")

    def read(self, texts: Sequence[TrainingText]) -> list[Tensor]:
        return self._states(self.task.pair_up([(text.text, text.answer) for text in texts]))

    def _states(self, batch: Any) -> list[Tensor]:
        states = forced(self.task.model, batch).states.float().cpu()
        return list(states.split(self.task.extents(batch)["target"].tolist()))

    def fits(self, text: TrainingText) -> bool:
        longest = self.task.model.options.longest
        both = self.task.source_for(text.text).encode(text.text), self.task.target_for(text.text).encode(text.answer)
        return all(len(tokens) < longest for tokens in both) and bool(both[0])

    def mark(self, text: TrainingText, place: int) -> MarkedPlace:
        tokeniser = self.task.target_for(text.text)
        tokens = [*tokeniser.encode(text.answer.strip()), self.task.end]
        return MarkedPlace(text.text, _marked(tokeniser, tokens, place), _names(tokeniser, tokens)[place])


@dataclass(frozen=True)
class SourceWords:
    """Words that a translator reads, by the encoder's last states."""

    task: Translation
    text: str
    at: int | None = None
    kind = "word"

    def asked(self) -> list[Asked]:
        (vectors,) = self.task.embed(self.task.read([self.text]))
        states = vectors.words[max(vectors.layers)].float()
        return _at([Asked(*place) for place in zip(vectors.text.words, states, strict=True)], self.at, "word")

    def read(self, texts: Sequence[TrainingText]) -> list[Tensor]:
        vectors = self.task.embed(self.task.read([text.text for text in texts]))
        return [text.words[max(text.layers)].float() for text in vectors]

    def fits(self, text: TrainingText) -> bool:
        return 0 < len(self.task.source_for(text.text).encode(text.text)) < self.task.model.options.longest

    def mark(self, text: TrainingText, place: int) -> MarkedPlace:
        (vectors,) = self.task.embed(self.task.read([text.text]))
        words = list(vectors.text.words)
        marked = " ".join([*words[:place], f"{OPEN}{words[place]}{CLOSE}", *words[place + 1 :]])
        return MarkedPlace(marked, text.answer, words[place])


@dataclass(frozen=True)
class Prompts:
    """Contexts of a language model: the end of a prompt, and every place of the training text."""

    task: Any
    text: str
    kind = "token"

    def asked(self) -> list[Asked]:
        scores = self.task.foresee(self.task.read([self.text]))[0]
        (name,) = _names(self.task.tokeniser, [int(scores.argmax())])
        return [Asked(name, self.read([TrainingText(self.text)])[0][-1])]

    def read(self, texts: Sequence[TrainingText]) -> list[Tensor]:
        return [text.layers[max(text.layers)].float() for text in _embed(self.task, texts)]

    def fits(self, text: TrainingText) -> bool:
        return _is_readable(self.task, text)

    def mark(self, text: TrainingText, place: int) -> MarkedPlace:
        tokeniser, (row,) = self.task.tokeniser, self.task.read([text.text]).tokens
        tokens = [*row, self.task.end]
        return MarkedPlace(_marked(tokeniser, tokens, place + 1), "", _names(tokeniser, tokens)[place + 1])


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


def places_of(model: Any, text: str, states: str | None, target: str | None, at: int | None) -> Places:
    """Return the places of an input that a model is asked about; refuse options that it has no use for."""
    if not text.strip():
        raise Fault("There is no text to look at; give a sentence.")
    if isinstance(model.task, Translation):
        return _of_translator(model, text.strip(), states, target, at)
    options = {"--states": states, "--target": target, "--at": at}
    if given := next((name for name, value in options.items() if value is not None), None):
        raise Fault(f"{given} is for translators; omit it for this model.")
    task = model.task
    return Prompts(task, text) if isinstance(task, Foresees) else WholeTexts(task, text)


def _of_translator(model: Translator, text: str, states: str | None, target: str | None, at: int | None) -> Places:
    check_length(model.task, text, 0)
    has_decoder = model.task.model.finds_outputs_by == "decoder"
    if states == "encoder" or (states is None and not has_decoder):
        if target is not None:
            raise Fault("--target is for the decoder's states; omit it with --states encoder.")
        return SourceWords(model.task, text, at)
    if not has_decoder:
        raise Fault("This model has no decoder that writes token by token; give --states encoder.")
    if target is None:
        written = model.search_tokens(text)
    else:
        written = target_tokens(model.task, target, "target", model.task.target_for(text))
    return WrittenTokens(model.task, text, written, at)


def _at(places: list[Asked], at: int | None, unit: str) -> list[Asked]:
    """Return all places, or the one after `at` others."""
    if at is None:
        return places
    if at >= len(places):
        raise Fault(f"There is no place after {at} {unit}s; there {_are(len(places), unit)}, the first after 0.")
    return [places[at]]


def _are(count: int, unit: str) -> str:
    return f"{'is' if count == 1 else 'are'} {quantity(count, unit)}"


def _embed(task: Any, texts: Sequence[TrainingText]) -> list[Any]:
    vectors: list[Any] = task.embed(task.read([text.text for text in texts]))
    return vectors


def _is_readable(task: Any, text: TrainingText) -> bool:
    try:
        (vectors,) = _embed(task, [text])
    except TextFault:
        return False
    return bool(len(vectors.text.tokens))


def _names(tokeniser: Tokeniser, tokens: Sequence[int]) -> list[str]:
    """Return tokens by name; the end by a word."""
    pieces = tokeniser.pieces(tokens)
    return [
        _END if token == tokeniser.end else piece.replace("▁", " ").strip() or piece
        for token, piece in zip(tokens, pieces, strict=True)
    ]


def _marked(tokeniser: Tokeniser, tokens: Sequence[int], place: int) -> str:
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
