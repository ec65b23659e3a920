"""The lexicon of the demo corpus compared with the rules of the two languages, with the exceptions named here."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from importlib.resources import files
from itertools import chain

import pytest

from regard.base.faults import Fault
from regard.base.recipe import check
from regard.data.demo.entries import VERB_FILES, _noun, lexicon, read_grammar
from regard.data.demo.patterns import Pattern

IRREGULAR_PLURALS = {"irmão": "irmãos", "mãe": "mães", "lápis": "lápis", "ônibus": "ônibus", "país": "países"}
IRREGULAR_VERBS = {
    "querer", "ter", "ler", "perder", "ouvir", "trazer", "construir",
    "ver", "dar", "dormir", "ir", "vir", "sair", "odiar",
}  # fmt: skip
STATES = {"querer", "ter", "precisar"}  # their past is the imperfeito


def plural(word: str) -> str:
    """Return the regular Portuguese plural."""
    for ending, others in {"ão": "ões", "el": "éis", "al": "ais", "m": "ns", "r": "res", "z": "zes"}.items():
        if word.endswith(ending):
            return word.removesuffix(ending) + others
    return word + "s"


def test_portuguese_nouns_form_their_plural_by_rule() -> None:
    for noun in lexicon().nouns.values():
        singular, several = noun.portuguese
        if noun.counted:
            assert several == IRREGULAR_PLURALS.get(singular, plural(singular))


def test_portuguese_adjectives_agree_by_rule() -> None:
    special = {"bom": "boa", "português": "portuguesa"}
    plurals = {"português": "portugueses", "simples": "simples", "azul": "azuis", "útil": "úteis", "gentil": "gentis"}
    plurals |= {"fácil": "fáceis", "difícil": "difíceis", "confortável": "confortáveis"}
    for adjective in lexicon().adjectives.values():
        masculine, feminine, masculines, feminines = adjective.forms
        assert feminine == special.get(masculine, re.sub("o$", "a", masculine))
        assert masculines == plurals.get(masculine, plural(masculine))
        assert feminines == plurals.get(feminine, plural(feminine))


def conjugated(infinitive: str) -> tuple[list[str], list[str], list[str]]:
    """Return the regular present, pretérito perfeito and future, with spelling that keeps the sound."""
    stem, vowel = infinitive[:-2], infinitive[-2]
    present = {"a": "o a amos am", "e": "o e emos em", "i": "o e imos em"}[vowel].split()
    past = {"a": "ei ou amos aram", "e": "i eu emos eram", "i": "i iu imos iram"}[vowel].split()
    hard = re.sub("[cçg]$", lambda last: {"c": "qu", "ç": "c", "g": "gu"}[last[0]], stem)
    soft = re.sub("[cg]$", lambda last: {"c": "ç", "g": "j"}[last[0]], stem)
    return (
        [(soft if vowel != "a" and not number else stem) + ending for number, ending in enumerate(present)],
        [(hard if vowel == "a" and not number else stem) + ending for number, ending in enumerate(past)],
        [infinitive + ending for ending in ("ei", "á", "emos", "ão")],
    )


def test_portuguese_verbs_are_conjugated_by_rule() -> None:
    assert conjugated("abraçar")[1] == ["abracei", "abraçou", "abraçamos", "abraçaram"]
    for verb in lexicon().verbs.values():
        present, past, future = conjugated(verb.infinitive)
        if verb.infinitive not in IRREGULAR_VERBS:
            assert verb.present == present
        if verb.infinitive not in IRREGULAR_VERBS | STATES:
            assert verb.past == past
        if verb.infinitive != "trazer":
            assert verb.future == future


def test_english_verbs_and_nouns_take_their_s_by_rule() -> None:
    def with_s(word: str) -> str:
        word = re.sub("([^aeiou])y$", r"\1ie", word)
        return word + ("es" if re.search("(s|sh|ch|x|z|o)$", word) else "s")

    irregular = {
        "man": "men",
        "woman": "women",
        "child": "children",
        "knife": "knives",
        "photo": "photos",
        "have": "has",
    }
    for noun in lexicon().nouns.values():
        if noun.counted:
            assert noun.plural == irregular.get(noun.name, with_s(noun.name))
    for verb in lexicon().verbs.values():
        base, third, _ = (form.split()[0] for form in verb.english)
        assert third == irregular.get(base, with_s(base))


def test_no_english_word_stands_for_two_things() -> None:
    words = lexicon()
    nouns = [form for noun in words.nouns.values() for form in {noun.name, noun.plural} - {""}]
    adjectives = [adjective.english.lower() for adjective in words.adjectives.values()]
    verbs = [form for verb in words.verbs.values() for form in set(verb.english)]
    repeated = [word for word, count in Counter(nouns + adjectives + verbs).items() if count > 1]
    assert not repeated


def test_the_lexicon_has_a_few_hundred_words() -> None:
    words = lexicon()
    small = words.words
    counts = [words.nouns, words.adjectives, words.verbs, small.determiners, small.numbers, small.prepositions]
    assert sum(map(len, [*counts, small.pronouns, small.times, small.adverbs, small.modals])) >= 300


def texts(value: object) -> Iterator[str]:
    """Return every text in the tables of a TOML file, names included."""
    match value:
        case str():
            yield value
        case dict():
            yield from chain(value, *map(texts, value.values()))
        case list():
            yield from chain(*map(texts, value))


def test_every_file_is_in_nfc_and_no_entry_has_stray_spaces() -> None:
    grammar = files("regard.data.demo").joinpath("grammar")
    names = [file.name for file in grammar.iterdir()]
    assert set(VERB_FILES) < set(names)
    for name in names:
        written = grammar.joinpath(name).read_text(encoding="utf-8")
        assert written == unicodedata.normalize("NFC", written)
        assert [text for text in texts(read_grammar(name)) if text != " ".join(text.split())] == []


def test_every_place_has_a_preposition() -> None:
    words = lexicon()
    placed = set(words.members(chain(*(entry.goes_with for entry in words.words.prepositions.values()))))
    standing = [pair["places"] for pair in read_grammar("patterns.toml")["standing"]]
    assert set(words.members(chain(*standing, *(verb.places for verb in words.verbs.values())))) <= placed


def test_a_noun_whose_articles_disagree_is_refused() -> None:
    with pytest.raises(Fault, match=r"nouns\.toml: boy must read like"):
        _noun("boy", ["boys", "o menino", "as meninos"])


def test_an_unknown_group_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(Fault, match="no noun, kind or group 'anmal'; did you mean 'animal'"):
        lexicon().members(["anmal"])


def test_an_unknown_slot_is_refused() -> None:
    pattern = {"verb": "alone", "weight": 1, "english": "{subject} {vrb}.", "portuguese": "{subject} {verb}."}
    with pytest.raises(Fault, match="english: there is no slot vrb"):
        check(Pattern, pattern)
