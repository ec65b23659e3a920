"""Text spelled in a few symbols, and text that is not."""

import random

import pytest

from regard.data.corpora.alphabets import Alphabet
from regard.data.tokenisers.tokeniser import TokeniserOptions, train_tokeniser

PHONEMES = ["AA", "AE", "AH", "B", "D", "EH", "F", "HH", "IY", "K", "L", "M", "NG", "OW", "P", "R", "SH", "T", "UW"]
CYRILLIC = "абвгдеёжзийклмнопрстуфхцчшщъыьэюя"
CJK = [chr(code) for code in range(0x4E00, 0x4E00 + 1500)]


def lines_of(units: list[str] | str, between: str, count: int = 400, length: int = 8) -> list[str]:
    chance = random.Random(1)
    return [between.join(chance.choices(list(units), k=chance.randint(2, length))) for _ in range(count)]


def unit_of(lines: list[str]) -> str | None:
    alphabet = Alphabet()
    for line in lines:
        alphabet.add(line)
    return alphabet.unit


@pytest.mark.parametrize(
    ("units", "between", "unit"),
    [
        (PHONEMES, " ", "symbol"),
        (CYRILLIC, " ", "symbol"),
        ("abcdef.,'\"-", " ", "symbol"),
        ("0123456789+-", " ", "symbol"),
        ("abcdefghij", "", "character"),  # separate words
        (CYRILLIC, "", "character"),
        ("ACGT", "", "character"),
        (CJK, "", None),  # 1,500 characters are not a closed set
        (CJK, " ", None),
    ],
)
def test_a_few_symbols_are_seen_whatever_the_script(units: str, between: str, unit: str | None) -> None:
    assert unit_of(lines_of(units, between)) == unit


@pytest.mark.parametrize("count", [50, 100, 200])
@pytest.mark.parametrize(("units", "between"), [(PHONEMES, " "), ("abcdefghij", " "), ("abcdefghij", "")])
def test_small_files_show_it_too(units: list[str] | str, between: str, count: int) -> None:
    assert unit_of(lines_of(units, between, count)) == ("symbol" if between else "character")


def test_a_sentence_that_is_repeated_is_not_spelled_out() -> None:
    assert unit_of(["It is a cat."] * 5000) is None
    assert unit_of(["It is a cat.", "He is my pa."] * 500) is None


def words(letters: str, count: int) -> list[str]:
    chance = random.Random(2)
    return ["".join(chance.choices(letters, k=chance.randint(2, 9))) for _ in range(count)]


@pytest.mark.parametrize(
    "lines",
    [
        lines_of(words("etaoinshrdlu", 3000), " "),  # like sentences of any language in letters
        lines_of(words(CYRILLIC, 3000), " "),
        lines_of(words("etaoinshrdlu", 120), " ", count=2000),  # a small vocabulary, but of words
        lines_of("的一是不了人我在有他", " ", count=5),  # this few lines show no closed set
        lines_of("abcdefghij", "", length=400),  # a page without a space
        [*lines_of("abcdefghij", "", count=300), *lines_of("abcdefghij", " ", count=100)],  # neither nor
        ["", " "],
        [],
    ],
)
def test_languages_are_not_spelled_out(lines: list[str]) -> None:
    assert unit_of(lines) is None


@pytest.mark.parametrize(
    ("units", "is_one"),
    [(PHONEMES, True), (CYRILLIC, True), ("abc.,!?'\"-()", True), (["AH0", "<b-c>", "d'"], False)],
)
def test_symbols_are_tokens_and_lines_come_back_exactly(units: list[str] | str, is_one: bool) -> None:
    """This includes punctuation, quotes, double spaces and an unseen symbol."""
    lines = lines_of(units, " ")
    tokeniser = train_tokeniser(TokeniserOptions(vocabulary=340 + 40), lines)
    for line in lines:
        assert not is_one or len(tokeniser.encode(line)) == len(line.split())
    for line in (*lines, f"{lines[0]}  {lines[1]}", f"{lines[0]} ж {lines[1]}", "語"):
        assert tokeniser.decode(tokeniser.encode(line)) == line
