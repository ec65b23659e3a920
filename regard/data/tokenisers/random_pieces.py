"""Split words into pieces at random, as a pure function of a key: the same in any process, thread or resumed run.

SentencePiece samples from a per-thread generator that cannot be reset, so this module does it instead. Its models never
join pieces across a space, so a text is sampled word by word. Words recur, so results for a word are cached.
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
Chance = Callable[[], float]  # uniform numbers in

_REMEMBERED_WORDS = 2**16
_REMEMBERED_WAYS = 2**17
_DRAWN_AT_ONCE = 32
_LONGEST_REMEMBERED = 40
_UNKNOWN_PENALTY = 10.0  # as in SentencePiece


def chances(key: tuple[int, ...]) -> Chance:
    """Return a stream of random numbers that depends only on the key."""
    digest = blake2b(",".join(map(str, map(int, key))).encode(), digest_size=16).digest()
    return Random(int.from_bytes(digest, "big")).random


class Sampler(Protocol):
    """Splits the words of a text into pieces of a vocabulary; a character in no piece stands alone."""

    def cut(self, words: Iterable[str], chance: Chance) -> list[str]: ...


# A place where a piece of a word begins: the cumulative probabilities of the possible pieces, these pieces, and the
# next place after each; empty at the end of the word.
Place = tuple[()] | tuple["array[float]", tuple[str, ...], tuple["Place", ...]]


class UnigramSampler:
    """Subword regularisation (Kudo 2018, section 3.2), over all segmentations instead of the n best.

    P(x) = Π p(xᵢ), drawn with probability P(x)^α / Σ P(x')^α. With S(end) = 1 and S(i) = Σ p(x)^α · S(j) over
    the pieces x from place i to place j of the word, the piece at i is drawn with probability p(x)^α · S(j) / S(i).
    """

    def __init__(self, scores: Mapping[str, float], alpha: float) -> None:
        """Take the pieces' log-probabilities as `scores`."""
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
        """Return the first place of a word."""
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
    branches: "dict[int, _Way]" = field(default_factory=dict)  # by the number of merges before the next dropped one


class DropoutSampler:
    """BPE-dropout (Provilkov et al. 2020, algorithm 1).

    At every step each possible merge is dropped with probability p, and the best of the rest is applied, until none is
    left. The best of the rest is the first to survive in rank order, so the others need not be drawn.

    Most merges survive, so a word takes few ways. These are cached as trees that branch where a merge is dropped; ways
    beyond the cache's capacity are computed each time.
    """

    def __init__(self, ranks: Mapping[str, float], dropout: float) -> None:
        """Take every piece's place in merge order as `ranks`, the earliest smallest."""
        self._ranks, self._dropout = ranks, dropout
        self._ways: dict[str, _Way] = {}
        self._room = _REMEMBERED_WAYS

    def cut(self, words: Iterable[str], chance: Chance) -> list[str]:
        draws, place, pieces = _Draws(chance, self._dropout), 0, list[str]()
        for word in words:
            word_pieces, place = self._cut(word, draws, place)
            pieces += word_pieces
        return pieces

    def _cut(self, word: str, draws: "_Draws", start: int) -> tuple[Sequence[str], int]:
        """Return the pieces of a word whose merges are drawn from `start` on, and where the next word's draws start."""
        place, way = start, self._ways.get(word) or self._grow(self._ways, word, word, ())
        while way is not None:
            end = place + way.draws
            left_out = draws.find_left_out(place, end)
            if left_out < 0:
                return way.pieces, end
            survived, place = left_out - place, left_out + 1
            way = way.branches.get(survived) or self._grow(way.branches, survived, word, draws.fates[start:place])
        pieces, draw_count = merge_word(word, self._ranks, draws.following(start))
        return pieces, start + draw_count

    def _grow(self, branches: dict[Key, _Way], key: Key, word: str, fates: Sequence[int]) -> _Way | None:
        """Return a word's way after merges of these fates, cached as a branch; None if the cache is full."""
        if not self._room or len(word) > _LONGEST_REMEMBERED:
            return None
        self._room -= 1
        pieces, draw_count = merge_word(word, self._ranks, chain(fates, repeat(1)))
        way = branches[key] = _Way(draw_count - len(fates), tuple(map(intern, pieces)))
        return way


class _Draws:
    """Fates of a text's merges in the order drawn: 1 survives, 0 is dropped."""

    def __init__(self, chance: Chance, dropout: float) -> None:
        self._chance, self._dropout = chance, dropout
        self.fates = bytearray()

    def find_left_out(self, start: int, end: int) -> int:
        """Return the first dropped merge from `start` up to `end`, or -1."""
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


Merge = tuple[float, int, str]  # rank, place of the left piece, merged piece


def merge_word(word: str, ranks: Mapping[str, float], fates: Iterator[int]) -> tuple[list[str], int]:
    """Return the pieces that merges of these fates make of a word, and the number of fates used.

    The time grows little faster than the word, which may be a whole text in scripts without spaces.
    """
    # A piece lies at the place of its first character; the places it absorbed are empty.
    pieces, before, after = list(word), list(range(-1, len(word) - 1)), [*range(1, len(word)), -1]
    merges: list[Merge] = []
    used = 0

    def offer(place: int, whole: str) -> None:
        rank = ranks.get(whole)
        if rank is not None:
            heappush(merges, (rank, place, whole))

    def survivor() -> Merge | None:
        """Return the best merge not dropped at this step; dropped ones are possible again at the next."""
        nonlocal used
        left_out: list[Merge] = []
        while merges:
            merge = heappop(merges)
            _, place, whole = merge
            if not pieces[place] or after[place] < 0 or pieces[place] + pieces[after[place]] != whole:
                continue  # one of its halves was merged with something else
            used += 1
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
    return [piece for piece in pieces if piece], used
