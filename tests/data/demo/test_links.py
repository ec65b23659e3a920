"""The true links of the demo corpus: they leave the corpus unchanged, and each points at words of the right kind."""

import hashlib
import re

import pytest

from regard.base.faults import Fault
from regard.data.demo.corpus import SPLITS, linked_pairs, pairs
from regard.data.demo.entries import lexicon
from regard.data.demo.wording import Word, glossed, glossed_words, word_links

# Checksum of the pairs as English, a tab and Portuguese, from before there were links.
CHECKSUMS = {
    "train": "74345bd88d8f1b1f80efc804509733c0af0cfb90e5e516ebc333d2a89fffa974",
    "valid": "ae2f93823db2d5c5ee99bf532cd0881578aa4890f0bf8769ab5b0284fc221bd4",
    "test": "ccc07cd617bc9aef21431cbf49a5cf8a753bf1a71f32f01cb5ad1811884f3873",
}
WORDS = lexicon()
ENGLISH_NOUNS = {form for noun in WORDS.nouns.values() for form in (noun.name, noun.plural)} - {""}
PORTUGUESE_NOUNS = {form: noun for noun in WORDS.nouns.values() for form in noun.portuguese if form}
NAMES = {*WORDS.words.names.feminine, *WORDS.words.names.masculine}
ENGLISH_ADJECTIVES = {adjective.english for adjective in WORDS.adjectives.values()}
PORTUGUESE_ADJECTIVES = {form for adjective in WORDS.adjectives.values() for form in adjective.forms}
PRONOUNS = {
    text
    for name, entry in WORDS.words.pronouns.items()
    for text in (*name.split(), *entry.object.split(), entry.portuguese, entry.before, entry.after)
}


def spoken(sentence: str) -> list[str]:
    """Return the words of a sentence without capital and punctuation; names and nationalities keep theirs."""
    words = sentence[:-1].split()
    first = words[0]
    has_capital = first.removesuffix("'s") in NAMES | ENGLISH_ADJECTIVES | {"I"}
    return [first if has_capital else first[0].lower() + first[1:], *words[1:]]


@pytest.mark.parametrize("split", SPLITS)
def test_the_corpus_is_the_same_as_before_it_had_links(split: str) -> None:
    lines = "".join(f"{english}\t{portuguese}\n" for english, portuguese in pairs(split))
    assert hashlib.sha256(lines.encode()).hexdigest() == CHECKSUMS[split]


LINKED = {
    "I love books.": "0-0 1-1 2-2",
    "The small houses are white.": "0-0 1-2 2-1 3-3 4-4",
    "I see the white house.": "0-0 1-1 2-2 3-4 4-3",
    "This woman watched all the movies.": "0-0 1-1 2-2 2p3 3-4 4-5 5-6",
}


def test_links_as_a_person_would_draw_them() -> None:
    links = {pair.source: str(pair.links) for pair in linked_pairs("train", count=1000)}
    assert {source: links[source] for source in LINKED} == LINKED
    of_test = {pair.source: pair for pair in linked_pairs("test")}
    # Os cachorros felizes de Ana estavam naqueles sofás.
    assert str(of_test["Ana's happy dogs were on those sofas."].links) == "0p0 0p3 0-4 1-2 2-1 3-5 4-6 5-6 6-7"
    denied = of_test[
        "They do not want to help all the brown horses."
    ]  # Eles não querem ajudar todos os cavalos marrons.
    assert str(denied.links) == "0-0 1p2 2-1 3-2 4p2 4p3 5-3 6-4 7-5 8-7 9-6"
    assert denied.source_roles == {
        "verb-subject": [(3, 0)],
        "verb-object": [(5, 9)],
        "adjective-noun": [(8, 9)],
        "determiner-noun": [(6, 9), (7, 9)],
        "negation": [(2, 3)],
    }
    assert denied.target_roles["negation"] == [(1, 2)]


@pytest.mark.parametrize("split", ["valid", "test"])
def test_links_come_with_their_pairs_and_stay_within_them(split: str) -> None:
    linked = linked_pairs(split)
    assert [(pair.source, pair.target) for pair in linked] == pairs(split)
    for pair in linked:
        source, target = pair.source.split(), pair.target.split()
        for i, j in pair.links.sure + pair.links.possible:
            assert 0 <= i < len(source)
            assert 0 <= j < len(target)
        assert not {*pair.links.sure} & {*pair.links.possible}
        # Every Portuguese word has a sure link, except those that only accompany others.
        unsure = {*range(len(target))} - {j for _, j in pair.links.sure}
        assert {spoken(pair.target)[j] for j in unsure} <= {
            "o", "a", "os", "as", "de", "em", "do", "da", "dos", "das", "no", "na", "nos", "nas", "ao", "à", "às",
        }  # fmt: skip


@pytest.mark.parametrize("split", ["valid", "test"])
def test_a_noun_is_linked_to_its_translation_and_an_adjective_to_its_own(split: str) -> None:
    """Derived from the sentences and the lexicon, without the grammar's draws."""
    nouns = {form: noun.portuguese for noun in WORDS.nouns.values() for form in (noun.name, noun.plural) if form}
    adjectives = {adjective.english: adjective.forms for adjective in WORDS.adjectives.values()}
    for pair in linked_pairs(split):
        source, target = spoken(pair.source), spoken(pair.target)
        for i, word in enumerate(source):
            linked = [target[j] for k, j in pair.links.sure if k == i]
            bare = word.removesuffix("'s")
            for lexicon_part in (nouns, adjectives):
                if bare in lexicon_part and bare not in {"old", "fish"} | set(ENGLISH_VERBS):
                    assert len(linked) == 1
                    assert linked[0] in lexicon_part[bare]
            if bare in NAMES:
                assert linked == [bare]


ENGLISH_VERBS = {form.split()[0] for verb in WORDS.verbs.values() for form in verb.english}
PORTUGUESE_VERBS = {form for verb in WORDS.verbs.values() for form in (*verb.present, *verb.past, *verb.future)}
PORTUGUESE_VERBS |= {form for modal in WORDS.words.modals.values() for form in modal.portuguese}
PORTUGUESE_VERBS |= {form for copula in WORDS.words.copulas.values() for form in (*copula.present, *copula.past)}
PORTUGUESE_VERBS |= {form for copula in WORDS.words.copulas.values() for form in copula.future}
BE = {"am", "is", "are", "was", "were", "be", "can", "cannot", "can't"}


def is_verb(word: str) -> bool:
    return word in ENGLISH_VERBS | PORTUGUESE_VERBS | BE or word.removesuffix("n't") in BE


def is_noun(word: str) -> bool:
    return word.removesuffix("'s") in ENGLISH_NOUNS | NAMES | PORTUGUESE_NOUNS.keys()


KINDS = {
    "verb-subject": (is_verb, lambda word: is_noun(word) or word in PRONOUNS),
    "verb-object": (
        lambda word: is_verb(word) or word in {verb.infinitive for verb in WORDS.verbs.values()},
        lambda word: is_noun(word) or word in PRONOUNS or re.fullmatch("[dn]el[ea]s?|comigo|conosco", word),
    ),
    "adjective-noun": (
        lambda word: word in ENGLISH_ADJECTIVES | PORTUGUESE_ADJECTIVES,
        lambda word: is_noun(word) or word in PRONOUNS,
    ),
    "number-noun": (lambda word: word in WORDS.words.numbers or word in PORTUGUESE_NUMBERS, is_noun),
    "owner-noun": (is_noun, is_noun),
    "negation": (lambda word: word in {"not", "não"} or word.endswith("n't") or word == "cannot", is_verb),
    "determiner-noun": (lambda word: word in DETERMINERS, is_noun),
}
PORTUGUESE_NUMBERS = {form for forms in WORDS.words.numbers.values() for form in forms}
DETERMINERS = {
    word
    for entry in WORDS.words.determiners.values()
    for text in (*entry.english, *entry.portuguese, entry.after)
    for word in text.split()
} | {"an", *WORDS.words.contractions.values()}


@pytest.mark.parametrize("split", ["valid", "test"])
def test_links_within_a_sentence_join_words_of_the_right_kinds(split: str) -> None:
    seen = set()
    for pair in linked_pairs(split):
        for text, roles in ((pair.source, pair.source_roles), (pair.target, pair.target_roles)):
            words = spoken(text)
            for kind, links in roles.items():
                first, second = KINDS[kind]
                for i, j in links:
                    assert first(words[i]), (kind, text, words[i])
                    assert second(words[j]), (kind, text, words[j])
                seen.add(kind)
    assert seen == KINDS.keys()


def test_every_denial_and_every_adjective_is_linked() -> None:
    for pair in linked_pairs("test"):
        words = spoken(pair.target)
        assert ("não" in words) == ("negation" in pair.target_roles)
        described = {i for i, _ in pair.target_roles.get("adjective-noun", [])}
        assert described == {i for i, word in enumerate(words) if word in PORTUGUESE_ADJECTIVES}


def test_an_adjective_agrees_with_the_noun_it_is_linked_to() -> None:
    adjectives = [adjective.forms for adjective in WORDS.adjectives.values()]
    for pair in linked_pairs("test"):
        words = spoken(pair.target)
        for i, j in pair.target_roles.get("adjective-noun", []):
            if words[j] in PORTUGUESE_NOUNS and words[j] not in {"lápis", "ônibus"}:
                noun = PORTUGUESE_NOUNS[words[j]]
                place = 2 * (words[j] != noun.portuguese[0]) + noun.feminine
                assert any(forms[place] == words[i] for forms in adjectives), pair.target


def test_a_word_that_goes_along_is_a_possible_link_and_two_such_words_are_none() -> None:
    source = [Word("do", (), ("verb",)), Word("like", ("verb",))]
    target = [Word("gosto", ("verb",)), Word("de", (), ("verb",))]
    assert str(word_links(source, target)) == "0p0 1-0 1p1"


def test_a_translation_of_several_words_without_glosses_is_refused() -> None:
    assert glossed_words("quantos", "how many", "d", None) == (Word("quantos", ("d/how", "d/many")),)
    with pytest.raises(Fault, match=r"links\.toml does not say what each word of 'na semana' stands for"):
        glossed_words("na semana", "week", "time", None)
    with pytest.raises(Fault, match=r"links\.toml has 1 glosses for 'na semana'; each word needs one"):
        glossed(["na", "semana"], ["week"], {})
