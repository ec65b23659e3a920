"""Phrases in texts, and the tokens that write them."""

from functools import cache

import pytest

from regard.data.corpora.options import TokeniserOptions
from regard.data.tokenisers.bytewise import ByteTokeniser
from regard.data.tokenisers.tokeniser import Tokeniser, train_tokeniser
from regard.data.tokenisers.words import WordTokeniser
from regard.decoding.options import DecodingOptions
from regard.families import check_recipe
from regard.tasks.translation.building import build_translation
from regard.verbs.translate.phrasing import search_goal, span_of
from regard.verbs.translate.plan import Piece, Plan
from regard.verbs.translate.search import find

PORTUGUESE = [
    "Eu amo livros.",
    "Ela ama os livros novos!",
    "O livro é meu, e o livreiro dorme.",
    "A casa (nova) é boa.",
]
JAPANESE = ["私は猫が好きです。", "猫は本を読む。", "私はPythonが好きです。", "本が好きな猫。", "犬と猫。"]


@cache
def tokeniser(language: str) -> Tokeniser:
    lines = {"pt": PORTUGUESE, "ja": JAPANESE}[language] * 20
    return train_tokeniser(TokeniserOptions(kind="unigram", vocabulary=300), lines)


@pytest.mark.parametrize(
    ("phrase", "text", "span"),
    [
        ("art", "an artist, a party, smart", None),
        ("art", "(art)", (1, 4)),
        ("art", "smart art", (6, 9)),
        ("o art", "o art.", (0, 5)),
        ("o art", "do art", None),
        ("читает", "он читает", (3, 9)),
        ("чита", "он читает", None),
        ("艺术", "我爱艺术家", (2, 4)),  # no spaces, no borders
        ("Python", "私はPythonが好き", (2, 8)),  # nor where another script begins
        ("...", "well...yes", (4, 7)),
        ("काम", "कामना", None),
        ("चित", "चिता", None),  # a vowel sign is part of the word
    ],
)
def test_a_phrase_is_words_of_their_own(phrase: str, text: str, span: tuple[int, int] | None) -> None:
    assert span_of(phrase, text) == span


def ways(phrase: str, language: str, is_joined: bool = False) -> tuple[list[str], list[str]]:
    """Return the spellings of a phrase anywhere and at the beginning, as texts after an x."""
    cut = tokeniser(language)
    goal = search_goal(cut.encode(phrase), cut, is_joined)
    return tuple(
        [cut.decode([*cut.encode("x"), *spelling]) for spelling in group] for group in (goal.spellings, goal.opening)
    )


def test_words_follow_a_space_and_punctuation_does_not() -> None:
    assert ways("livros", "pt") == (["x livros"], [])
    assert ways(".", "pt") == (["x."], ["x ."])
    assert ways(", e o", "pt") == (["x, e o"], ["x , e o"])
    assert ways("(nova)", "pt") == (["x (nova)", "x(nova)"], [])


def test_what_is_joined_to_its_neighbours_is_written_without_a_space() -> None:
    assert ways("猫", "ja", is_joined=True) == (["x猫"], ["x 猫"])
    assert ways("Python", "ja", is_joined=True) == (["xPython"], ["x Python"])


def test_a_phrase_is_seen_in_whatever_tokens_it_is_written() -> None:
    cut = tokeniser("pt")
    phrase = search_goal(cut.encode("livros"), cut, False)
    letters = [*cut.encode("Eu amo"), *(token for letter in " livros" for token in cut.encode(f"x{letter}")[-1:])]
    for tokens in (cut.encode("livros."), cut.encode("Eu amo livros"), cut.encode("(livros)"), letters):
        assert phrase.occurs_in(tokens) == ("livros" in cut.decode(tokens))
    assert not phrase.occurs_in(cut.encode("O livreiro"))
    assert not search_goal(cut.encode("livr"), cut, False).occurs_in(cut.encode("Eu amo livros."))


def test_a_phrase_joins_the_words_around_it_in_a_script_without_spaces() -> None:
    cut = tokeniser("ja")
    recipe = check_recipe(
        {
            "data": {"train": "demo:train", "source_language": "en", "target_language": "ja"},
            "model": {"encoder_layers": 1, "decoder_layers": 1, "width": 16, "feed_forward": 16, "heads": 2},
        }
    )
    task = build_translation(recipe, cut, cut).eval()
    required = [("犬",), ("猫", "Python")]
    pieces = [Piece(text, required=phrases) for text, phrases in zip(JAPANESE, required, strict=False)]
    for options in (DecodingOptions(beam=1), DecodingOptions(beam=4, n_best=4)):
        for phrases, hypotheses in zip(required, find([task], pieces, Plan(options, requires=True)), strict=True):
            for text in (task.write(hypothesis.tokens) for hypothesis in hypotheses):
                assert all(span_of(phrase, text) for phrase in phrases)
                assert not any(f" {phrase}" in text for phrase in phrases)


def test_tokenisers_without_marks_for_spaces_spell_them_out() -> None:
    cut = ByteTokeniser()
    goal = search_goal(cut.encode("um"), cut, False)
    assert [cut.decode(spelling) for spelling in (*goal.spellings, *goal.opening)] == [" um", "um"]
    words = WordTokeniser(["um", "livro", "."])
    assert [words.decode(spelling) for spelling in search_goal(words.encode("."), words, False).spellings] == ["."]
