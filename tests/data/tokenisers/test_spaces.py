"""Words as spaces part them."""

import pytest

from regard.base.faults import Fault
from regard.base.recipe import check
from regard.data.tokenisers.spaces import SpaceTokeniser, split_at_spaces
from regard.data.tokenisers.symbols import BEGIN, END, NAMES, UNKNOWN
from regard.data.tokenisers.tokeniser import TokeniserOptions, train_tokeniser
from regard.data.tokenisers.words import read_words


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
    with pytest.raises(Fault, match="at_least needs kind words or spaces, for bpe has no words"):
        check(TokeniserOptions, {"kind": "bpe", "at_least": 2})
