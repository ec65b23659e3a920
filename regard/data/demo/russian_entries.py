"""The Russian words of the demo corpus, read from `russian_*.toml` in `grammar/` into checked entries."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Annotated, Literal, get_args

from pydantic import AfterValidator

from regard.base.faults import Fault
from regard.base.recipe import Options, check
from regard.data.demo.entries import Lexicon, lexicon, read_grammar

Case = Literal["nominative", "genitive", "dative", "accusative", "instrumental", "prepositional"]
Gender = Literal["m", "f", "n", "p"]  # p is the plural, which has no genders
CASES = get_args(Case)
GENDERS = get_args(Gender)
HUSHING, HARD_THROATED = "жшчщ", "кгх"


def _split(count: int) -> AfterValidator:
    def check_count(forms: str) -> str:
        if len(forms.split()) != count:
            raise ValueError(f"expected {count} forms with spaces between them")
        return forms

    return AfterValidator(check_count)


Cases = Annotated[str, _split(6)]
Persons = Annotated[str, _split(6)]
Past = Annotated[str, _split(2)]


@dataclass(frozen=True)
class RussianNoun:
    """A noun in six cases and two numbers; an uncountable one has no plural."""

    gender: Gender
    animate: bool
    singular: tuple[str, ...]
    plural: tuple[str, ...]

    def form(self, case: Case, plural: bool) -> str:
        return (self.plural if plural else self.singular)[CASES.index(case)]


class RussianAdjective(Options):
    """An adjective by its masculine singular."""

    form: str
    short: list[str] = []
    without: list[str] = []
    attributive: bool = False

    @cached_property
    def forms(self) -> dict[Gender, tuple[str, ...]]:
        """Six cases of each gender and of the plural; masculine and plural accusatives are inanimate."""
        return decline_adjective(self.form)


def decline_adjective(form: str) -> dict[Gender, tuple[str, ...]]:
    """Return all forms of an adjective: hard (новый, большой), after к г х (тихий), hushing (свежий), soft (синий)."""
    stem, ending, last = form[:-2], form[-2:], form[-3]
    soft = ending == "ий" and last not in HUSHING + HARD_THROATED
    i = "и" if soft or last in HUSHING + HARD_THROATED else "ы"
    o = "е" if soft or (ending == "ий" and last in HUSHING) else "о"
    a, u = ("я", "ю") if soft else ("а", "у")
    oblique = f"{o}го", f"{o}му", f"{i}м", f"{o}м"
    endings: dict[Gender, tuple[str, ...]] = {
        "m": (ending, oblique[0], oblique[1], ending, oblique[2], oblique[3]),
        "f": (f"{a}я", f"{o}й", f"{o}й", f"{u}ю", f"{o}й", f"{o}й"),
        "n": (f"{o}е", oblique[0], oblique[1], f"{o}е", oblique[2], oblique[3]),
        "p": (f"{i}е", f"{i}х", f"{i}м", f"{i}е", f"{i}ми", f"{i}х"),
    }
    return {gender: tuple(stem + suffix for suffix in suffixes) for gender, suffixes in endings.items()}


def past_form(past: str, gender: Gender) -> str:
    """Return the agreeing past form, from the masculine and the feminine: купил, купила, купило, купили."""
    masculine, feminine = past.split()
    reflexive = "сь" if feminine.endswith("сь") else ""
    stem = feminine.removesuffix("сь")[:-1]
    return {"m": masculine, "f": feminine, "n": f"{stem}о{reflexive}", "p": f"{stem}и{reflexive}"}[gender]


class RussianVerb(Options):
    """A verb, as the head of `russian_verbs.toml` explains."""

    infinitive: str = ""
    present: Persons | None = None
    habit: Past | None = None
    perfective: str = ""
    past: Past | None = None
    future: Persons | None = None
    object: str = "accusative"
    subject: str = "nominative"
    without: list[str] = []
    denied: str = ""
    short: list[str] = []

    @property
    def inverted(self) -> bool:
        """True if the English object is the Russian subject."""
        return self.object == "nominative"


class RussianModal(Options):
    """A verb before another verb, only in the present."""

    present: Persons
    subject: Case = "nominative"
    repeated: bool = False


class RussianBe(Options):
    past: Past
    future: Persons


class RussianWords(Options):
    """Everything in `russian_words.toml`."""

    on: list[str]
    onto: list[str]
    locatives: dict[str, str]
    adjectives: dict[str, RussianAdjective]
    pronouns: dict[str, Cases]
    names: dict[str, Cases]
    determiners: dict[str, list[str]]
    unchanged: dict[str, str]
    amounts: dict[str, Cases]
    numbers: dict[str, list[Cases]]
    prepositions: dict[str, str]
    times: dict[str, str]
    adverbs: dict[str, str]
    modals: dict[str, RussianModal]
    be: RussianBe


class RussianVerbs(Options):
    verbs: dict[str, RussianVerb]


@dataclass(frozen=True)
class RussianLexicon:
    """All Russian words, and the nouns that an adjective or verb does not go with."""

    nouns: dict[str, RussianNoun]
    verbs: dict[str, RussianVerb]
    words: RussianWords
    apart: frozenset[tuple[str, str]]  # (verb or adjective, noun)
    people: frozenset[str]


@cache
def russian_lexicon() -> RussianLexicon:
    """Return the Russian lexicon included with regard."""
    kinds = read_grammar("russian_nouns.toml")
    nouns = {name: _noun(name, entry) for kind in kinds.values() for name, entry in kind.items()}
    words = check(RussianWords, read_grammar("russian_words.toml"), "russian_words.toml")
    verbs = check(RussianVerbs, {"verbs": read_grammar("russian_verbs.toml")}, "russian_verbs.toml").verbs
    english = lexicon()
    _check_names(english, nouns, verbs, words)
    entries: list[tuple[str, Sequence[str]]] = [(name, verb.without) for name, verb in verbs.items()]
    entries += [(name, adjective.without) for name, adjective in words.adjectives.items()]
    apart = frozenset((name, noun.name) for name, without in entries for noun in english.members(without))
    people = frozenset(noun.name for noun in english.members(["person"]))
    return RussianLexicon(nouns, verbs, words, apart, people)


def _check_names(
    english: Lexicon, nouns: dict[str, RussianNoun], verbs: dict[str, RussianVerb], words: RussianWords
) -> None:
    """Refuse an entry that translates nothing, because its name is mistyped."""
    tables: dict[str, tuple[Collection[str], Collection[str]]] = {
        "russian_nouns.toml": (nouns, english.nouns),
        "russian_verbs.toml": (verbs, english.verbs),
        "russian_words.toml": (words.adjectives, english.adjectives),
    }
    for file, (names, others) in tables.items():
        for name in names:
            if name not in others:
                raise Fault(f"{file} has '{name}', which the English grammar lacks.")


def _noun(name: str, entry: list[str]) -> RussianNoun:
    match [part.split() for part in entry]:
        case [["m" | "f" | "n" as gender, *animate], [*singular], *plural] if (
            len(singular) == 6 and animate in ([], ["animate"]) and [len(forms) for forms in plural] in ([], [6])
        ):
            return RussianNoun(gender, bool(animate), tuple(singular), tuple(plural[0]) if plural else ())
    raise Fault(f'russian_nouns.toml: {name} must read like ["f", "книга книги …", "книги книг …"], six cases each.')
