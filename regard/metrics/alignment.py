"""Pairing the words of two texts by a table of which may go together.

Of all pairings in which no word is used twice, the best is the one (Denkowski and Lavie 2011, section 2.1)

1. that pairs the most words,
2. of these, with the fewest chunks: runs of words that are neighbours, in the same order, on both sides,
3. of these, with the smallest sum of distances between partners,
4. and, where that leaves a choice, with the greatest weight.

The first METEOR (Banerjee and Lavie 2005) had the fewest crossings in place of the second; fewest chunks, which the
score is made of, replaced it.

Most words have one candidate, which has no other: they are settled. The others fall into groups that have no candidate
and no chunk in common, so that each group is searched by itself, from left to right. A pair is joined to the one before
if it continues its chunk: with as many pairs, the more joins the fewer chunks. Of the beginnings that can go on alike
the search keeps the best, and once a pairing is known it drops those that cannot come to as many joins. Then so few are
left that the pairing found is the best there is; where texts repeat themselves over and over it can be missed.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, pairwise
from typing import NamedTuple

_FEW, _KEPT = 12, 200  # beginnings, in a first search and in one that knows how good the first was
_WORK = 40_000  # beginnings times candidates in that one, at the most, so that endless repetitions do not take forever

Candidates = Sequence[Mapping[int, float]]  # for each word written the words wanted that it may go with, and the weight


class Pair(NamedTuple):
    """Partners, by their places, and how much the pair is worth."""

    written: int
    wanted: int
    weight: float


# A pairing of the first words of a group. What is less is better, element by element: words left alone, joins less than
# none, sum of distances, weight lost, a bit for each word wanted that has a partner, and the pairs.
_Beginning = tuple[int, int, int, float, int, tuple[tuple[int, int, float], ...]]
_NO_PAIR = -2, -2, 0.0


def align(candidates: Candidates) -> list[Pair]:
    """The best pairing, in the order of writing."""
    wooers = Counter(chain.from_iterable(candidates))
    pairs: list[Pair] = []
    unsettled: list[int] = []
    for written, own in enumerate(candidates):
        place, weight = next(iter(own.items())) if own else (-1, 0.0)
        if len(own) == wooers[place] == 1:
            pairs.append(Pair(written, place, weight))
        elif own:
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
    """The unsettled words in groups: those that share a candidate or may be joined belong together."""
    members: dict[int, list[int]] = {}  # by word written; all members of a group have the same list
    takers: dict[int, int] = {}  # by word wanted, some word that may go with it
    for written in unsettled:
        members[written] = [written]
        own = candidates[written]
        others = {takers.setdefault(place, written) for place in own}
        if written - 1 in members and any(place - 1 in candidates[written - 1] for place in own):
            others.add(written - 1)
        for other in others:
            if members[other] is not members[written]:
                larger, smaller = members[other], members[written]
                larger += smaller
                for each in smaller:
                    members[each] = larger
    for group in {id(group): group for group in members.values()}.values():
        yield sorted(group)


class _Search:
    """The way through the words of one group."""

    def __init__(
        self, candidates: Candidates, group: Sequence[int], settled: Mapping[int, int], wooers: Mapping[int, int]
    ) -> None:
        self.candidates, self.group, self.settled, self.wooers = candidates, group, settled, wooers
        self.wanted_later = _wanted_later(candidates, group)

    def best(self) -> Sequence[tuple[int, int, float]]:
        """The pairs of the best pairing."""
        best, is_all = self._through(_FEW)
        if not is_all:
            most = _WORK // sum(len(self.candidates[written]) for written in self.group)
            best, _ = self._through(max(_FEW, min(_KEPT, most)), _Goal(self.candidates, self.group, best))
        return best[-1]

    def _through(self, most: int, goal: "_Goal | None" = None) -> tuple[_Beginning, bool]:
        """The best pairing that is found while keeping so many beginnings, and whether these were all there were."""
        beginnings: list[_Beginning] = [(0, 0, 0, 0.0, 0, ())]
        is_all = True
        for step in range(len(self.group) - 1):
            beginnings = self._best(self._grow(beginnings, step), step, most, goal)
            is_all = is_all and len(beginnings) < most
        return min(self._grow(beginnings, len(self.group) - 1)), is_all

    def _grow(self, beginnings: Sequence[_Beginning], step: int) -> list[_Beginning]:
        """Every beginning with the next word paired in every way."""
        grown: list[_Beginning] = []
        written = self.group[step]
        own = self.candidates[written].items()
        left, right = self.settled.get(written - 1, -2) + 1, self.settled.get(written + 1, -2) - 1
        # Who has a candidate to themselves never gains by staying alone.
        may_stay_alone = 1 not in [self.wooers[place] for place, _ in own]
        for alone, unjoined, distance, lost, taken, pairs in beginnings:
            before, place_before, _ = pairs[-1] if pairs else _NO_PAIR
            next_place = place_before + 1 if before + 1 == written else -1
            is_alone = True
            for place, weight in own:
                if not taken >> place & 1:
                    is_alone = False
                    less = unjoined - (place == left) - (place == right) - (place == next_place)
                    farther, longer = distance + abs(written - place), (*pairs, (written, place, weight))
                    grown.append((alone, less, farther, lost - weight, taken | 1 << place, longer))
            if is_alone or may_stay_alone:
                grown.append((alone + 1, unjoined, distance, lost, taken, pairs))
        return grown

    def _best(self, beginnings: list[_Beginning], step: int, most: int, goal: "_Goal | None") -> list[_Beginning]:
        """The best beginnings, of those that can go on alike the better one, and none that cannot become the best."""
        written, wanted = self.group[step], self.wanted_later[step]
        next_is_open = step + 1 < len(self.group) and self.group[step + 1] == written + 1
        following = self.candidates[written + 1] if next_is_open else {}
        kept: dict[tuple[int, int], _Beginning] = {}
        for beginning in sorted(beginnings):
            alone, unjoined, _, _, taken, pairs = beginning
            before, place_before, _ = pairs[-1] if pairs else _NO_PAIR
            next_place = place_before + 1 if before == written and place_before + 1 in following else -1
            end = taken & wanted, next_place
            if end in kept or (goal and not goal.may_be_reached(alone, (next_place >= 0) - unjoined, taken, written)):
                continue
            kept[end] = beginning
            if len(kept) == most:
                break
        return list(kept.values())


class _Goal:
    """Bounds of the search: how good the best pairing must be, and how good a beginning can become."""

    def __init__(self, candidates: Candidates, group: Sequence[int], known: _Beginning) -> None:
        self.alone = _fewest_alone(candidates, group)
        self.joins = -known[1] if known[0] == self.alone else 0
        self.joinable, self.joining_places = _links(candidates, group)

    def may_be_reached(self, alone: int, joins: int, taken: int, written: int) -> bool:
        """Return True if a beginning with these numbers of unpaired words and joins can still become as good.

        No more words can be joined to those before than may be at all, nor more than there are places left to join.
        """
        places = self.joining_places[written + 2] & ~(taken | taken << 1)
        return alone <= self.alone and joins + min(self.joinable[written + 2], places.bit_count()) >= self.joins


def _wanted_later(candidates: Candidates, group: Sequence[int]) -> list[int]:
    """For each word of a group a bit for every place that some word after it may take."""
    found, wanted = [], 0
    for written in reversed(group):
        found.append(wanted)
        for place in candidates[written]:
            wanted |= 1 << place
    return found[::-1]


def _fewest_alone(candidates: Candidates, group: Sequence[int]) -> int:
    """Return how many words of a group stay unpaired whatever is done, by augmenting paths (Berge 1957)."""
    partners: dict[int, int] = {}

    def finds_partner(written: int, asked: set[int]) -> bool:
        for place in candidates[written]:
            if place not in asked:
                asked.add(place)
                if place not in partners or finds_partner(partners[place], asked):
                    partners[place] = written
                    return True
        return False

    return sum(not finds_partner(written, set()) for written in group)


def _links(candidates: Candidates, group: Sequence[int]) -> tuple[list[int], list[int]]:
    """For each word how many from there on may be joined to the one before, and a bit for each place where they may be.

    That is, of those in the group and right after one of the group.
    """
    counts, places = [0] * (len(candidates) + 2), [0] * (len(candidates) + 2)
    beside = {each + after for each in group for after in (0, 1)}
    for written in range(len(candidates) - 1, 0, -1):
        before = candidates[written - 1] if written in beside else {}
        own = sum(1 << place for place in candidates[written] if place - 1 in before)
        counts[written] = counts[written + 1] + bool(own)
        places[written] = places[written + 1] | own
    return counts, places
