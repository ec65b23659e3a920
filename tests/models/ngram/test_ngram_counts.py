"""N-gram counts by hand and by Python's own counter; pieces of text add up."""

from collections import Counter
from itertools import pairwise

import numpy as np
from counted import BEGIN, END, FIRST, counts_of, tokens_of, vocabulary
from hypothesis import given
from hypothesis import strategies as st

from regard.models.ngram.counting import NgramCounts, no_counts

LINES = st.lists(st.lists(st.sampled_from("abcd"), max_size=6).map(" ".join), min_size=1, max_size=8)


def as_dict(counts: NgramCounts, order: int) -> dict[tuple[int, ...], int]:
    rows = map(tuple, counts.trie.spell(order).tolist())
    return {row: number for row, number in zip(rows, counts.counts[order - 1].tolist(), strict=True) if number}


def test_the_bigrams_of_two_sentences() -> None:
    a, b = FIRST, FIRST + 1
    counts = as_dict(counts_of(["a b a", "a b"], order=2), 2)
    assert counts == {(BEGIN, a): 2, (a, b): 2, (b, a): 1, (a, END): 1, (b, END): 1}


@given(LINES, st.integers(1, 5))
def test_n_grams_are_counted_as_a_counter_counts_them_and_never_over_the_end_of_a_line(
    lines: list[str], order: int
) -> None:
    words = list("abcd")
    counts = counts_of(lines, order, words)
    for size in range(1, order + 1):
        sentences = [tokens_of([line], words).tolist() for line in lines]
        slow = Counter(
            tuple(sentence[start : start + size]) for sentence in sentences for start in range(len(sentence) - size + 1)
        )
        assert as_dict(counts, size) == slow


@given(LINES, LINES, st.integers(1, 4))
def test_pieces_of_text_add_up_to_the_whole(first: list[str], second: list[str], order: int) -> None:
    words = list("abcd")
    whole = counts_of([*first, *second], order, words)
    added = counts_of(first, order, words) + counts_of(second, order, words)
    for mine, theirs in zip([*added.trie.keys, *added.counts], [*whole.trie.keys, *whole.counts], strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_nothing_adds_nothing() -> None:
    counts = counts_of(["a b", "b"], 3)
    added = no_counts(3, counts.trie.size) + counts
    assert [count.tolist() for count in added.counts] == [count.tolist() for count in counts.counts]


def test_suffixes_are_n_grams_without_their_first_word() -> None:
    trie = counts_of(["a b a b", "b a"], 3).trie
    for order, rows in enumerate(trie.suffixes(), 2):
        np.testing.assert_array_equal(trie.spell(order)[:, 1:], trie.spell(order - 1)[rows])


def test_words_are_numbered_as_they_come() -> None:
    assert all(first < second for first, second in pairwise(tokens_of(["b a c"], vocabulary(["b a c"]))[1:-1]))
