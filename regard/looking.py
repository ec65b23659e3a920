"""From a model and a sentence to matrices with words on both axes."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from regard.attention.watch import Gaze, watching
from regard.data.tokenisers import Tokeniser
from regard.faults import Fault
from regard.model import Model
from regard.viewing.seen import Block, Seen

SIDES = {"cross": ("target", "source"), "encoder": ("source", "source"), "decoder": ("target", "target")}
_NOTHING = "This model has no attention, so there is nothing to look at; it can translate and be scored."

_BYTE = re.compile("<0x([0-9A-F]{2})>")
_LONGEST_CHARACTER = 4  # bytes in UTF-8
_BROKEN = "\ufffd"  # stands for bytes that are no character
_UNSPACED = ("CJK", "IDEOGRAPHIC", "FULLWIDTH", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR", "TIBETAN")


@dataclass(frozen=True)
class Sight:
    """One text read, another written, and every gaze on the way, in tokens."""

    model: Model
    text: str
    written: Sequence[int]
    gazes: Sequence[Gaze]

    @cached_property
    def output(self) -> str:
        return self.model.task.write(self.written)

    @property
    def sides(self) -> list[str]:
        """The sides that this model has attention on."""
        return [side for side in SIDES if self._on(side)]

    def every(self, by_word: bool = True) -> list[Seen]:
        """What was seen on every side there is; a model has one side at least, or cannot be looked at."""
        if not self.sides:
            raise Fault(_NOTHING)
        return [self.seen(side, by_word) for side in self.sides]

    def seen(self, side: str = "cross", by_word: bool = True) -> Seen:
        """What the blocks of one side looked at, between words or between tokens."""
        chosen = self._on(side)
        if not chosen:
            raise Fault(self._lacking(side))
        looks_from, looks_at = SIDES[side]
        rows, of_row = self._axis(looks_from, side, by_word)
        columns, of_column = self._axis(looks_at, side, by_word)
        blocks = [
            Block(gaze.where, _grouped(gaze.weights[0].double().cpu().numpy(), of_row, of_column)) for gaze in chosen
        ]
        return Seen(side, self.output, rows, columns, blocks)

    def _on(self, side: str) -> list[Gaze]:
        return [gaze for gaze in self.gazes if (gaze.looks_from, gaze.looks_at) == SIDES[side]]

    def _axis(self, name: str, side: str, by_word: bool) -> tuple[list[str], list[int]]:
        """What stands on an axis: the tokens that are looked at, or from which the next token is sought."""
        task = self.model.task
        by_word = by_word and not self._is_one_spelled_word(name)
        if name == "source":
            return _labels(task.source, [*task.source.encode(self.text), task.source.end], by_word)
        if side == "decoder":  # a place is named by the token that it reads, not by the one that it writes
            return _labels(task.target, [task.begin, *self.written], by_word)
        return _labels(task.target, [*self.written, task.end], by_word)

    def _is_one_spelled_word(self, name: str) -> bool:
        """Whether a side is a single word written letter by letter, of which only the letters can be looked at."""
        kinds = [options.kind for options in self.model.recipe.data.tokeniser.by_side()]
        kind, text = (kinds[0], self.text) if name == "source" else (kinds[-1], self.output)
        return kind == "characters" and len(text.split()) <= 1

    def _lacking(self, side: str) -> str:
        if not self.sides:
            return _NOTHING
        looks_from, looks_at = SIDES[side]
        others = " or ".join(f"--side {other}" for other in self.sides)
        return f"This model has no attention from the {looks_from} to the {looks_at}; it can show {others}."


def see(model: Model, text: str, target: str | None = None) -> Sight:
    """Let the model read `text` and write `target`, or what it finds best, and watch it."""
    if not text.strip():
        raise Fault("There is no text to look at; give a sentence with --text.")
    model.task.check_length(text, 0)
    written = model.search_tokens(text) if target is None else model.task.target.encode(target)
    longest = model.task.model.options.longest
    if len(written) + 1 > longest:
        raise Fault(f"The target has {len(written) + 1} tokens, but the model takes {longest} at most; shorten it.")
    with watching(model) as gazes:
        model.force([text], [written])
    return Sight(model, text, written, gazes)


def look(model: Model, text: str, target: str | None = None, side: str = "cross", by_word: bool = True) -> Seen:
    """What the model looked at on one side while it read `text` and wrote `target`, or what it finds best."""
    return see(model, text, target).seen(side, by_word)


class _Unit(NamedTuple):
    """Some text within a word, and how many tokens wrote it."""

    text: str
    tokens: int


def _labels(tokeniser: Tokeniser, tokens: Sequence[int], by_word: bool) -> tuple[list[str], list[int]]:
    """A label for each place on an axis, and for each token the place it belongs to."""
    pieces = tokeniser.pieces(tokens)
    if not by_word:
        return pieces, list(range(len(pieces)))
    labels: list[str] = []
    places: list[int] = []
    for word, group in groupby(zip(tokeniser.words(tokens), pieces, strict=True), key=itemgetter(0)):
        units = list(_units(piece for _, piece in group))
        for part in _parts(units) if word >= 0 else [[unit] for unit in units]:
            places += [len(labels)] * sum(unit.tokens for unit in part)
            labels.append("".join(unit.text for unit in part))
    return labels, places


def _units(pieces: Iterable[str]) -> Iterator[_Unit]:
    """The text of each token, or of as many bytes as make a character; a bare space goes with what follows it."""
    bare, spelled = 0, b""
    for piece in pieces:
        if byte := _BYTE.fullmatch(piece):
            spelled += bytes.fromhex(byte[1])
            character = spelled.decode(errors="replace")
            if _BROKEN not in character or len(spelled) == _LONGEST_CHARACTER:
                yield _Unit(character, len(spelled) + bare)
                bare, spelled = 0, b""
            continue
        if spelled:
            yield _Unit(_BROKEN, len(spelled) + bare)
            bare, spelled = 0, b""
        if text := piece.replace("▁", ""):
            yield _Unit(text, 1 + bare)
            bare = 0
        else:
            bare += 1
    if bare or spelled:
        yield _Unit(_BROKEN if spelled else "", len(spelled) + bare)


def _parts(units: list[_Unit]) -> Iterator[list[_Unit]]:
    """A word, and beside it the punctuation before and behind it; what stands alone is a word by itself."""
    inner = [place for place, unit in enumerate(units) if not _is_punctuation(unit.text)] or [len(units)]
    first, behind = inner[0], inner[-1] + 1
    part: list[_Unit] = []
    for place, unit in enumerate(units):
        if part and (place in (first, behind) or _stands_alone(unit.text) or _stands_alone(part[-1].text)):
            yield part
            part = []
        part.append(unit)
    yield part


def _is_punctuation(text: str) -> bool:
    return bool(text) and all(unicodedata.category(character).startswith("P") for character in text)


def _stands_alone(text: str) -> bool:
    """Whether text is in a script that has no spaces between words, where a token is the nearest thing to a word."""
    return unicodedata.name(text[:1] or " ", "").startswith(_UNSPACED)


def _grouped(weights: np.ndarray, of_row: list[int], of_column: list[int]) -> np.ndarray:
    """Weights between words: summed over the tokens looked at, averaged over the tokens that look."""
    rows, columns = max(of_row) + 1, max(of_column) + 1
    to_column = np.zeros((len(of_column), columns))
    to_column[np.arange(len(of_column)), of_column] = 1
    from_row = np.zeros((rows, len(of_row)))
    from_row[of_row, np.arange(len(of_row))] = 1
    from_row /= from_row.sum(axis=1, keepdims=True)
    return from_row @ weights @ to_column
