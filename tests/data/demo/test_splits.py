"""The splits of the demo corpus: sizes, order, and held-out combinations, derived from the sentences."""

import hashlib
import re
import subprocess
import sys
import unicodedata
from collections import defaultdict
from functools import cache
from itertools import pairwise, product

import pytest

from regard.base.faults import Fault
from regard.data.demo import corpus as generated
from regard.data.demo.corpus import NOTICE, SPLITS, held_out, linked_pairs, pairs
from regard.data.demo.draws import Dice
from regard.data.demo.entries import lexicon
from regard.data.demo.filled_patterns import DemoSentences
from regard.data.demo.noun_phrases import Combination
from regard.data.demo.portuguese import Portuguese

BE = "(?:am|is|are|was|were|will be|will not be|won't be|(?:is|are|was|were)(?:n't| not))"
BETWEEN = r"(?:(?!in |on |to |under |behind |near |next )[\w'-]+ ){0,5}?"  # words that start no phrase
DOING = "(?:(?:will|won't|do|does|did|don't|doesn't|didn't|not|can|can't|cannot|wants?|needs?|to|always|never|also) )*"
HELPERS = {"present": "(?:do|does)", "past": "did", "future": "will"}


def any_of(*words: str) -> str:
    return f"(?:{'|'.join(word for word in words if word)})"


def noun(name: str) -> str:
    entry = lexicon().nouns[name]
    return rf"\b{any_of(entry.name, entry.plural)}\b(?!')"


def surface(combination: Combination) -> str:
    """Return a combination as it looks in English, independently of the grammar's notes."""
    kind, (first, second) = combination
    words = lexicon()
    match kind:
        case "adjective-noun":
            adjective, described = words.adjectives[first].english, noun(second)
            pattern = rf"\b{adjective} {described}|{described} {BE} (?:very )?{adjective}\b"
            return pattern + rf"|^(?:is|are|was|were|will)\b.*{described} (?:be )?{adjective}\?"
        case "verb-object":
            base, *_ = forms = words.verbs[first].english
            counted = words.nouns[second].plural or second
            return rf"\b{any_of(*forms)} {BETWEEN}{noun(second)}|^how many (?:\w+ )?{counted} .*\b{base}\?"
        case "subject-verb":
            return rf"{noun(first)} {DOING}{any_of(*words.verbs[second].english)}\b"
        case "number-noun":
            return rf"\b{first} (?:\w+ )?{noun(second)}"
        case "determiner-noun":
            spoken = "an?" if first == "a" else any_of(*set(words.words.determiners[first].english))
            return rf"(?<!\bhow )\b{spoken} (?:\w+ )?{noun(second)}"
        case "preposition-noun":
            preposition = words.words.prepositions[first].english
            return rf"\b{preposition} (?!front of ){BETWEEN}{noun(second)}"
        case "question":
            base, third, past = words.verbs[second].english
            who = {"present": third, "past": past, "future": f"will {base}"}[first]
            return rf"\b{HELPERS[first]} (?:.* )?(?<!to ){base}\b(?! to ).*\?|^who {who}\b.*\?"
    raise AssertionError(kind)


@cache
def sentences(split: str) -> dict[str, set[str]]:
    """Return the English sentences of a split by their words."""
    holding: dict[str, set[str]] = defaultdict(set)
    for english, _ in pairs(split):
        for word in re.findall(r"[\w-]+", english.lower()):
            holding[word].add(english.lower())
    return holding


def showing(combination: Combination, split: str) -> set[str]:
    """Return the English sentences of a split that show the combination."""
    *_, last = combination.words
    words = lexicon()
    forms = words.verbs[last].english if last in words.verbs else [last, words.nouns[last].plural]
    candidates = set().union(*(sentences(split).get(form.partition(" ")[0], ()) for form in forms))
    return {english for english in candidates if re.search(surface(combination).lower(), english)}


@pytest.mark.parametrize("split", ["train", "valid"])
def test_no_held_out_combination_is_ever_learned(split: str) -> None:
    assert [(combination, english) for combination in held_out() for english in showing(combination, split)] == []


def test_every_test_sentence_shows_a_held_out_combination() -> None:
    shown = {english for combination in held_out() for english in showing(combination, "test")}
    assert shown == {english.lower() for english, _ in pairs("test")}


def test_every_held_out_combination_is_tested() -> None:
    assert [str(combination) for combination in held_out() if not showing(combination, "test")] == []


def test_the_portuguese_of_a_held_out_adjective_and_noun_is_never_read() -> None:
    neighbours = set()
    for split in ("train", "valid"):
        for _, portuguese in pairs(split):
            words = re.findall(r"[\w-]+", portuguese.lower())
            neighbours.update(pairwise(words))
    for kind, (adjective, name) in held_out():
        if kind == "adjective-noun":
            together = product(lexicon().nouns[name].portuguese, lexicon().adjectives[adjective].forms)
            assert not neighbours & set(together)


def test_many_combinations_of_several_kinds_are_held_out() -> None:
    assert len(set(held_out())) == len(held_out()) >= 60
    assert len({combination.kind for combination in held_out()}) >= 5
    assert str(held_out()[0]) == "adjective-noun: red + house"


@pytest.mark.parametrize("side", [0, 1])
def test_every_word_that_is_tested_was_learned(side: int) -> None:
    learned, tested = (
        {word for pair in pairs(split) for word in re.findall(r"[\w'-]+", pair[side].lower())}
        for split in ("train", "test")
    )
    assert tested <= learned


def test_sizes() -> None:
    assert {split: len(pairs(split)) for split in SPLITS} == {"train": 30_000, "valid": 500, "test": 1_000}


@pytest.mark.parametrize("side", [0, 1])
def test_no_sentence_occurs_twice_within_or_across_splits(side: int) -> None:
    texts = [pair[side].casefold() for split in SPLITS for pair in pairs(split)]
    assert len(set(texts)) == len(texts)


def test_the_sentence_everyone_tries_is_learned() -> None:
    assert ("I love books.", "Eu amo livros.") in pairs("train")


def everything() -> list[tuple[str, str]]:
    return [pair for split in SPLITS for pair in pairs(split)]


def test_sentences_are_short_clean_and_in_nfc() -> None:
    for pair in everything():
        for text in pair:
            assert text == unicodedata.normalize("NFC", text)
            assert re.fullmatch(r"[A-ZÀ-Ý][a-zà-ÿA-ZÀ-Ý' -]*[a-zà-ÿ][.?]", text)
            assert "  " not in text
        assert 2 <= len(pair[0].split()) <= 11
        assert pair[0][-1] == pair[1][-1]


def test_what_portuguese_contracts_is_contracted() -> None:
    apart = re.compile(
        r"\b(?:(?:de|em|a|por) (?:[oa]s?|(?:meu|minha|seu|sua|noss[oa])s?)"
        r"|(?:de|em) (?:est|aquel)[ea]s?|(?:de|em) el[ea]s?|a aquel[ea]s?|com (?:mim|nós))\b"
    )
    assert apart.search("Eu estou em a casa")
    assert apart.search("Eu gosto de ele")
    assert [portuguese for _, portuguese in everything() if apart.search(portuguese)] == []


def test_english_says_an_before_a_vowel_sound_alone() -> None:
    wrong = re.compile(r"\b(?:a [aeiou](?<!a u)|an [^aeiou])", re.IGNORECASE)
    assert [english for english, _ in everything() if wrong.search(english)] == []


@pytest.mark.long
def test_the_corpus_is_the_same_in_every_process_and_quickly_made() -> None:
    """This holds for any hash seed, and without torch, whose import alone would take longer."""
    code = (
        "import hashlib, sys, time; from regard.data.demo.corpus import SPLITS, pairs; "
        "text = repr([pairs(split) for split in SPLITS]); assert 'torch' not in sys.modules; "
        "print(hashlib.sha256(text.encode()).hexdigest(), time.process_time())"
    )
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    digest, seconds = process.stdout.split()
    assert digest == hashlib.sha256(repr([pairs(split) for split in SPLITS]).encode()).hexdigest()
    assert float(seconds) < 20  # two or three on an idle machine


def test_pairs_can_be_changed_without_changing_the_corpus() -> None:
    pairs("valid").clear()
    assert len(pairs("valid")) == 500


@pytest.mark.one_in(3)
@pytest.mark.parametrize("count", [0, 3, 5, 600, 10**6, None])
def test_the_first_pairs_are_those_of_the_whole_corpus(count: int | None) -> None:
    whole = generated._corpus("demo")
    for split in SPLITS:
        if count in (0, 3, 5, 600) or split != "train":  # the whole train split is drawn above
            linked = [generated.linked_pair(sentence) for sentence in whole[split][:count]]
            assert linked_pairs(split, count=count) == linked
            assert pairs(split, count=count) == [(pair.source, pair.target) for pair in linked]
    pairs("valid", count=3).clear()
    assert len(pairs("valid", count=3)) == 3


def test_it_says_that_it_is_generated() -> None:
    assert "English–Russian corpus is generated by a grammar" in NOTICE.format(language="Russian")


def test_an_unknown_split_is_refused() -> None:
    with pytest.raises(Fault, match="The demo corpus has no split 'dev'; it has train, valid and test"):
        pairs("dev")


def test_an_unknown_corpus_is_refused() -> None:
    with pytest.raises(Fault, match="There is no demo corpus 'ru'; there are demo, demo-ru, demo-pronouns and"):
        pairs("train", "ru")


def test_a_combination_the_grammar_cannot_say_is_refused() -> None:
    nonsense = Combination("adjective-noun", ("red", "hous"))
    with pytest.raises(Fault, match=r"holds out 'adjective-noun: red \+ hous', which the grammar cannot produce"):
        generated._check_combinations([nonsense], lexicon())


def test_a_plan_for_more_than_the_grammar_can_say_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generated, "DRAWS", 1)
    plan = generated._plan().model_copy(update={"train": 40, "valid": 10, "test": 100})
    sentences = DemoSentences(lexicon(), Dice(plan.seed), Portuguese(lexicon().words))
    with pytest.raises(Fault, match=r"The grammar gave only .* of 100 test sentences"):
        generated._draw_sentences(plan, sentences, [])
