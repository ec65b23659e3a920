"""Words separated by spaces."""

from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.base import compiled
from regard.base.faults import Fault
from regard.base.recipe import check
from regard.data.tokenisers.spaces import SpaceTokeniser, count_spaced_words, split_at_spaces
from regard.data.tokenisers.symbols import BEGIN, END, NAMES, UNKNOWN
from regard.data.tokenisers.tokeniser import TokeniserOptions, train_tokeniser
from regard.data.tokenisers.words import count_words, read_words


def test_only_spaces_part_words() -> None:
    assert split_at_spaces(" don't  stop\t, N\u00a0A\r\n") == ["don't", "stop", ",", "N\u00a0A"]


def test_words_come_back_with_single_spaces_and_unknown_ones_do_not() -> None:
    tokeniser = SpaceTokeniser(["don't", "stop", "!"])
    tokens = tokeniser.encode(" don't   stop  now !")
    assert tokeniser.decode([BEGIN, *tokens, END]) == "don't stop ⁇ !"
    assert tokeniser.words([BEGIN, *tokens]) == [-1, 0, 1, 2, 3]


def test_a_word_that_is_spelled_like_a_special_token_is_a_word() -> None:
    tokeniser = SpaceTokeniser(["a", "</s>"])
    assert tokeniser.encode("a </s> <unk>") == [len(NAMES), len(NAMES) + 1, UNKNOWN]


def test_it_is_stored_as_its_words() -> None:
    tokeniser = SpaceTokeniser(["b", "a"])
    assert read_words(tokeniser.files("tokeniser")["tokeniser.json"]) == ["b", "a"]


def test_words_that_are_too_rare_are_left_out() -> None:
    lines = ["a. b a.", "a. c b"]
    assert train_tokeniser(TokeniserOptions(kind="spaces", at_least=2), lines).size == len(NAMES) + 2
    assert train_tokeniser(TokeniserOptions(kind="words", at_least=3), lines).size == len(NAMES) + 2  # a and .
    with pytest.raises(Fault, match="at_least needs kind words or spaces, since bpe has no words"):
        check(TokeniserOptions, {"kind": "bpe", "at_least": 2})


@given(
    st.lists(st.text(alphabet="ab\0 \t\n\r\x0b\x1c\x85\u00a0\u0301é語😀", max_size=20), max_size=12),
    st.integers(1, 3),
)
def test_compiled_loops_cut_as_the_pattern_does(lines: list[str], at_least: int) -> None:
    pytest.importorskip("numba")
    results = []
    for items in (10**9, 0):
        with (
            mock.patch.object(compiled, "_WITH_IMPORT", items),
            mock.patch.object(compiled, "_ONCE_IMPORTED", items),
        ):
            words = count_spaced_words(lines, 100, at_least)
            row = SpaceTokeniser(words[:2]).encode_in_a_row(lines)
            results.append((words, row.tokens.tolist(), row.lengths.tolist()))
    assert results[0] == results[1]
    assert results[0][0] == count_words(lines, 100, at_least, split_at_spaces)


@pytest.mark.long
def test_a_compiled_loop_finds_more_words_than_its_table_begins_with() -> None:
    space_loops = pytest.importorskip("regard.data.tokenisers.space_loops")
    words = [f"{'long' * (number % 4)}{number}" for number in range(40_000)]
    counts = space_loops.words_of(" ".join(words) + "\n" + " ".join(reversed(words)), 2)
    assert counts.distinct == words
    assert counts.numbers.tolist() == [*range(40_000), *reversed(range(40_000))]
    assert counts.lengths.tolist() == [40_000, 40_000]
