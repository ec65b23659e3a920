"""Places of translators: tokens that they write, by the decoder, and words that they read, by the encoder."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from regard.base.faults import Fault
from regard.base.figures import quantity
from regard.seeing.nearest.places import Asked, MarkedPlace, Places, mark_token, token_names
from regard.seeing.sentences import Translator
from regard.seeing.training_texts import TrainingText
from regard.tasks.translation.forcing import force_batch
from regard.tasks.translation.lengths import check_length, target_tokens
from regard.tasks.translation.objectives import forced
from regard.tasks.translation.task import Translation
from regard.viewing.examples import CLOSE, OPEN


@dataclass(frozen=True)
class WrittenTokens:
    """Tokens that a translator writes, by the decoder's state before each (Khandelwal et al. 2021)."""

    task: Translation
    text: str
    written: Sequence[int]
    at: int | None = None
    kind = "token"

    def asked(self) -> list[Asked]:
        names = token_names(self.task.target_for(self.text), [*self.written, self.task.end])
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
        return MarkedPlace(text.text, mark_token(tokeniser, tokens, place), token_names(tokeniser, tokens)[place])


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


def is_translator(task: Any) -> bool:
    """Return True for a task of translation."""
    return isinstance(task, Translation)


def translator_places(model: Translator, text: str, states: str | None, target: str | None, at: int | None) -> Places:
    """Return the tokens that a translator writes, or the words that it reads; refuse what it does not have."""
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
