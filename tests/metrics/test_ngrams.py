"""How text is cut and counted, in any script and however it was typed."""

import pytest

from regard.metrics.ngrams import counts, shared, tokens, words


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("The cat, sat!", ["the", "cat", "sat"]),
        ("don't", ["don", "t"]),
        ("snake_case 3.5", ["snake", "case", "3", "5"]),
        ("Não é; à-toa", ["não", "é", "à", "toa"]),
        ("na\u0303o", ["n\u00e3o"]),
        ("«За\u0301мок» закрыт", ["за\u0301мок", "закрыт"]),
        ("naïve plain", ["naïve", "plain"]),
        ("हिन्दी", ["हिन्दी"]),  # its vowel signs are marks, which belong to the word
        ("... — !", []),
        ("", []),
    ],
)
def test_words_are_runs_of_letters_marks_and_digits(text: str, cut: list[str]) -> None:
    assert words(text) == cut


def test_tokens_are_those_of_sacrebleu() -> None:
    assert tokens("Hello, world! It costs 3.5.") == ["Hello", ",", "world", "!", "It", "costs", "3.5", "."]
    assert tokens("na\u0303o") == ["n\u00e3o"]


def test_ngrams_are_counted() -> None:
    assert counts("abab", 2) == {("a", "b"): 2, ("b", "a"): 1}
    assert counts("ab", 3) == {}


def test_what_is_shared_counts_as_often_as_in_the_text_that_has_it_less_often() -> None:
    assert shared(counts("aab", 1), counts("abbb", 1)) == 2
