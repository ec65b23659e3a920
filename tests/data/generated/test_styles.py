"""Styles of address and paraphrases: the templates, and held-out combinations of words."""

from itertools import product

import pytest

from regard.data.generated.corpora import generate, generator_of, split_names
from regard.data.generated.styles import StyleGrammar, read_grammar, style_corpus

NAMES = ("politeness", "paraphrase")


@pytest.fixture(scope="module", params=NAMES)
def grammar(request: pytest.FixtureRequest) -> StyleGrammar:
    return read_grammar(request.param)


@pytest.mark.parametrize(
    ("name", "language", "pattern", "words", "sentences"),
    [
        (
            "politeness",
            "english",
            3,
            {"name": "Tom", "verb": "keep", "object": "book"},
            ["Tom, can you keep the book?", "Mr Wood, would you be so kind as to keep the book?"],
        ),
        (
            "politeness",
            "portuguese",
            1,
            {"name": "Ana", "verb": "abres", "object": "o livro"},
            ["Ana, tu abriste o livro?", "Ana, você abriu o livro?", "Dona Ana, a senhora abriu o livro?"],
        ),
        (
            "politeness",
            "russian",
            1,
            {"name": "f Вера", "verb": "находишь", "object": "письмо"},
            ["Вера, ты нашла письмо?", "Вера Ивановна, вы нашли письмо?"],
        ),
        (
            "politeness",
            "russian",
            1,
            {"name": "m Иван", "verb": "находишь", "object": "письмо"},
            ["Иван, ты нашёл письмо?", "Иван Сергеевич, вы нашли письмо?"],
        ),
        (
            "paraphrase",
            "portuguese",
            0,
            {"subject": "a menina", "verb": "leu", "object": "f a carta"},
            ["A menina leu a carta.", "A carta foi lida pela menina.", "Foi a menina que leu a carta."],
        ),
        (
            "paraphrase",
            "russian",
            2,
            {"subject": "f девочка", "verb": "нашёл", "object": "n письмо"},
            [
                "Девочка уже нашла письмо.",
                "Письмо уже было найдено девочкой.",
                "Именно девочка уже нашла письмо.",
            ],
        ),
    ],
)
def test_what_the_templates_say(
    name: str, language: str, pattern: int, words: dict[str, str], sentences: list[str]
) -> None:
    side = getattr(read_grammar(name), language)

    def row(slot: str, word: str) -> int:
        return next(place for place, forms in enumerate(side.slots[slot][1:]) if " ".join(forms).startswith(word))

    rows = {slot: row(slot, word) for slot, word in words.items()}
    assert [side.say(pattern, style, rows) for style in range(len(side.styles))] == sentences


def rows_of(grammar: StyleGrammar, language: int):
    slots = grammar.languages[language].slots
    for chosen in product(*(range(len(table) - 1) for table in slots.values())):
        yield dict(zip(slots, chosen, strict=True))


def test_every_word_has_every_form_and_every_pattern_every_style(grammar: StyleGrammar) -> None:
    for language in grammar.languages:
        assert all(len(pattern) == len(language.styles) for pattern in language.patterns)
        assert all(len(row) == len(table[0]) and all(row) for table in language.slots.values() for row in table)


def test_each_word_of_a_held_out_combination_is_learnt_with_others(grammar: StyleGrammar) -> None:
    for language in range(3):
        learnt = [rows for rows in rows_of(grammar, language) if not grammar.is_apart(rows)]
        for slot, table in grammar.languages[language].slots.items():
            assert {rows[slot] for rows in learnt} == set(range(len(table) - 1))


@pytest.mark.parametrize("name", NAMES)
def test_held_out_combinations_are_in_the_test_alone(name: str) -> None:
    grammar, corpus = read_grammar(name), style_corpus(name)
    speaker = grammar.english
    apart = {
        speaker.say(pattern, style, rows)
        for rows in rows_of(grammar, 0)
        if grammar.is_apart(rows)
        for pattern, style in product(range(len(speaker.patterns)), range(len(speaker.styles)))
    }
    texts = {split: {text for pair in pairs for text in pair} for split, pairs in corpus.items()}
    assert not (texts["train"] | texts["valid"]) & apart
    english = {
        target
        for source, target in corpus["test"]
        if source.startswith(tuple(f"[{style}]" for style in speaker.styles))
    }
    assert english
    assert english <= apart


@pytest.mark.parametrize("name", NAMES)
def test_the_splits_have_their_sizes_and_share_nothing(name: str) -> None:
    corpus = style_corpus(name)
    assert {split: len(pairs) for split, pairs in corpus.items()} == {"train": 12000, "valid": 500, "test": 1000}
    sources = [source for pairs in corpus.values() for source, _ in pairs]
    assert len(set(sources)) == len(sources)


def test_generated_corpora_are_named_like_files() -> None:
    assert [generator_of(name) for name in ("talks:train", "demo:x", "talks", "multi30k:raw/a", "C:talks")] == [
        "talks",
        "demo",
        None,
        None,
        None,
    ]
    assert split_names("talks") == ["talks:train", "talks:valid", "talks:test"]
    assert generate("talks:valid")[0][0].startswith("— ")
