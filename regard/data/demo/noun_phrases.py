"""Noun phrases of the demo corpus as drawn, before any language finds words for them.

A phrase has the features that the rest of the sentence agrees with. It also lists the combinations of words in it, so
that a sentence can be kept out of training because of them.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import product
from typing import NamedTuple, TypeVar, get_args

from pydantic import Field

from regard.base.faults import Fault
from regard.base.recipe import Options
from regard.data.demo.draws import Dice, Urn
from regard.data.demo.entries import Adjective, DemoWords, Determiner, Lexicon, Noun, Preposition, Role

Entry = TypeVar("Entry")


class Combination(NamedTuple):
    """Words in a relation, such as an adjective and the noun it describes."""

    kind: str
    words: tuple[str, ...]

    @classmethod
    def of(cls, kind: str, *words: str) -> "Combination":
        return cls(kind, words)

    def __str__(self) -> str:
        return f"{self.kind}: {' + '.join(self.words)}"


class Shares(Options):
    """Shares of the forms that a phrase may take, as `patterns.toml` explains."""

    pronoun: float = Field(ge=0, le=1)
    name: float = Field(ge=0, le=1)
    two_names: float = Field(ge=0, le=1)
    object_pronoun: float = Field(ge=0, le=1)
    object_name: float = Field(ge=0, le=1)
    recipient_name: float = Field(ge=0, le=1)
    owner: float = Field(ge=0, le=1)
    owner_name: float = Field(ge=0, le=1)
    number: float = Field(ge=0, le=1)
    plural: dict[Role, float]
    adjective: dict[Role, float]


class Phrase(NamedTuple):
    """A drawn subject, object or place; each language finds its own words for it.

    It has a noun, a pronoun (by its name in `words.toml`), or one or two people's names.
    """

    noun: Noun | None = None
    pronoun: str = ""
    names: tuple[str, ...] = ()
    plural: bool = False
    feminine: bool | None = False  # None if it could be either
    forms: tuple[int, int] = (1, 1)  # English and Portuguese verb form, counted from 0
    person: int = 3
    determiner: Determiner | None = None
    number: str = ""
    owner: "Phrase | None" = None  # a name, or a person with an article: Ana's book, the boy's book
    adjective: Adjective | None = None
    preposition: Preposition | None = None  # for a place
    antecedent: "Phrase | None" = None  # the phrase a pronoun stands for
    facts: tuple[Combination, ...] = ()

    @property
    def head(self) -> str:
        """Name of its noun, or an empty string."""
        return self.noun.name if self.noun else ""


class Setting(NamedTuple):
    """Words around a noun: an owner, a number or a determiner."""

    plural: bool
    determiner: Determiner | None = None
    number: str = ""
    owner: Phrase | None = None
    facts: tuple[Combination, ...] = ()


class DemoPhrases:
    """Draws phrases from a lexicon."""

    def __init__(self, lexicon: Lexicon, shares: Shares, dice: Dice) -> None:
        self.words, self.shares, self.dice = lexicon.words, shares, dice
        self.people = lexicon.members(["person"])
        self.owned = frozenset(noun.name for noun in lexicon.members(["owned"]))
        self.adjectives = _by_noun(
            (adjective, lexicon.members(adjective.describes)) for adjective in lexicon.adjectives.values()
        )
        self.prepositions = _by_noun(
            (preposition, lexicon.members(preposition.goes_with)) for preposition in self.words.prepositions.values()
        )
        self.determiners = {
            (role, counted, owned): Urn(self._determiners(role, counted, owned))
            for role, counted, owned in product(get_args(Role), (True, False), (True, False))
        }
        self.pronouns = {
            gendered: Urn(
                (name, pronoun.weight)
                for name, pronoun in self.words.pronouns.items()
                if pronoun.gender or not gendered
            )
            for gendered in (True, False)
        }
        self.numbers = list(self.words.numbers.items())
        self.names = [(name, True) for name in self.words.names.feminine]
        self.names += [(name, False) for name in self.words.names.masculine]

    def _determiners(self, role: Role, counted: bool, owned: bool) -> Iterable[tuple[tuple[Determiner, bool], float]]:
        """Yield the determiners a noun can have, each with True for the plural, and their weights."""
        for determiner in self.words.determiners.values():
            if role not in determiner.roles or (determiner.owned and not owned):
                continue
            if not counted:
                yield (determiner, False), determiner.weight * ("uncounted" in determiner.number)
                continue
            both = "singular" in determiner.number and "plural" in determiner.number
            plural = self.shares.plural[role] if both else float("plural" in determiner.number)
            yield (determiner, True), determiner.weight * plural
            yield (determiner, False), determiner.weight * (1 - plural)

    def subject(self, nouns: Sequence[Noun], people: bool = True, gendered: bool = False) -> Phrase:
        """Draw a subject: one of the nouns or, if `people` fit, a pronoun, a name or two names.

        `gendered` leaves out pronouns that could have either gender.
        """
        if people:
            if self.dice.chance(self.shares.pronoun):
                return self.pronoun(self.dice.draw(self.pronouns[gendered]))
            if self.dice.chance(self.shares.name):
                return self.name()
            if self.dice.chance(self.shares.two_names):
                return self.two_names()
        return self.noun(self.dice.pick(nouns), "subject")

    def pronoun(self, name: str) -> Phrase:
        return pronoun_phrase(self.words, name)

    def name(self) -> Phrase:
        name, feminine = self.dice.pick(self.names)
        return Phrase(names=(name,), feminine=feminine)

    def two_names(self) -> Phrase:
        """Draw two different people; the phrase is feminine if both are."""
        first, second = self.name(), self.name()
        while second.names == first.names:
            second = self.name()
        both = first.feminine and second.feminine
        return Phrase(names=first.names + second.names, plural=True, feminine=both, forms=(2, 3))

    def target(self, subject: Phrase, nouns: Sequence[Noun], role: Role, people: bool) -> Phrase:
        """Draw an object; it may be a pronoun or a name if `people` fit."""
        if people and self.dice.chance(self.shares.object_pronoun):
            return self._object_pronoun(subject)
        if people and self.dice.chance(self.shares.object_name):
            return self.other_name(subject)
        return self._other_noun(subject, nouns, role)

    def recipient(self, subject: Phrase) -> Phrase:
        """Draw a recipient: *the girl* in *to the girl*."""
        if self.dice.chance(self.shares.recipient_name):
            return self.other_name(subject)
        return self._other_noun(subject, self.people, "object")

    def other_name(self, subject: Phrase) -> Phrase:
        """Draw the name of someone whom the subject does not mention."""
        name = self.name()
        mentioned = subject.names + (subject.owner.names if subject.owner else ())
        while name.names[0] in mentioned:
            name = self.name()
        return name

    def _other_noun(self, subject: Phrase, nouns: Sequence[Noun], role: Role) -> Phrase:
        noun = self.dice.pick(nouns)
        while noun.name == subject.head:
            noun = self.dice.pick(nouns)
        return self.noun(noun, role)

    def _object_pronoun(self, subject: Phrase) -> Phrase:
        """Draw an object pronoun (me, him, us) that does not repeat the subject."""
        name = self.dice.draw(self.pronouns[False])
        while self.words.pronouns[name].person == subject.person != 3:
            name = self.dice.draw(self.pronouns[False])
        return self.pronoun(name)

    def place(self, nouns: Sequence[Noun]) -> Phrase:
        """Draw a place: in the garden, no jardim."""
        noun = self.dice.pick(nouns)
        if not self.prepositions[noun.name]:
            raise Fault(f"No preposition in words.toml goes with {noun.name}, which the grammar uses as a place.")
        preposition = self.dice.pick(self.prepositions[noun.name])
        phrase = self.noun(noun, "place")
        facts = (*phrase.facts, Combination.of("preposition-noun", preposition.name, noun.name))
        return phrase._replace(preposition=preposition, facts=facts)

    def noun(self, noun: Noun, role: Role) -> Phrase:
        """Draw a phrase for a noun: the words before it, perhaps an adjective, perhaps an owner."""
        setting = self._setting(noun, role)
        adjective, facts = None, setting.facts
        if self.adjectives[noun.name] and self.dice.chance(self.shares.adjective[role]):
            adjective = self.dice.pick(self.adjectives[noun.name])
            facts = (*facts, Combination.of("adjective-noun", adjective.name, noun.name))
        return Phrase(
            noun,
            plural=setting.plural,
            feminine=noun.feminine,
            forms=(2, 3) if setting.plural else (1, 1),
            determiner=setting.determiner,
            number=setting.number,
            owner=setting.owner,
            adjective=adjective,
            facts=facts,
        )

    def _setting(self, noun: Noun, role: Role) -> Setting:
        """Draw the words around the noun: an owner, a number, or a determiner."""
        owned = noun.name in self.owned
        if owned and role in ("subject", "object", "place") and self.dice.chance(self.shares.owner):
            return self._owner(noun, role)
        if role in ("subject", "object", "there") and noun.counted and self.dice.chance(self.shares.number):
            name, _ = self.dice.pick(self.numbers)
            return Setting(True, number=name, facts=(Combination.of("number-noun", name, noun.name),))
        determiner, plural = self.dice.draw(self.determiners[role, noun.counted, owned])
        return Setting(plural, determiner, facts=(Combination.of("determiner-noun", determiner.name, noun.name),))

    def _owner(self, noun: Noun, role: Role) -> Setting:
        """Draw an owner: Ana's book; the boy's book."""
        plural = noun.counted and self.dice.chance(self.shares.plural[role])
        if self.dice.chance(self.shares.owner_name):
            return Setting(plural, owner=self.name())
        person = self.dice.pick(self.people)
        owner = Phrase(person, feminine=person.feminine, determiner=self.words.determiners["the"])
        return Setting(plural, owner=owner, facts=(Combination.of("owner-noun", person.name, noun.name),))


def pronoun_phrase(words: DemoWords, name: str) -> Phrase:
    """Return the phrase of a pronoun by its name in `words.toml`."""
    pronoun = words.pronouns[name]
    english, portuguese = pronoun.forms
    return Phrase(
        pronoun=name,
        plural=pronoun.number == "plural",
        feminine=pronoun.gender and pronoun.gender == "feminine",
        forms=(english - 1, portuguese - 1),
        person=pronoun.person,
    )


def _by_noun(entries: Iterable[tuple[Entry, Iterable[Noun]]]) -> dict[str, list[Entry]]:
    """Return, for every noun, the entries that go with it."""
    by_name: dict[str, list[Entry]] = defaultdict(list)
    for entry, nouns in entries:
        for noun in nouns:
            by_name[noun.name].append(entry)
    return by_name
