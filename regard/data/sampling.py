"""Cutting a word into pieces at random, as a pure function of a key: the same in any process, thread or resumed run.

SentencePiece samples from a generator that belongs to its thread and cannot be set back, so it is done here. Its
models never join pieces over a space, so a text is sampled word by word.
"""

import math
from bisect import bisect_right
from collections.abc import Callable, Mapping
from functools import lru_cache
from hashlib import blake2b
from heapq import heappop, heappush
from itertools import accumulate
from random import Random
from typing import Protocol

Chance = Callable[[], float]  # numbers spread evenly over [0, 1)

_REMEMBERED_WORDS = 2**14
_LONGEST_REMEMBERED = 40
_UNKNOWN_PENALTY = 10.0  # SentencePiece's own


def chances(key: tuple[int, ...]) -> Chance:
    """A stream of random numbers that depends on the key alone."""
    digest = blake2b(",".join(str(int(number)) for number in key).encode(), digest_size=16).digest()
    return Random(int.from_bytes(digest, "big")).random


class Sampler(Protocol):
    """Cuts a word into pieces of a vocabulary; a character that is in no piece stands alone."""

    def cut(self, word: str, chance: Chance) -> list[str]: ...


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

    def cut(self, word: str, chance: Chance) -> list[str]:
        lattice = self._remembered(word) if len(word) <= _LONGEST_REMEMBERED else self._lattice(word)
        pieces, start = [], 0
        while start < len(word):
            bounds, ends = lattice[start]
            end = ends[bisect_right(bounds, chance())] if bounds else ends[0]
            pieces.append(word[start:end])
            start = end
        return pieces

    def _lattice(self, word: str) -> list[tuple[list[float], list[int]]]:
        """For each place: where a piece may end, and the cumulative probabilities that part these choices."""
        totals = [0.0] * (len(word) + 1)  # log S
        lattice = []
        for start in reversed(range(len(word))):
            ends, weights = self._choices(word, start, totals)
            top = max(weights)
            masses = [math.exp(weight - top) for weight in weights]
            whole = math.fsum(masses)
            totals[start] = top + math.log(whole)
            bounds = list(accumulate(mass / whole for mass in masses[:-1]))
            lattice.append((bounds, ends))
        return lattice[::-1]

    def _choices(self, word: str, start: int, totals: list[float]) -> tuple[list[int], list[float]]:
        ends, weights = [start + 1], [self._scores.get(word[start], self._unknown) + totals[start + 1]]
        for end in range(start + 2, min(len(word), start + self._longest) + 1):
            score = self._scores.get(word[start:end])
            if score is not None:
                ends.append(end)
                weights.append(score + totals[end])
        return ends, weights


Merge = tuple[float, int, str]  # its rank, the place of its left piece, the piece it makes


class DropoutSampler:
    """BPE-dropout (Provilkov et al. 2020, algorithm 1).

    At every step each possible merge is left out with probability p, and the best of the rest is carried out,
    until none is left. The best of the rest is the first to survive in the order of rank, so the others need not
    be drawn.
    """

    def __init__(self, ranks: Mapping[str, float], dropout: float) -> None:
        """`ranks` gives every piece its place in the order of merging, the earliest the smallest."""
        self._ranks = ranks
        self._dropout = dropout
        self._remembered = lru_cache(_REMEMBERED_WORDS)(self._first_merges)

    def cut(self, word: str, chance: Chance) -> list[str]:
        # A piece lies at the place of its first character, and the places it swallowed are empty.
        pieces, before, after = list(word), list(range(-1, len(word) - 1)), [*range(1, len(word)), -1]
        merges = list(self._remembered(word) if len(word) <= _LONGEST_REMEMBERED else self._first_merges(word))
        while merge := self._survivor(merges, pieces, after, chance):
            _, place, whole = merge
            swallowed = after[place]
            pieces[place], pieces[swallowed] = whole, ""
            follower = after[place] = after[swallowed]
            if follower >= 0:
                before[follower] = place
                self._offer(merges, place, whole + pieces[follower])
            if before[place] >= 0:
                self._offer(merges, before[place], pieces[before[place]] + whole)
        return [piece for piece in pieces if piece]

    def _first_merges(self, word: str) -> list[Merge]:
        merges: list[Merge] = []
        for place in range(len(word) - 1):
            self._offer(merges, place, word[place : place + 2])
        return merges

    def _offer(self, merges: list[Merge], place: int, whole: str) -> None:
        rank = self._ranks.get(whole)
        if rank is not None:
            heappush(merges, (rank, place, whole))

    def _survivor(self, merges: list[Merge], pieces: list[str], after: list[int], chance: Chance) -> Merge | None:
        """The best merge that is not left out at this step; those left out are possible again at the next."""
        left_out: list[Merge] = []
        while merges:
            merge = heappop(merges)
            _, place, whole = merge
            if not pieces[place] or after[place] < 0 or pieces[place] + pieces[after[place]] != whole:
                continue  # one of its halves has been merged otherwise
            if chance() >= self._dropout:
                for other in left_out:
                    heappush(merges, other)
                return merge
            left_out.append(merge)
        return None
