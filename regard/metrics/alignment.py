"""Pair the words of two texts, given a table of possible pairs.

Among all pairings that use no word twice, the best one (Denkowski and Lavie 2011, section 2.1)

1. pairs the most words,
2. then has the fewest chunks: runs of words that are neighbours, in the same order, on both sides,
3. then has the smallest sum of distances between partners,
4. and finally has the greatest weight.

The first METEOR (Banerjee and Lavie 2005) used the fewest crossings as its second criterion; the fewest chunks, from
which the score is computed, replaced it.

Most words have a single candidate, which has no other: they are settled. The others fall into groups that share no
candidate and no chunk, so each group is searched separately, from left to right. A pair is joined to the one before if
it continues its chunk: for the same number of pairs, more joins mean fewer chunks. Among beginnings with the same
continuations the search keeps the best. Once it has a pairing, it drops beginnings that cannot reach as many joins. So
few remain that the result is optimal; only in texts that repeat themselves endlessly may it miss the optimum.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, pairwise
from typing import NamedTuple

_FEW, _KEPT = 12, 200  # beginnings to keep, in a first search and in one that knows the first result
_WORK = 40_000  # most beginnings times candidates in the latter, so that endless repetition takes limited time

Candidates = Sequence[Mapping[int, float]]  # for each output word, the reference words it may pair with, and weights


class Pair(NamedTuple):
    """Partners, by their places, and the weight of the pair."""

    written: int
    wanted: int
    weight: float


# A pairing of the first words of a group; less is better, element by element: unpaired words, negative joins, sum of
# distances, lost weight, a bit for each paired reference word, and the pairs.
_Beginning = tuple[int, int, int, float, int, tuple[tuple[int, int, float], ...]]
_NO_PAIR = -2, -2, 0.0


def align(candidates: Candidates) -> list[Pair]:
    """Return the best pairing, in output order."""
    wooers = Counter(chain.from_iterable(candidates))
    pairs: list[Pair] = []
    unsettled: list[int] = []
    for written, choices in enumerate(candidates):
        place, weight = next(iter(choices.items())) if choices else (-1, 0.0)
        if len(choices) == wooers[place] == 1:
            pairs.append(Pair(written, place, weight))
        elif choices:
            unsettled.append(written)
    if not unsettled:
        return pairs
    settled = {pair.written: pair.wanted for pair in pairs}
    for group in _groups(candidates, unsettled):
        pairs += [Pair(*pair) for pair in _Search(candidates, group, settled, wooers).best()]
    return sorted(pairs)


def chunks(pairs: Sequence[Pair]) -> int:
    """Count the runs of neighbours among the pairs, given in output order."""
    joins = [one[0] + 1 == two[0] and one[1] + 1 == two[1] for one, two in pairwise(pairs)]
    return len(pairs) - sum(joins)


def _groups(candidates: Candidates, unsettled: Sequence[int]) -> Iterator[list[int]]:
    """Yield the unsettled words in groups: words that share a candidate or may be joined belong together."""
    members: dict[int, list[int]] = {}  # by output word; all members of a group share one list
    takers: dict[int, int] = {}  # by reference word, some word that may pair with it
    for written in unsettled:
        members[written] = [written]
        choices = candidates[written]
        others = {takers.setdefault(place, written) for place in choices}
        if written - 1 in members and any(place - 1 in candidates[written - 1] for place in choices):
            others.add(written - 1)
        for other in others:
            if members[other] is not members[written]:
                larger, smaller = members[other], members[written]
                larger += smaller
                for member in smaller:
                    members[member] = larger
    for group in {id(group): group for group in members.values()}.values():
        yield sorted(group)


class _Search:
    """Search through the words of one group."""

    def __init__(
        self, candidates: Candidates, group: Sequence[int], settled: Mapping[int, int], wooers: Mapping[int, int]
    ) -> None:
        self.candidates, self.group, self.settled, self.wooers = candidates, group, settled, wooers
        self.wanted_later = _wanted_later(candidates, group)

    def best(self) -> Sequence[tuple[int, int, float]]:
        """Return the pairs of the best pairing."""
        best, is_all = self._through(_FEW)
        if not is_all:
            most = _WORK // sum(len(self.candidates[written]) for written in self.group)
            best, _ = self._through(max(_FEW, min(_KEPT, most)), _Goal(self.candidates, self.group, best))
        return best[-1]

    def _through(self, most: int, goal: "_Goal | None" = None) -> tuple[_Beginning, bool]:
        """Return the best pairing found while keeping `most` beginnings, and True if none had to be dropped."""
        beginnings: list[_Beginning] = [(0, 0, 0, 0.0, 0, ())]
        is_all = True
        for step in range(len(self.group) - 1):
            beginnings = self._best(self._grow(beginnings, step), step, most, goal)
            is_all = is_all and len(beginnings) < most
        return min(self._grow(beginnings, len(self.group) - 1)), is_all

    def _grow(self, beginnings: Sequence[_Beginning], step: int) -> list[_Beginning]:
        """Return every beginning with the next word paired in every way."""
        grown: list[_Beginning] = []
        written = self.group[step]
        choices = self.candidates[written].items()
        left, right = self.settled.get(written - 1, -2) + 1, self.settled.get(written + 1, -2) - 1
        # A word with an exclusive candidate never gains by staying unpaired.
        may_stay_alone = 1 not in [self.wooers[place] for place, _ in choices]
        for alone, unjoined, distance, lost, taken, pairs in beginnings:
            before, place_before, _ = pairs[-1] if pairs else _NO_PAIR
            next_place = place_before + 1 if before + 1 == written else -1
            is_alone = True
            for place, weight in choices:
                if not taken >> place & 1:
                    is_alone = False
                    less = unjoined - (place == left) - (place == right) - (place == next_place)
                    farther, longer = distance + abs(written - place), (*pairs, (written, place, weight))
                    grown.append((alone, less, farther, lost - weight, taken | 1 << place, longer))
            if is_alone or may_stay_alone:
                grown.append((alone + 1, unjoined, distance, lost, taken, pairs))
        return grown

    def _best(self, beginnings: list[_Beginning], step: int, most: int, goal: "_Goal | None") -> list[_Beginning]:
        """Return the best beginnings: one for each way to continue, without those that cannot become the best."""
        written, open_places = self.group[step], self.wanted_later[step]
        next_is_open = step + 1 < len(self.group) and self.group[step + 1] == written + 1
        following = self.candidates[written + 1] if next_is_open else {}
        best_by_end: dict[tuple[int, int], _Beginning] = {}
        for beginning in sorted(beginnings):
            alone, unjoined, _, _, taken, pairs = beginning
            before, place_before, _ = pairs[-1] if pairs else _NO_PAIR
            next_place = place_before + 1 if before == written and place_before + 1 in following else -1
            end = taken & open_places, next_place
            if end in best_by_end or (
                goal and not goal.may_be_reached(alone, (next_place >= 0) - unjoined, taken, written)
            ):
                continue
            best_by_end[end] = beginning
            if len(best_by_end) == most:
                break
        return list(best_by_end.values())


class _Goal:
    """Bounds of the search: how good the best pairing must be, and how good a beginning can become."""

    def __init__(self, candidates: Candidates, group: Sequence[int], first_result: _Beginning) -> None:
        self.alone = _fewest_alone(candidates, group)
        self.joins = -first_result[1] if first_result[0] == self.alone else 0
        self.joinable, self.joining_places = _links(candidates, group)

    def may_be_reached(self, alone: int, joins: int, taken: int, written: int) -> bool:
        """Return True if a beginning with these numbers of unpaired words and joins can still become as good.

        The number of further joins is limited by the joinable words and by the free places.
        """
        places = self.joining_places[written + 2] & ~(taken | taken << 1)
        return alone <= self.alone and joins + min(self.joinable[written + 2], places.bit_count()) >= self.joins


def _wanted_later(candidates: Candidates, group: Sequence[int]) -> list[int]:
    """Return, for each word of a group, a bit for every place that some later word may take."""
    masks, mask = [], 0
    for written in reversed(group):
        masks.append(mask)
        for place in candidates[written]:
            mask |= 1 << place
    return masks[::-1]


def _fewest_alone(candidates: Candidates, group: Sequence[int]) -> int:
    """Return how many words of a group must stay unpaired, by augmenting paths (Berge 1957)."""
    partners: dict[int, int] = {}

    def finds_partner(written: int, tried: set[int]) -> bool:
        for place in candidates[written]:
            if place not in tried:
                tried.add(place)
                if place not in partners or finds_partner(partners[place], tried):
                    partners[place] = written
                    return True
        return False

    return sum(not finds_partner(written, set()) for written in group)


def _links(candidates: Candidates, group: Sequence[int]) -> tuple[list[int], list[int]]:
    """Return how many words from each word on may be joined to the one before, and a bit for each such place.

    Only words in the group, or directly after one of the group, count.
    """
    counts, places = [0] * (len(candidates) + 2), [0] * (len(candidates) + 2)
    adjacent = {member + after for member in group for after in (0, 1)}
    for written in range(len(candidates) - 1, 0, -1):
        before = candidates[written - 1] if written in adjacent else {}
        joining = sum(1 << place for place in candidates[written] if place - 1 in before)
        counts[written] = counts[written + 1] + bool(joining)
        places[written] = places[written + 1] | joining
    return counts, places
