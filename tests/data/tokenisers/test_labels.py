"""Axis labels: words by hand, and every token in its place and order for any text."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.data.tokenisers.bytewise import ByteTokeniser
from regard.data.tokenisers.labels import is_spelled_word, labels
from regard.data.tokenisers.words import WordTokeniser, count_words

BYTES = ByteTokeniser()


def test_words_and_their_places_on_paper() -> None:
    """l, ê in two bytes; the space belongs to the following word."""
    tokens = [BYTES.begin, *BYTES.encode("(lê só)"), BYTES.end]
    texts, places = labels(BYTES, tokens, by_word=True)
    assert texts == ["<s>", "(", "lê", "só", ")", "</s>"]
    assert places == [0, 1, *[2] * 3, *[3] * 4, 4, 5]


def test_punctuation_that_is_a_token_of_its_own_stands_by_itself() -> None:
    text = "Ana doesn't read (it)."
    tokeniser = WordTokeniser(count_words([text], 100))
    assert labels(tokeniser, tokeniser.encode(text), by_word=True).texts == ["Ana", "doesn't", "read", "(", "it", ")."]


def test_tokens_one_by_one() -> None:
    assert labels(BYTES, [*BYTES.encode("a é"), BYTES.end], by_word=False) == (
        ["a", "▁", "<0xC3>", "<0xA9>", "</s>"],
        [0, 1, 2, 3, 4],
    )


@given(st.text(max_size=30))
def test_every_token_has_a_place_and_no_place_is_empty(text: str) -> None:
    tokens = [*BYTES.encode(text), BYTES.end]
    texts, places = labels(BYTES, tokens, by_word=True)
    assert len(places) == len(tokens)
    assert (places[0], places[-1]) == (0, len(texts) - 1)
    assert all(after - before in (0, 1) for before, after in pairwise(places))


class Speller(ByteTokeniser):
    """Tokeniser that spells letter by letter."""

    spells = True


@pytest.mark.parametrize(
    ("text", "tokeniser", "expected"),
    [("lê", Speller(), True), ("lê só", Speller(), False), ("lê", BYTES, False), ("", Speller(), True)],
)
def test_a_single_word_of_letters(text: str, tokeniser: ByteTokeniser, expected: bool) -> None:
    assert is_spelled_word(tokeniser, [tokeniser.begin, *tokeniser.encode(text), tokeniser.end]) is expected
