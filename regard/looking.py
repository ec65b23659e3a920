"""From a model and a sentence to matrices with words on both axes."""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from regard.attention.watch import watching
from regard.data.tokenisers import Tokeniser
from regard.faults import Fault
from regard.model import Model
from regard.viewing.matrix import Matrix

SIDES = {"cross": ("target", "source"), "encoder": ("source", "source"), "decoder": ("target", "target")}


@dataclass(frozen=True)
class Seen:
    """What every block and head looked at on one side: `weights` (block, head, row, column)."""

    side: str
    output: str
    rows: list[str]
    columns: list[str]
    weights: np.ndarray

    def one(self, layer: int | None = None, head: int | None = None) -> Matrix:
        """One block (by default the last but one, which aligns best) and one head (by default their mean)."""
        layers, heads = self.weights.shape[:2]
        number = layer or max(1, layers - 1)
        if number > layers or (head or 1) > heads:
            raise Fault(f"This model has {layers} blocks of {heads} heads on that side.")
        block = self.weights[number - 1]
        which = f"head {head}" if head else f"mean of {heads} heads"
        return self._matrix(f"{self.side}, block {number}, {which}", block[head - 1] if head else block.mean(0))

    def every(self) -> list[Matrix]:
        """All blocks and heads, block by block."""
        return [
            self._matrix(f"block {layer}, head {head}", weights)
            for layer, block in enumerate(self.weights, 1)
            for head, weights in enumerate(block, 1)
        ]

    def _matrix(self, title: str, weights: np.ndarray) -> Matrix:
        return Matrix(title, self.rows, self.columns, weights)


def look(model: Model, text: str, target: str | None = None, side: str = "cross", by_word: bool = True) -> Seen:
    """Let the model read `text` and write `target`, or what it finds best, and see what it looked at."""
    if not text.strip():
        raise Fault("There is no text to look at; give a sentence with --text.")
    task = model.task
    if target is None:
        written = model.search_tokens(text)
    else:
        written = task.target.encode(target)
    with watching(model) as gazes:
        model.force([text], [written])
    looks_from, looks_at = SIDES[side]
    chosen = [gaze for gaze in gazes if (gaze.looks_from, gaze.looks_at) == (looks_from, looks_at)]
    weights = np.stack([gaze.weights[0].double().cpu().numpy() for gaze in chosen])
    # What stands on an axis: the tokens that are looked at, or from which the next token is sought.
    read = [*task.source.encode(text), task.source.end]
    sides = {"source": (task.source, read), "target": (task.target, [*written, task.end])}
    if side == "decoder":  # a place is named by the token that it reads, not by the one that it writes
        sides["target"] = (task.target, [task.begin, *written])
    rows, of_row = _labels(*sides[looks_from], by_word)
    columns, of_column = _labels(*sides[looks_at], by_word)
    return Seen(side, task.write(written), rows, columns, _grouped(weights, of_row, of_column))


def _labels(tokeniser: Tokeniser, tokens: Sequence[int], by_word: bool) -> tuple[list[str], list[int]]:
    """A label for each place on an axis, and for each token the place it belongs to."""
    pieces = tokeniser.pieces(tokens)
    if not by_word:
        return pieces, list(range(len(pieces)))
    labels: list[str] = []
    places: list[int] = []
    before: tuple[int, bool] | None = None
    for token, piece, word in zip(tokens, pieces, tokeniser.words(tokens), strict=True):
        text = piece if word < 0 else _shown(tokeniser, token, piece)
        kind = (word, _is_punctuation(text))  # a full stop is shown beside the word it is written to
        if word < 0 or kind != before:
            labels.append("")
        labels[-1] += text
        before = None if word < 0 else kind
        places.append(len(labels) - 1)
    return [label or "·" for label in labels], places


def _shown(tokeniser: Tokeniser, token: int, piece: str) -> str:
    return tokeniser.decode([token]) if piece.startswith("<0x") else piece.replace("▁", "")


def _is_punctuation(text: str) -> bool:
    return bool(text) and all(unicodedata.category(character).startswith("P") for character in text)


def _grouped(weights: np.ndarray, of_row: list[int], of_column: list[int]) -> np.ndarray:
    """Weights between words: summed over the tokens looked at, averaged over the tokens that look."""
    rows, columns = max(of_row) + 1, max(of_column) + 1
    to_column = np.zeros((len(of_column), columns))
    to_column[np.arange(len(of_column)), of_column] = 1
    from_row = np.zeros((rows, len(of_row)))
    from_row[of_row, np.arange(len(of_row))] = 1
    from_row /= from_row.sum(axis=1, keepdims=True)
    return from_row @ weights @ to_column
