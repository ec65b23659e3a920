"""The words of the demo corpus, read from the TOML files of `grammar/` into checked entries.

Those files are the grammar. A Portuguese speaker can correct them without reading this module, which only refuses a
mistyped name or a missing form and says where it is.
"""

import tomllib
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from typing import Annotated, Any, Literal

from pydantic import Field

from regard.base.faults import Fault
from regard.base.recipe import Options, check
from regard.data.demo.wording import Conjunction

Tense = Literal["present", "past", "future"]
Number = Literal["singular", "plural", "uncounted"]
CopulaName = Literal["ser", "estar", "ter", "haver"]
Role = Literal["subject", "object", "place", "there", "how_many"]

VERB_FILES = ("verbs_feeling.toml", "verbs_people.toml", "verbs_things.toml", "verbs_moving.toml")

Two = Annotated[list[str], Field(min_length=2, max_length=2)]
Three = Annotated[list[str], Field(min_length=3, max_length=3)]
Four = Annotated[list[str], Field(min_length=4, max_length=4)]


@dataclass(frozen=True)
class Noun:
    """A noun in both languages; an uncountable one has no plural."""

    name: str
    plural: str
    portuguese: tuple[str, str]
    feminine: bool
    counted: bool


class Adjective(Options):
    """An adjective with its four Portuguese forms."""

    name: str
    english: str
    forms: Four
    copula: Literal["ser", "estar"]
    scale: str = ""
    describes: list[str]
    gradable: bool = True

    @property
    def shows_gender(self) -> bool:
        return self.forms[::2] != self.forms[1::2]


class Conjugation(Options):
    """Portuguese forms for eu, você/ele/ela, nós, vocês/eles in three tenses."""

    present: Four
    past: Four
    future: Four

    def form(self, tense: Tense, person: int) -> str:
        forms: list[str] = getattr(self, tense)
        return forms[person]


class Verb(Conjugation):
    """A verb with the words it needs around it, as the head of `verbs_things.toml` explains."""

    name: str
    english: Three
    infinitive: str
    preposition: str = ""
    subjects: list[str] = ["person"]
    objects: list[str] = []
    places: list[str] = []
    state: bool = False
    gives: bool = False
    weight: int = 1


class Modal(Options):
    """A verb before another verb, only in the present."""

    english: Two
    helper: bool = False
    portuguese: Four


class Pronoun(Options):
    """A personal pronoun; one without a gender could be either."""

    object: str = ""
    portuguese: str
    before: str = ""
    after: str = ""
    forms: Annotated[list[int], Field(min_length=2, max_length=2)]
    person: int
    number: Literal["singular", "plural"]
    gender: Literal["masculine", "feminine"] | None = None
    weight: int


class Antecedents(Options):
    """Portuguese pronouns with the gender of the noun they stand for."""

    subject: Four
    object: Four


class DemoNames(Options):
    feminine: list[str]
    masculine: list[str]


class Determiner(Options):
    """A word before a noun: article, demonstrative, possessive or quantity."""

    name: str
    english: Two
    portuguese: Four
    after: str = ""
    number: list[Number]
    roles: list[Role]
    owned: bool = False
    weight: int


class Preposition(Options):
    """A preposition of place and the nouns it goes with."""

    name: str
    english: str
    portuguese: str
    goes_with: list[str]


class Time(Options):
    portuguese: str
    tenses: list[Tense]


class Helpers(Options):
    present: Three
    past: Three
    future: Three


class Be(Options):
    present: Three
    past: Three


class Articles(Options):
    an_before: str
    exceptions: list[str]


class DemoWords(Options):
    """Everything in `words.toml`."""

    contractions: dict[str, str]
    possessives: dict[str, str]
    pronouns: dict[str, Pronoun]
    antecedents: Antecedents
    names: DemoNames
    determiners: dict[str, Determiner]
    numbers: dict[str, Two]
    prepositions: dict[str, Preposition]
    times: dict[str, Time]
    adverbs: dict[str, str]
    helpers: Helpers
    be: Be
    denials: dict[str, list[str]]
    copulas: dict[CopulaName, Conjugation]
    modals: dict[str, Modal]
    articles: Articles


class Glosses(Options):
    """Everything in `links.toml`: for each translation, the English word that each of its words stands for."""

    portuguese: dict[str, list[str]]
    russian: dict[str, list[str]]


class Entries(Options):
    """All entries except the nouns, checked together so that every fault is reported at once."""

    adjectives: dict[str, Adjective]
    verbs: dict[str, Verb]
    words: DemoWords


@dataclass(frozen=True)
class Lexicon:
    """All words, and the nouns that every kind, group or single name stands for."""

    nouns: dict[str, Noun]
    groups: dict[str, frozenset[str]]
    adjectives: dict[str, Adjective]
    verbs: dict[str, Verb]
    words: DemoWords

    def members(self, names: Iterable[str]) -> tuple[Noun, ...]:
        """Return the nouns that `names` stand for, in lexicon order."""
        chosen = _union(self.groups, names)
        return tuple(noun for noun in self.nouns.values() if noun.name in chosen)


@cache
def lexicon() -> Lexicon:
    """Return the lexicon included with regard."""
    kinds = read_grammar("nouns.toml")
    nouns = {name: _noun(name, entry) for kind in kinds.values() for name, entry in kind.items()}
    words = read_grammar("words.toml")
    words |= {table: _name_entries(words[table]) for table in ("determiners", "prepositions")}
    verbs = {name: verb for file in VERB_FILES for name, verb in read_grammar(file).items()}
    entries = check(
        Entries,
        {"adjectives": _name_entries(read_grammar("adjectives.toml")), "verbs": _name_entries(verbs), "words": words},
        "the grammar",
    )
    groups = _groups(nouns, kinds, read_grammar("groups.toml"))
    return Lexicon(nouns, groups, entries.adjectives, entries.verbs, entries.words)


@cache
def glosses(language: str) -> dict[str, tuple[str, ...]]:
    """Return the glosses of the translations into a language."""
    entries = check(Glosses, read_grammar("links.toml"), "links.toml")
    return {text: tuple(words) for text, words in getattr(entries, language).items()}


@cache
def conjunctions(language: str) -> dict[str, Conjunction]:
    """Return the conjunctions of `pronouns.toml` in a language, by meaning; "" joins nothing."""
    entries: dict[str, dict[str, str]] = read_grammar("pronouns.toml")["conjunctions"]
    return {"": Conjunction()} | {name: Conjunction.of(entry[language], name) for name, entry in entries.items()}


def read_grammar(file: str) -> dict[str, Any]:
    """Read a TOML file of the grammar, in NFC however it was typed."""
    text = files("regard.data.demo").joinpath("grammar", file).read_text(encoding="utf-8")
    try:
        return tomllib.loads(unicodedata.normalize("NFC", text))
    except tomllib.TOMLDecodeError as error:
        raise Fault(f"The grammar file {file} is not valid TOML: {error}.") from None


def _name_entries(table: dict[str, Any]) -> dict[str, Any]:
    """Return every entry with its own name inside; an underscore in a name is a space in English."""
    return {name: {"name": name, "english": name.replace("_", " "), **entry} for name, entry in table.items()}


def _noun(name: str, entry: list[str]) -> Noun:
    """Parse a noun; its gender is that of the article before the Portuguese word."""
    match [part.split(" ", 1) for part in entry]:
        case [["o" | "a" as article, singular]]:
            return Noun(name, "", (singular, ""), article == "a", counted=False)
        case [plural, ["o" | "a" as article, singular], ["os" | "as" as articles, plural_form]] if (
            articles == article + "s"
        ):
            return Noun(name, " ".join(plural), (singular, plural_form), article == "a", counted=True)
    raise Fault(f'nouns.toml: {name} must read like ["boys", "o menino", "os meninos"] or ["a água"].')


def _groups(
    nouns: dict[str, Noun], kinds: dict[str, dict[str, Any]], groups: dict[str, list[str]]
) -> dict[str, frozenset[str]]:
    """Return the nouns behind every name: a noun's own, a kind's, or all members of a group."""
    members_of = {name: frozenset([name]) for name in nouns}
    for name, members in [*kinds.items(), *groups.items()]:
        if name in members_of:
            raise Fault(f"groups.toml: two things are named {name}; rename one of them.")
        members_of[name] = frozenset(members) if name in kinds else _union(members_of, members)
    return members_of


def _union(groups: dict[str, frozenset[str]], names: Iterable[str]) -> frozenset[str]:
    names = list(names)
    for name in names:
        if name not in groups:
            near = get_close_matches(name, groups, 1)
            hint = f"; did you mean '{near[0]}'?" if near else "."
            raise Fault(f"The grammar has no noun, kind or group '{name}'{hint}")
    return frozenset[str]().union(*(groups[name] for name in names))
