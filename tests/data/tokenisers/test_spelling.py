"""Spelling of unseen text by tokenisers."""

import pytest

from regard.base.faults import Fault
from regard.data.tokenisers.spelling import Spelling, spelling, spellings_line
from regard.data.tokenisers.tokeniser import Tokeniser, TokeniserOptions, train_tokeniser

ENGLISH = ["the cats sleep in the garden", "the dogs see the garden", "cats and dogs see the houses"] * 20


def trained(**options: object) -> Tokeniser:
    return train_tokeniser(TokeniserOptions.model_validate({"vocabulary": 400, "kind": "bpe"} | options), ENGLISH)


def test_its_own_text_is_neither_taken_apart_nor_unknown() -> None:
    result = spelling(trained(), ENGLISH)
    assert (result.words, result.apart, result.unknown) == (340, 0, 0)


def test_words_of_another_script_are_spelled_in_bytes() -> None:
    result = spelling(trained(), ["the дом sleep", "мы 漢 the cats"])
    assert (result.words, result.apart, result.unknown) == (7, 3, 0)


def test_without_bytes_they_are_unknown() -> None:
    result = spelling(trained(byte_fallback=False), ["the дом sleep", "мы 漢 the cats"])
    assert (result.words, result.unknown, result.example) == (7, 3, "дом")


def test_words_of_single_letters_are_taken_apart_and_marks_and_figures_are_not() -> None:
    """Each letter occurs alone, so all letters are tokens, and no piece of the new words is one."""
    tokeniser = train_tokeniser(TokeniserOptions(vocabulary=330), [*ENGLISH, "z q x 1 9 4 5 ! ( )"])
    result = spelling(tokeniser, ["zqx the 1945 !(!) (q)"])
    assert (result.words, result.apart, result.unknown) == (5, 1, 0)


@pytest.mark.parametrize("kind", ["bytes", "characters"])
def test_where_every_token_is_single_nothing_is_taken_apart(kind: str) -> None:
    assert spelling(trained(kind=kind), ["the cats sleep"]).apart == 0


def test_a_tokeniser_of_words_does_not_know_others() -> None:
    result = spelling(trained(kind="words", vocabulary=40), ["the cats sing"])
    assert (result.words, result.unknown, result.example) == (3, 1, "sing")


def test_the_shares_are_said_in_one_line() -> None:
    sides = {
        "source": Spelling(words=1000, apart=21, unknown=0),
        "target": Spelling(words=1000, apart=0, unknown=5, example="дом"),
    }
    assert spellings_line(sides) == (
        "the existing tokenisers spell 2.1% of the source's and 0.0% of the target's words in single letters or "
        "bytes; 0.5% of the target's have characters without a token, such as 'дом'"
    )


def test_text_that_is_mostly_unknown_is_refused() -> None:
    Spelling(words=10, apart=0, unknown=5, example="дом").check("source")
    with pytest.raises(Fault, match=r"60% of the source's words have characters .* such as 'дом'; train from scratch"):
        Spelling(words=10, apart=0, unknown=6, example="дом").check("source")
