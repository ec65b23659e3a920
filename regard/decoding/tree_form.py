"""Outputs that are trees by construction: what may follow in a line of brackets over the words of a sentence.

    (S (NP DT NN )NP (VP VBZ )VP . )S

A bracket closes the phrase that was opened last, a phrase holds at least one word, the root closes after the last word
of the sentence, and nothing follows it. A search also keeps room for what must still be written: the words that are
left, a closing bracket for each open phrase, and the end.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from regard.base.faults import Fault

DEEPEST = 200  # nested phrases, as readers of trees allow


class Brackets(NamedTuple):
    """The tokens of a vocabulary by their role in a tree."""

    opening: dict[int, str]  # with their labels
    closing: dict[str, int]  # by their labels
    leaves: list[int]


def brackets_of(pieces: Sequence[str], silent: Sequence[int]) -> Brackets:
    """Return the roles of the tokens with these texts; `silent` tokens and brackets without a twin have none."""
    texts = {token: text.strip() for token, text in enumerate(pieces) if token not in silent and text.strip()}
    opening = {token: text[1:] for token, text in texts.items() if len(text) > 1 and text[0] == "("}
    closing = {text[1:]: token for token, text in texts.items() if len(text) > 1 and text[0] == ")"}
    opening = {token: label for token, label in opening.items() if label in closing}
    leaves = [token for token, text in texts.items() if text[0] not in "()"]
    if not opening or not leaves:
        raise Fault(
            "decoding.form is 'tree', but the target vocabulary has no brackets with labels, such as (NP and )NP."
        )
    return Brackets(opening, closing, leaves)


class _Standing(NamedTuple):
    """A tree that is being written."""

    stack: tuple[str, ...] = ()  # labels of the open phrases, the root first
    words: int = 0  # leaves written
    is_begun: bool = False
    is_bare: bool = False  # whether the innermost phrase holds nothing yet


class TreeForm:
    """The trees that may be written for the sentences of one batch."""

    def __init__(self, brackets: Brackets, words: Sequence[int], end: int) -> None:
        self.brackets, self.words, self.end = brackets, words, end  # words: of each sentence
        self._leaves = frozenset(brackets.leaves)
        self._standings: dict[tuple[int, ...], _Standing | None] = {(): _Standing()}

    def mask(self, tokens: Tensor, sentences: Tensor, limits: Tensor, vocabulary: int) -> Tensor:
        """Mask (row, token) of tokens that may follow `tokens` (row, time); `limits` are those of the rows."""
        mask = torch.zeros(len(tokens), vocabulary, dtype=torch.bool)
        rooms = (limits - tokens.shape[1]).tolist()
        rows = zip(tokens.tolist(), sentences.tolist(), rooms, strict=True)
        for number, (row, sentence, room) in enumerate(rows):
            allowed = self._allowed(tuple(row), self.words[sentence], room)
            mask[number, slice(None) if allowed is None else allowed] = True
        return mask.to(tokens.device)

    def _allowed(self, written: tuple[int, ...], words: int, room: int) -> list[int] | None:
        """Return the tokens that may follow, or None if no tree can come of it."""
        standing = self._standing(written)
        if standing is None:
            return None
        stack, left = standing.stack, words - standing.words
        needed = left + len(stack) + 1
        if left < 0 or needed > room:
            return None
        if standing.is_begun and not stack:
            return [self.end]
        allowed = list(self.brackets.leaves) if stack and left else []
        if left and len(stack) < DEEPEST and needed + 2 <= room:
            allowed += self.brackets.opening
        if stack and not standing.is_bare and (len(stack) > 1 or not left):
            allowed.append(self.brackets.closing[stack[-1]])
        return allowed or None

    def _standing(self, written: tuple[int, ...]) -> _Standing | None:
        """Return how far a tree has come, or None if the tokens are none."""
        if written not in self._standings:
            before = self._standing(written[:-1])
            self._standings[written] = None if before is None else self._after(before, written[-1])
        return self._standings[written]

    def _after(self, standing: _Standing, token: int) -> _Standing | None:
        stack, words, opening = standing.stack, standing.words, self.brackets.opening
        if token in opening:
            return _Standing((*stack, opening[token]), words, is_begun=True, is_bare=True)
        if stack and token == self.brackets.closing[stack[-1]]:
            return _Standing(stack[:-1], words, is_begun=True)
        is_leaf = bool(stack) and token in self._leaves
        return _Standing(stack, words + 1, is_begun=True) if is_leaf else None
