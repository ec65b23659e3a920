"""Noun phrases of the demo corpus in both languages at once: articles, agreement, order, contractions.

A phrase carries what the rest of the sentence must agree with, and the combinations of words it is made of, so that
a sentence can be kept out of training for them.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import product
from typing import NamedTuple, TypeVar, get_args

from pydantic import Field

from regard.base.faults import Fault
from regard.base.recipe import Options
from regard.data.demo.draws import Dice, Urn
from regard.data.demo.entries import Determiner, Lexicon, Noun, Role

Entry = TypeVar("Entry")


class Combination(NamedTuple):
    """Words that stand in one relation, such as an adjective and the noun it describes."""

    kind: str
    words: tuple[str, ...]

    @classmethod
    def of(cls, kind: str, *words: str) -> "Combination":
        return cls(kind, words)

    def __str__(self) -> str:
        return f"{self.kind}: {' + '.join(self.words)}"


class Shares(Options):
    """How often a phrase has which shape, as `patterns.toml` explains."""

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
    """A subject, object or place: both texts, what agrees with it, and what it is made of."""

    english: str
    portuguese: str
    plural: bool = False
    feminine: bool | None = False  # None where nobody can know
    forms: tuple[int, int] = (1, 1)  # which English and which Portuguese verb form, counted from 0
    person: int = 3
    head: str = ""  # the noun's name, where there is a noun
    clitic: str = ""  # what Portuguese says before the verb instead of after it
    facts: tuple[Combination, ...] = ()


class Setting(NamedTuple):
    """What stands around a noun: before it in both languages, behind it in Portuguese alone (o livro dele)."""

    plural: bool
    english: str
    portuguese: str
    after: str
    facts: tuple[Combination, ...]


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
        """The determiners a noun can have, each with whether the plural is meant, and their weights."""
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

    def contract(self, preposition: str, portuguese: str) -> str:
        """A preposition before a phrase, contracted where Portuguese must: perto de + a casa = perto da casa."""
        *before, last = preposition.split(" ")
        first, space, rest = portuguese.partition(" ")
        article = self.words.possessives.get(first)
        if article and f"{last} {article}" in self.words.contractions:
            joined = f"{self.words.contractions[f'{last} {article}']} {first}"
        else:
            joined = self.words.contractions.get(f"{last} {first}", f"{last} {first}")
        return " ".join([*before, joined]) + space + rest

    def subject(self, nouns: Sequence[Noun], people: bool = True, gendered: bool = False) -> Phrase:
        """Who does it: one of the nouns or, where `people` may, a pronoun, a name or two names.

        `gendered` leaves out the pronouns whose gender nobody can know.
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
        pronoun = self.words.pronouns[name]
        english, portuguese = pronoun.forms
        return Phrase(
            name,
            pronoun.portuguese,
            plural=pronoun.number == "plural",
            feminine=pronoun.gender and pronoun.gender == "feminine",
            forms=(english - 1, portuguese - 1),
            person=pronoun.person,
        )

    def name(self) -> Phrase:
        name, feminine = self.dice.pick(self.names)
        return Phrase(name, name, feminine=feminine)

    def two_names(self) -> Phrase:
        """Two different people, feminine if both are."""
        first, second = self.name(), self.name()
        while second.english == first.english:
            second = self.name()
        return Phrase(
            f"{first.english} and {second.english}",
            f"{first.portuguese} e {second.portuguese}",
            plural=True,
            feminine=first.feminine and second.feminine,
            forms=(2, 3),
        )

    def target(self, subject: Phrase, nouns: Sequence[Noun], preposition: str, role: Role, people: bool) -> Phrase:
        """What it is done to, after the verb's Portuguese preposition; a pronoun or a name where `people` may."""
        if people and self.dice.chance(self.shares.object_pronoun):
            return self._object_pronoun(subject, preposition)
        if people and self.dice.chance(self.shares.object_name):
            return self._after(preposition, self._other_name(subject))
        return self._after(preposition, self._other_noun(subject, nouns, role))

    def recipient(self, subject: Phrase) -> Phrase:
        """Who gets it: to the girl, à menina."""
        if self.dice.chance(self.shares.recipient_name):
            return self._after("a", self._other_name(subject))
        return self._after("a", self._other_noun(subject, self.people, "object"))

    def _other_name(self, subject: Phrase) -> Phrase:
        name = self.name()
        while name.english in subject.english:
            name = self.name()
        return name

    def _other_noun(self, subject: Phrase, nouns: Sequence[Noun], role: Role) -> Phrase:
        noun = self.dice.pick(nouns)
        while noun.name == subject.head:
            noun = self.dice.pick(nouns)
        return self.noun(noun, role)

    def _after(self, preposition: str, phrase: Phrase) -> Phrase:
        """The phrase with a Portuguese preposition before it, or as it is without one."""
        if not preposition:
            return phrase
        return phrase._replace(portuguese=self.contract(preposition, phrase.portuguese))

    def _object_pronoun(self, subject: Phrase, preposition: str) -> Phrase:
        """me, him, us: before the Portuguese verb, or after it behind a preposition."""
        name = self.dice.draw(self.pronouns[False])
        while self.words.pronouns[name].person == subject.person != 3:
            name = self.dice.draw(self.pronouns[False])
        pronoun = self.words.pronouns[name]
        if preposition:
            return Phrase(pronoun.object, self.contract(preposition, pronoun.after))
        if pronoun.before:
            return Phrase(pronoun.object, "", clitic=pronoun.before)
        return Phrase(pronoun.object, pronoun.after)

    def place(self, nouns: Sequence[Noun]) -> Phrase:
        """Where it is: in the garden, no jardim."""
        noun = self.dice.pick(nouns)
        if not self.prepositions[noun.name]:
            raise Fault(f"No preposition of words.toml goes with {noun.name}, which the grammar takes for a place.")
        preposition = self.dice.pick(self.prepositions[noun.name])
        phrase = self.noun(noun, "place")
        return Phrase(
            f"{preposition.english} {phrase.english}",
            self.contract(preposition.portuguese, phrase.portuguese),
            facts=(*phrase.facts, Combination.of("preposition-noun", preposition.name, noun.name)),
        )

    def noun(self, noun: Noun, role: Role) -> Phrase:
        """A noun with what stands before it, perhaps an adjective, perhaps an owner."""
        setting = self._setting(noun, role)
        english, facts = [noun.plural if setting.plural else noun.name], setting.facts
        portuguese = [setting.portuguese, noun.portuguese[setting.plural], setting.after]
        if self.adjectives[noun.name] and self.dice.chance(self.shares.adjective[role]):
            adjective = self.dice.pick(self.adjectives[noun.name])
            english.insert(0, adjective.english)
            portuguese.insert(2, agreeing(adjective.forms, noun.feminine, setting.plural))
            facts = (*facts, Combination.of("adjective-noun", adjective.name, noun.name))
        english.insert(0, self._article(english[0]) if setting.english == "a" else setting.english)
        return Phrase(
            " ".join(filter(None, english)),
            " ".join(filter(None, portuguese)),
            plural=setting.plural,
            feminine=noun.feminine,
            forms=(2, 3) if setting.plural else (1, 1),
            head=noun.name,
            facts=facts,
        )

    def _setting(self, noun: Noun, role: Role) -> Setting:
        """What stands around the noun: an owner, a number, or a determiner."""
        owned = noun.name in self.owned
        if owned and role in ("subject", "object", "place") and self.dice.chance(self.shares.owner):
            return self._owner(noun, role)
        if role in ("subject", "object", "there") and noun.counted and self.dice.chance(self.shares.number):
            name, forms = self.dice.pick(self.numbers)
            return Setting(True, name, forms[noun.feminine], "", (Combination.of("number-noun", name, noun.name),))
        determiner, plural = self.dice.draw(self.determiners[role, noun.counted, owned])
        return Setting(
            plural,
            determiner.english[plural],
            agreeing(determiner.portuguese, noun.feminine, plural),
            determiner.after,
            (Combination.of("determiner-noun", determiner.name, noun.name),),
        )

    def _owner(self, noun: Noun, role: Role) -> Setting:
        """Ana's book, o livro de Ana; the boy's book, o livro do menino."""
        plural = noun.counted and self.dice.chance(self.shares.plural[role])
        the = self.words.determiners["the"].portuguese
        article = agreeing(the, noun.feminine, plural)
        if self.dice.chance(self.shares.owner_name):
            owner = self.name()
            return Setting(plural, f"{owner.english}'s", article, f"de {owner.portuguese}", ())
        person = self.dice.pick(self.people)
        whose = self.contract("de", f"{agreeing(the, person.feminine, False)} {person.portuguese[0]}")
        facts = (Combination.of("owner-noun", person.name, noun.name),)
        return Setting(plural, f"the {person.name}'s", article, whose, facts)

    def _article(self, word: str) -> str:
        articles = self.words.articles
        return "an" if word[0] in articles.an_before and word not in articles.exceptions else "a"


def agreeing(forms: Sequence[str], feminine: bool, plural: bool) -> str:
    """The form that agrees, out of masculine and feminine singular, masculine and feminine plural."""
    return forms[2 * plural + feminine]


def _by_noun(entries: Iterable[tuple[Entry, Iterable[Noun]]]) -> dict[str, list[Entry]]:
    """For every noun, the entries that go with it."""
    found: dict[str, list[Entry]] = defaultdict(list)
    for entry, nouns in entries:
        for noun in nouns:
            found[noun.name].append(entry)
    return found
