"""Laws of the linked corpora: every link joins words of the right kinds, and linked words agree.

The Russian is checked by its endings, as in a grammar book, independently of how it was made.
"""

import re
from collections.abc import Iterator
from functools import cache

import pytest

from regard.base.faults import Fault
from regard.commands import demo
from regard.data.demo.corpus import LinkedPair, corpus_name, linked_pairs, pairs
from regard.data.demo.entries import lexicon
from regard.data.demo.russian_entries import CASES, russian_lexicon
from regard.data.generated.corpora import DEMO, generate, generate_links, generator_of

NOUNS = russian_lexicon().nouns
WORDS = russian_lexicon().words
# A whole corpus takes seconds to draw, so `make test` reads the validation sentences and the first of training.
CORPORA = [name for name in DEMO if name != "demo"]


def read(*corpora: str) -> pytest.MarkDecorator:
    """Give a test some sentences of these corpora, and in `make test-long` those of whole ones."""
    whole = [pytest.param(f"{corpus} whole", marks=pytest.mark.long) for corpus in corpora]
    return pytest.mark.parametrize("corpus", [*corpora, *whole])


PRONOUNS = {
    "я": "1s",
    "ты": "2s",
    "он": "ms",
    "она": "fs",
    "оно": "ns",
    "мы": "1p",
    "вы": "2p",
    "они": "3p",
    "кто": "ms",
}
AMOUNTS = {form for forms in WORDS.numbers.values() for phrase in forms for form in phrase.split()}
AMOUNTS |= {form for forms in WORDS.amounts.values() for form in forms.split()}
# Endings of adjectives with the genders and cases they can have.
ENDINGS = {
    "ого|его": "m-genitive m-accusative n-genitive",
    "ому|ему": "m-dative n-dative",
    "ыми|ими": "p-instrumental",
    "ая|яя": "f-nominative",
    "ую|юю": "f-accusative",
    "ое|ее": "n-nominative n-accusative",
    "ые|ие": "p-nominative p-accusative",
    "ых|их": "p-genitive p-prepositional p-accusative",
    "ый|ий": "m-nominative m-accusative",
    "ой|ей": "m-nominative m-accusative f-genitive f-dative f-instrumental f-prepositional",
    "ым|им": "m-instrumental n-instrumental p-dative",
    "ом|ем": "m-prepositional n-prepositional",
}


def spoken(sentence: str) -> list[str]:
    """Return the words of a sentence without initial capitals and punctuation; names keep their capitals."""
    words = [word.rstrip(".,?") for word in sentence.split()]
    starts = [0, *(place + 1 for place, word in enumerate(sentence.split()[:-1]) if word[-1] == ".")]
    for place in starts:
        bare = words[place].removesuffix("'s")
        if not is_name(bare) and bare not in ("I", "Brazilian", "Portuguese"):
            words[place] = words[place][0].lower() + words[place][1:]
    return words


@cache
def is_name(word: str) -> bool:
    names = {*lexicon().words.names.feminine, *lexicon().words.names.masculine}
    return word in names | {form for forms in WORDS.names.values() for form in forms.split()}


@cache
def noun_forms() -> dict[str, set[tuple[str, str]]]:
    """Return the gender (p for plural) and case of each noun form, and mark genitive singulars by gender."""
    readings_by_form: dict[str, set[tuple[str, str]]] = {}
    for name, noun in NOUNS.items():
        for gender, forms in ((noun.gender, noun.singular), ("p", noun.plural)):
            for case, form in zip(CASES, forms, strict=False):
                readings_by_form.setdefault(form, set()).add((gender, case))
        if name in WORDS.locatives:
            readings_by_form.setdefault(WORDS.locatives[name], set()).add((noun.gender, "prepositional"))
    return readings_by_form


def readings(adjective: str) -> set[tuple[str, str]]:
    for endings, marks in ENDINGS.items():
        if re.search(f"({endings})$", adjective):
            return {(gender, case) for gender, case in (mark.split("-") for mark in marks.split())}
    raise AssertionError(adjective)


@cache
def some(corpus: str) -> list[LinkedPair]:
    name, _, is_whole = corpus.partition(" ")
    return [
        *linked_pairs("valid", name),
        *(linked_pairs("test", name) if is_whole else linked_pairs("train", name, 600)),
    ]


def of_role(corpus: str, role: str) -> Iterator[tuple[LinkedPair, list[str], int, int]]:
    """Return every link of a kind on the target side, with the words of its sentence."""
    for pair in some(corpus):
        words = spoken(pair.target)
        for i, j in pair.target_roles.get(role, []):
            yield pair, words, i, j


@pytest.mark.parametrize("corpus", CORPORA)
def test_links_come_with_their_pairs(corpus: str) -> None:
    assert [(pair.source, pair.target) for pair in linked_pairs("valid", corpus)] == pairs("valid", corpus)
    assert generate(f"{corpus}:valid") == pairs("valid", corpus)
    assert generate_links(f"{corpus}:valid") == [str(pair.links) for pair in linked_pairs("valid", corpus)]


@read(*CORPORA)
def test_links_stay_within_their_pairs(corpus: str) -> None:
    for pair in some(corpus):
        source, target = pair.source.split(), pair.target.split()
        for i, j in pair.links.sure + pair.links.possible:
            assert 0 <= i < len(source)
            assert 0 <= j < len(target)
        assert not {*pair.links.sure} & {*pair.links.possible}
        # Every word of a translation stands for something, or accompanies a word that does.
        assert {*range(len(target))} == {j for _, j in pair.links.sure + pair.links.possible} | articles(target)


def articles(words: list[str]) -> set[int]:
    """Return Portuguese articles and prepositions without an English word: no meu livro, gostar de."""
    return {j for j, word in enumerate(words) if re.fullmatch("[oa]s?|[dn][oa]s?|aos?|às?", word)}


@pytest.mark.long
@pytest.mark.parametrize("corpus", CORPORA)
def test_sizes_and_that_nothing_is_said_twice(corpus: str) -> None:
    splits = {split: pairs(split, corpus) for split in ("train", "valid", "test")}
    assert {split: len(pairs) for split, pairs in splits.items()} == {"train": 30_000, "valid": 500, "test": 1000}
    for side in (0, 1):
        texts = [pair[side].casefold() for pairs in splits.values() for pair in pairs]
        assert len(set(texts)) == len(texts)


@read("demo-ru", "demo-pronouns-ru")
def test_nouns_and_names_are_linked_to_their_translations(corpus: str) -> None:
    familiar = [noun for noun in lexicon().nouns.values() if noun.name in NOUNS]
    nouns = {form: NOUNS[noun.name] for noun in familiar for form in (noun.name, noun.plural)}
    verbs = {form.split()[0] for verb in lexicon().verbs.values() for form in verb.english}
    for pair in some(corpus):
        source, target = spoken(pair.source), spoken(pair.target)
        for i, word in enumerate(source):
            linked = [target[j] for k, j in pair.links.sure if k == i]
            bare = word.removesuffix("'s")
            if bare in nouns and bare not in verbs:
                locative = WORDS.locatives.get(bare, "")
                assert len(linked) == 1
                assert linked[0] in (*nouns[bare].singular, *nouns[bare].plural, locative)
            elif bare in WORDS.names:
                assert len(linked) == 1
                assert linked[0] in WORDS.names[bare].split()


@read("demo-ru", "demo-pronouns-ru")
def test_russian_adjectives_agree_with_their_nouns(corpus: str) -> None:
    short = {form: "mfnp"[k] for entry in WORDS.adjectives.values() for k, form in enumerate(entry.short)}
    counted = 0
    for pair, words, i, j in of_role(corpus, "adjective-noun"):
        adjective, noun = words[i], words[j]
        if adjective in short:
            assert short[adjective] in subject_genders(pair, words, j)
        elif i > j or noun not in noun_forms():  # said of a subject
            genders = {gender for gender, case in readings(adjective) if case in ("nominative", "instrumental")}
            assert genders & subject_genders(pair, words, j), pair.target
        else:
            few = i > 0 and words[i - 1] in ("два", "две", "три", "четыре")
            fitting = readings(adjective) & noun_forms()[noun]
            if few:  # два новых дома, две новые книги
                gender = {gender for gender, case in noun_forms()[noun] if case == "genitive"}
                fitting = {("p", "nominative" if "f" in gender else "genitive")} & readings(adjective)
            assert fitting, pair.target
        counted += 1
    assert counted > len(some(corpus)) / 3


def subject_genders(pair: LinkedPair, words: list[str], j: int) -> set[str]:
    """Return what agrees with a subject: the gender of a noun or name, or the plural for several."""
    word = words[j]
    if word in PRONOUNS:
        return {"p"} if PRONOUNS[word][-1] == "p" else {PRONOUNS[word][0]}
    others = [*words[j + 2 : j + 3]] if words[j + 1 : j + 2] == ["и"] else []
    others += [words[j - 2]] if j > 1 and words[j - 1] == "и" else []
    if is_name(word) and any(map(is_name, others)):
        return {"p"}
    if is_name(word):
        english = [spoken(pair.source)[i].removesuffix("'s") for i, k in pair.links.sure if k == j]
        return {"f" if english[0] in lexicon().words.names.feminine else "m"}
    before = [i for kind in ("number-noun", "determiner-noun") for i, k in pair.target_roles.get(kind, []) if k == j]
    if AMOUNTS & {words[i] for i in before}:
        return {"p"}
    return {gender for gender, case in noun_forms()[word] if case == "nominative"}


@read("demo-ru", "demo-pronouns-ru")
def test_russian_verbs_agree_with_their_subjects(corpus: str) -> None:
    short = {form: "mfnp"[k] for k, form in enumerate(russian_lexicon().verbs["need"].short)}
    counted = {"past": 0, "present": 0}
    for pair, words, i, j in of_role(corpus, "verb-subject"):
        verb = words[i]
        if verb in short:
            assert short[verb] in subject_genders(pair, words, j)
        elif re.search("(ть|ти|чь)(ся)?$", verb) and verb != "есть":
            assert words[i - 1] in WORDS.be.future.split()
        elif re.search("(л|ла|ло|ли|лся|лась|лось|лись|ёс|ёк|ог)$", verb):
            gender = {"а": "f", "о": "n", "и": "p"}.get(re.sub("с[ья]$", "", verb)[-1], "m")
            assert gender in subject_genders(pair, words, j), pair.target
            counted["past"] += 1
        elif verb != "есть":
            assert re.fullmatch(f".*({person_endings(pair, words, j)})(с[ья])?", verb), pair.target
            counted["present"] += 1
    assert min(counted.values()) > 100


def person_endings(pair: LinkedPair, words: list[str], j: int) -> str:
    person = PRONOUNS.get(words[j], "")
    if person in ("1s", "2s", "1p", "2p"):
        return {"1s": "[уюм]", "2s": "шь", "1p": "м", "2p": "те"}[person]
    genders = subject_genders(pair, words, j)  # пальто does not show its number
    return "|".join(["[уюая]т"] * ("p" in genders) + ["[еёис]т"] * bool(genders - {"p"}))


@read("demo-ru", "demo-pronouns-ru")
def test_russian_denials_are_linked(corpus: str) -> None:
    for pair in some(corpus):
        words = spoken(pair.target)
        for i, j in pair.target_roles.get("negation", []):
            assert words[i] in ("не", "нет")
            assert i != j
        denied = re.search(r"n't\b|\b(not|cannot)\b", pair.source)
        assert bool(denied) == ("не" in words or "нет" in words) or "never" in pair.source


@pytest.mark.parametrize("corpus", ["demo-ru", "demo-pronouns-ru"])
@pytest.mark.parametrize("count", [600, pytest.param(3000, marks=pytest.mark.long)])
def test_russian_sentences_are_clean(corpus: str, count: int) -> None:
    for english, russian in pairs("train", corpus, count):
        assert re.fullmatch("[А-ЯЁ][а-яёА-ЯЁ ,.]*[а-яё][.?]", russian), russian
        assert "  " not in russian
        assert english[-1] == russian[-1]
        assert not re.search(r"\b(с|в|о) (мной|всех|всеми|мне)\b|\bо [аоуэи]", russian.lower()), russian


STANDS = {"it": "s", "he": "s", "she": "s", "they": "p", "him": "s", "her": "s", "them": "p"}
FEMININE = {"ela", "elas", "a", "as", "она", "её", "ей", "ней", "неё"}
MASCULINE = {"ele", "eles", "o", "os", "он"}


@read("demo-pronouns", "demo-pronouns-ru")
def test_a_pronoun_has_the_gender_of_its_antecedent(corpus: str) -> None:
    seen = set()
    for pair in some(corpus):
        source, target = spoken(pair.source), spoken(pair.target)
        ((i, j),), ((k, m),) = pair.source_roles["antecedent"], pair.target_roles["antecedent"]
        assert source[i] in STANDS
        assert {(i, k), (j, m)} <= {*pair.links.sure}  # pronoun with pronoun, noun with noun
        assert j < i
        feminine, plural = gender_of(source[j], "-ru" in corpus)
        assert STANDS[source[i]] == ("p" if plural else "s")
        if target[k] in FEMININE:
            assert feminine == "f"
        elif target[k] in MASCULINE:
            assert feminine == "m"
        seen.add(target[k])
    assert seen >= ({"он", "она", "оно", "они", "его", "её", "их"} if "-ru" in corpus else FEMININE - {
        "она", "её", "ей", "ней", "неё"} | {"ele", "eles", "o", "os"})  # fmt: skip


def gender_of(word: str, russian: bool) -> tuple[str, bool]:
    """Return the gender of a noun or name in the other language, and whether it is plural."""
    if is_name(word):
        return "f" if word in lexicon().words.names.feminine else "m", False
    noun = next(entry for entry in lexicon().nouns.values() if word in (entry.name, entry.plural))
    gender = NOUNS[noun.name].gender if russian else "f" if noun.feminine else "m"
    return gender, word == noun.plural


@read("demo-pronouns", "demo-pronouns-ru")
def test_an_antecedent_is_the_only_thing_that_can_be_meant(corpus: str) -> None:
    """Where both nouns of the first clause have the same pronoun, the statement fits only one of them."""
    adjectives = {
        entry.english: {noun.name for noun in lexicon().members(entry.describes)}
        for entry in lexicon().adjectives.values()
    }
    people = {noun.name for noun in lexicon().members(["person"])}
    names = {form: noun.name for noun in lexicon().nouns.values() for form in (noun.name, noun.plural)}
    rivals = 0
    for pair in some(corpus):
        words = spoken(pair.source)
        ((i, j),) = pair.source_roles["antecedent"]
        adjective = next((a for a, n in pair.source_roles.get("adjective-noun", []) if n == i), None)
        (_, subject), *_ = pair.source_roles["verb-subject"]
        (_, target), *_ = pair.source_roles["verb-object"]
        other = target if j == subject else subject
        if adjective is None or is_name(words[other]) or is_name(words[j]):
            continue
        one, two = names[words[j]], names[words[other]]
        assert one in adjectives[words[adjective]]
        plurals = [words[k] != name for k, name in ((j, one), (other, two))]
        if all(plurals) or not (any(plurals) or {one, two} & people):
            assert two not in adjectives[words[adjective]], pair.source
            rivals += 1
    assert rivals > 20


def test_corpora_are_named_by_their_languages() -> None:
    assert [corpus_name("en-pt"), corpus_name("en-ru"), corpus_name("en-ru", pronouns=True)] == [
        "demo", "demo-ru", "demo-pronouns-ru",
    ]  # fmt: skip
    assert generator_of("demo-pronouns-ru:test") == "demo-pronouns-ru"
    with pytest.raises(Fault, match="The demo has no corpus in 'en-fr'; its languages are en-pt and en-ru"):
        corpus_name("en-fr")


@pytest.mark.long
@pytest.mark.parametrize("name", ["demo-pronouns", "demo-pronouns-ru"])
def test_what_is_shown_of_pronouns_can_be_said(name: str) -> None:
    """Each word of the translations occurs in the training text, and none of the sentences does."""
    learnt = dict(pairs("train", name))
    vocabulary = {word for text in learnt.values() for word in re.findall(r"\w+", text.lower())}
    for english, translation in demo.SHOWN[name].sentences.items():
        assert learnt.get(english, translation) == translation
        assert {*re.findall(r"\w+", translation.lower())} <= vocabulary
