"""Cutting a word into pieces at random, as a pure function of a key: the same in any process, thread or resumed run.

SentencePiece samples from a generator that belongs to its thread and cannot be set back, so it is done here. Its
models never join pieces over a space, so a text is sampled word by word. Words recur, so what is found about one is
remembered.
"""

import math
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from heapq import heappop, heappush
from itertools import accumulate, chain, repeat
from random import Random
from sys import intern
from typing import Protocol, TypeVar

Key = TypeVar("Key", int, str)
Chance = Callable[[], float]  # numbers spread evenly over [0, 1)

_REMEMBERED_WORDS = 2**16
_REMEMBERED_WAYS = 2**17
_DRAWN_AT_ONCE = 32
_LONGEST_REMEMBERED = 40
_UNKNOWN_PENALTY = 10.0  # SentencePiece's own


def chances(key: tuple[int, ...]) -> Chance:
    """A stream of random numbers that depends on the key alone."""
    digest = blake2b(",".join(map(str, map(int, key))).encode(), digest_size=16).digest()
    return Random(int.from_bytes(digest, "big")).random


class Sampler(Protocol):
    """Cuts the words of a text into pieces of a vocabulary; a character that is in no piece stands alone."""

    def cut(self, words: Iterable[str], chance: Chance) -> list[str]: ...


# Where a piece of a word begins: the cumulative probabilities that part the pieces it may be, these pieces, and where
# the next begins after each; nothing at the end of the word.
Place = tuple[()] | tuple["array[float]", tuple[str, ...], tuple["Place", ...]]


class UnigramSampler:
    """Subword regularisation (Kudo 2018, section 3.2), over all segmentations instead of the n best.

    P(x) = Π p(xᵢ), drawn with probability P(x)^α / Σ P(x')^α. With S(end) = 1 and S(i) = Σ p(x)^α · S(j) over
    the pieces x from place i to place j of the word, the piece at i is drawn with probability p(x)^α · S(j) / S(i).
    """

    def __init__(self, scores: Mapping[str, float], alpha: float) -> None:
        """`scores` are the pieces' log-probabilities."""
        self._scores = {piece: alpha * score for piece, score in scores.items()}
        self._unknown = alpha * (min(scores.values()) - _UNKNOWN_PENALTY)
        self._longest = max(map(len, scores))
        self._remembered = lru_cache(_REMEMBERED_WORDS)(self._lattice)

    def cut(self, words: Iterable[str], chance: Chance) -> list[str]:
        pieces: list[str] = []
        for word in words:
            place = self._remembered(word) if len(word) <= _LONGEST_REMEMBERED else self._lattice(word)
            while place:
                bounds, choices, following = place
                choice = bisect_right(bounds, chance()) if bounds else 0
                pieces.append(choices[choice])
                place = following[choice]
        return pieces

    def _lattice(self, word: str) -> Place:
        """The first place of a word."""
        totals = [0.0] * (len(word) + 1)  # log S
        places: list[Place] = [()] * (len(word) + 1)
        for start in reversed(range(len(word))):
            ends, weights = self._choices(word, start, totals)
            top = max(weights)
            masses = [math.exp(weight - top) for weight in weights]
            whole = math.fsum(masses)
            totals[start] = top + math.log(whole)
            bounds = array("d", accumulate(mass / whole for mass in masses[:-1]))
            choices = tuple(intern(word[start:end]) for end in ends)
            places[start] = bounds, choices, tuple(places[end] for end in ends)
        return places[0]

    def _choices(self, word: str, start: int, totals: list[float]) -> tuple[list[int], list[float]]:
        ends, weights = [start + 1], [self._scores.get(word[start], self._unknown) + totals[start + 1]]
        for end in range(start + 2, min(len(word), start + self._longest) + 1):
            score = self._scores.get(word[start:end])
            if score is not None:
                ends.append(end)
                weights.append(score + totals[end])
        return ends, weights


@dataclass(slots=True)
class _Way:
    """A continuation of merging a word, from its beginning or from a dropped merge, if all others survive."""

    draws: int
    pieces: tuple[str, ...]
    branches: "dict[int, _Way]" = field(default_factory=dict)  # by how many merges survive until the next is left out


class DropoutSampler:
    """BPE-dropout (Provilkov et al. 2020, algorithm 1).

    At every step each possible merge is left out with probability p, and the best of the rest is carried out,
    until none is left. The best of the rest is the first to survive in the order of rank, so the others need not
    be drawn.

    Most merges survive, so words go few ways. These are remembered, as trees that branch where a merge is left out,
    and what they have no more room for is worked out each time.
    """

    def __init__(self, ranks: Mapping[str, float], dropout: float) -> None:
        """`ranks` gives every piece its place in the order of merging, the earliest the smallest."""
        self._ranks, self._dropout = ranks, dropout
        self._ways: dict[str, _Way] = {}
        self._room = _REMEMBERED_WAYS

    def cut(self, words: Iterable[str], chance: Chance) -> list[str]:
        draws, place, pieces = _Draws(chance, self._dropout), 0, list[str]()
        for word in words:
            own, place = self._cut(word, draws, place)
            pieces += own
        return pieces

    def _cut(self, word: str, draws: "_Draws", start: int) -> tuple[Sequence[str], int]:
        """The pieces of a word whose merges are drawn from `start` on, and where the draws of the next word start."""
        place, way = start, self._ways.get(word) or self._grow(self._ways, word, word, ())
        while way is not None:
            end = place + way.draws
            left_out = draws.find_left_out(place, end)
            if left_out < 0:
                return way.pieces, end
            kept, place = left_out - place, left_out + 1
            way = way.branches.get(kept) or self._grow(way.branches, kept, word, draws.fates[start:place])
        pieces, drawn = merge_word(word, self._ranks, draws.following(start))
        return pieces, start + drawn

    def _grow(self, branches: dict[Key, _Way], key: Key, word: str, fates: Sequence[int]) -> _Way | None:
        """The way of a word after merges of these fates, remembered as a branch; None where there is no room."""
        if not self._room or len(word) > _LONGEST_REMEMBERED:
            return None
        self._room -= 1
        pieces, drawn = merge_word(word, self._ranks, chain(fates, repeat(1)))
        way = branches[key] = _Way(drawn - len(fates), tuple(map(intern, pieces)))
        return way


class _Draws:
    """The fates of a text's merges in the order in which they are drawn: 1 is to survive, 0 to be left out."""

    def __init__(self, chance: Chance, dropout: float) -> None:
        self._chance, self._dropout = chance, dropout
        self.fates = bytearray()

    def find_left_out(self, start: int, end: int) -> int:
        """The first from `start` on and before `end` that is left out; -1 if there is none."""
        while len(self.fates) < end:
            self._draw()
        return self.fates.find(0, start, end)

    def following(self, start: int) -> Iterator[int]:
        while True:
            if len(self.fates) == start:
                self._draw()
            yield self.fates[start]
            start += 1

    def _draw(self) -> None:
        chance, dropout = self._chance, self._dropout
        self.fates += bytes([chance() >= dropout for _ in range(_DRAWN_AT_ONCE)])


Merge = tuple[float, int, str]  # its rank, the place of its left piece, the piece it makes


def merge_word(word: str, ranks: Mapping[str, float], fates: Iterator[int]) -> tuple[list[str], int]:
    """The pieces that merges of these fates make of a word, and how many fates that took.

    The time grows little faster than the word, which may be a whole text where people write without spaces.
    """
    # A piece lies at the place of its first character, and the places it swallowed are empty.
    pieces, before, after = list(word), list(range(-1, len(word) - 1)), [*range(1, len(word)), -1]
    merges: list[Merge] = []
    drawn = 0

    def offer(place: int, whole: str) -> None:
        rank = ranks.get(whole)
        if rank is not None:
            heappush(merges, (rank, place, whole))

    def survivor() -> Merge | None:
        """The best merge that is not left out at this step; those left out are possible again at the next."""
        nonlocal drawn
        left_out: list[Merge] = []
        while merges:
            merge = heappop(merges)
            _, place, whole = merge
            if not pieces[place] or after[place] < 0 or pieces[place] + pieces[after[place]] != whole:
                continue  # one of its halves has been merged otherwise
            drawn += 1
            if next(fates):
                for other in left_out:
                    heappush(merges, other)
                return merge
            left_out.append(merge)
        return None

    for place in range(len(word) - 1):
        offer(place, word[place : place + 2])
    while merge := survivor():
        _, place, whole = merge
        swallowed = after[place]
        pieces[place], pieces[swallowed] = whole, ""
        follower = after[place] = after[swallowed]
        if follower >= 0:
            before[follower] = place
            offer(place, whole + pieces[follower])
        if before[place] >= 0:
            offer(before[place], pieces[before[place]] + whole)
    return [piece for piece in pieces if piece], drawn
