"""Tokenising and counting text in any script and any encoding form."""

import unicodedata
from collections import Counter
from itertools import groupby

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

from regard.metrics import ngrams
from regard.metrics.ngrams import count_shared, counts, tokens, windows, words

# Everything that the tokeniser 13a treats specially, many kinds of white space, and letters in two code points.
BITS = ["a", "b.", "1,2", "3-4", "x.,y", ".", ",", "...", "5.", "6,", "-", "-\n", "\n", "<skipped>", "&quot;", "&amp;",
        " ", " ", "\t", "\u00a0", "\u2028", "\x1c", "(é)", "а\u0301", "\u0301", "ΑΣ", "漢字", "😀", "'"]  # fmt: skip
texts = st.lists(st.sampled_from(BITS), max_size=12).map("".join) | st.text(max_size=12)


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
    assert count_shared("aab", "babb") == count_shared("babb", "aab") == 2
    assert count_shared([*windows("abab", 2)], [*windows("babab", 2)]) == 3


@given(texts)
def test_texts_are_cut_piece_by_piece_as_they_would_be_whole(text: str) -> None:
    whole = unicodedata.normalize("NFC", text)
    assert tokens(text) == Tokenizer13a()(whole).split()
    runs = groupby(whole.lower(), lambda character: unicodedata.category(character)[0] in "LMN")
    assert words(text) == ["".join(run) for belongs, run in runs if belongs]


def test_what_is_remembered_of_pieces_stays_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ngrams, "_KEPT", 3)
    assert words("não é, à toa, só é não") == ["não", "é", "à", "toa", "só", "é", "não"]
    assert len(ngrams._WORDS) <= 3


@given(st.lists(st.sampled_from("abc")), st.lists(st.sampled_from("abc")))
def test_what_is_shared_is_what_both_counts_have(first: list[str], other: list[str]) -> None:
    assert count_shared(first, other) == (Counter(first) & Counter(other)).total()
