"""Word pairings: the best of all possible ones, verified by trying every one."""

from collections.abc import Iterator, Mapping, Sequence

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from regard.metrics import alignment
from regard.metrics.alignment import Pair, align, chunks

tables = st.lists(st.dictionaries(st.integers(0, 5), st.sampled_from([1.0, 0.6]), max_size=4), max_size=6)


def every_pairing(candidates: Sequence[Mapping[int, float]], start: int = 0) -> Iterator[list[Pair]]:
    if start == len(candidates):
        yield []
        return
    for rest in every_pairing(candidates, start + 1):
        yield rest
        taken = {pair.wanted for pair in rest}
        yield from (
            [Pair(start, place, weight), *rest] for place, weight in candidates[start].items() if place not in taken
        )


def rank(pairs: list[Pair]) -> tuple[int, int, int, float]:
    distance = sum(abs(pair.written - pair.wanted) for pair in pairs)
    return -len(pairs), chunks(pairs), distance, -round(sum(pair.weight for pair in pairs), 9)


def same_words(written: str, wanted: str) -> list[dict[int, float]]:
    return [{place: 1.0 for place, other in enumerate(wanted) if other == word} for word in written]


def test_chunks_are_runs_of_neighbours_on_both_sides() -> None:
    assert chunks([]) == 0
    assert chunks([Pair(0, 3, 1), Pair(1, 4, 1), Pair(2, 0, 1), Pair(4, 1, 1)]) == 3


def test_more_pairs_go_before_fewer_chunks() -> None:
    assert len(align(same_words("abxc", "cab"))) == 3


def test_fewer_chunks_go_before_nearness() -> None:
    """The first a is nearest, but the second continues to b."""
    assert align(same_words("ab", "axxab")) == [Pair(0, 3, 1), Pair(1, 4, 1)]


def test_nearness_goes_before_weight() -> None:
    assert align([{0: 0.6, 2: 1.0}]) == [Pair(0, 0, 0.6)]


def test_weight_decides_what_nothing_else_does() -> None:
    assert align([{}, {0: 0.6, 2: 1.0}]) == [Pair(1, 2, 1.0)]


def test_a_word_leaves_its_partner_to_one_that_has_no_other() -> None:
    assert len(align([{0: 1.0, 1: 1.0}, {0: 1.0}])) == 2


@given(tables)
def test_the_pairing_is_as_good_as_the_best_of_all(candidates: list[dict[int, float]]) -> None:
    pairing = align(candidates)
    assert all(candidates[pair.written][pair.wanted] == pair.weight for pair in pairing)
    assert rank(pairing) == min(map(rank, every_pairing(candidates)))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(tables)
def test_so_is_one_found_with_a_first_search_that_keeps_one(
    monkeypatch: pytest.MonkeyPatch, candidates: list[dict[int, float]]
) -> None:
    """The second search drops only what cannot be as good as the first search's result."""
    monkeypatch.setattr(alignment, "_FEW", 1)
    assert rank(align(candidates)) == min(map(rank, every_pairing(candidates)))


def test_a_first_search_can_miss_what_the_second_one_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first a prefers the near a until its neighbours are seen."""
    candidates = same_words("baxxab", "abxaba")
    whole = rank(align(candidates))
    monkeypatch.setattr(alignment, "_FEW", 1)
    monkeypatch.setattr(alignment, "_KEPT", 1)
    assert rank(align(candidates)) > whole == min(map(rank, every_pairing(candidates)))


@given(st.lists(st.sampled_from("aaabc"), max_size=7), st.lists(st.sampled_from("aaabc"), max_size=7))
def test_words_that_repeat_themselves_are_paired_best(written: list[str], wanted: list[str]) -> None:
    candidates = same_words("".join(written), "".join(wanted))
    if sum(map(len, candidates)) <= 20:  # otherwise there are too many pairings to try
        assert rank(align(candidates)) == min(map(rank, every_pairing(candidates)))


def test_endless_repetitions_do_not_take_forever() -> None:
    assert len(align(same_words("ab," * 30, ",ba" * 30))) == 90
    assert align(same_words("a" * 150, "ab")) == [Pair(0, 0, 1)]
