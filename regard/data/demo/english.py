"""The English side of the demo grammar: phrases and verbs as words with their meanings."""

from functools import cache
from typing import NamedTuple

from regard.data.demo.entries import DemoWords, Modal, Tense, conjunctions
from regard.data.demo.noun_phrases import Phrase
from regard.data.demo.scenes import DemoScene
from regard.data.demo.wording import Word, Wording, Words, entry_words, fill_template

THIRD = 1  # the verb form of he, she and it, counted from 0
ALONG = "verb"  # the meaning that helpers accompany


class VerbGroup(NamedTuple):
    """Forms of a verb around its subject: she ate (verb); did (helper) she eat (base)."""

    verb: str
    helper: str
    base: str


def ordinary(words: DemoWords, english: list[str], tense: Tense, person: int) -> VerbGroup:
    """Return a verb with do, did and will, from its base, third person and past."""
    base, third, past = english
    match tense:
        case "present":
            return VerbGroup(third if person == THIRD else base, words.helpers.present[person], base)
        case "past":
            return VerbGroup(past, words.helpers.past[person], base)
        case "future":
            helper = words.helpers.future[person]
            return VerbGroup(f"{helper} {base}", helper, base)


def be(words: DemoWords, tense: Tense, person: int) -> VerbGroup:
    """Return the forms of *be*, which is its own helper: is she tired? will she be tired?"""
    if tense == "future":
        helper = words.helpers.future[person]
        return VerbGroup(f"{helper} be", helper, "be")
    form = words.be.present[person] if tense == "present" else words.be.past[person]
    return VerbGroup(form, form, "")


def modal(words: DemoWords, entry: Modal, person: int) -> VerbGroup:
    """Return the forms of *can*, which is its own helper, or of *want to* and *need to*, which are not."""
    base, third = entry.english
    if entry.helper:
        return VerbGroup(base, base, "")
    return VerbGroup(third if person == THIRD else base, words.helpers.present[person], base)


class English:
    """Finds English words for a drawn scene."""

    def __init__(self, words: DemoWords) -> None:
        self.words, self.conjunctions = words, conjunctions("english")

    def wording(self, scene: DemoScene) -> Wording:
        """Return the sentence of a scene."""
        group = self.verb_group(scene)
        slots = {slot: self.phrase(phrase, slot) for slot, phrase in scene.phrases.items()}
        finite = _wanting if scene.modal else self._finite
        slots["verb"] = finite(group.verb)
        slots["helper"] = _helper(group)
        slots["base"] = finite(group.base)
        slots["denied"] = _denied(scene.denial, group)
        slots["action"] = _doing(scene.verb.english[0], "action") if scene.verb else ()
        slots["adjective"] = entry_words(scene.adjective.english, "adjective") if scene.adjective else ()
        slots |= {name: entry_words(getattr(scene, name), name) for name in ("time", "adverb", "number")}
        return fill_template(scene.pattern.english, slots, _literal)

    def verb_group(self, scene: DemoScene) -> VerbGroup:
        """Return the forms of the verb that agrees with the subject: the modal, if there is one."""
        person = scene.phrases["subject"].forms[0]
        if scene.modal is not None:
            return modal(self.words, scene.modal, person)
        if scene.verb is not None:
            return ordinary(self.words, scene.verb.english, scene.tense, person)
        return be(self.words, scene.tense, person)

    def phrase(self, phrase: Phrase, slot: str) -> Words:
        """Return the words of a subject, object, recipient or place."""
        noun = f"{slot}.noun"
        if phrase.pronoun:
            pronoun = self.words.pronouns[phrase.pronoun]
            return entry_words(phrase.pronoun if slot == "subject" else pronoun.object, noun)
        if phrase.names:
            return name_words(phrase.names, "and", noun)
        assert phrase.noun is not None
        words = [Word(phrase.noun.plural if phrase.plural else phrase.noun.name, (noun,))]
        if phrase.adjective:
            words.insert(0, Word(phrase.adjective.english, (f"{slot}.adjective",)))
        before = [*self._before(phrase, slot, words[0].text), *words]
        if phrase.preposition:
            before = [*entry_words(phrase.preposition.english, f"{slot}.preposition"), *before]
        return tuple(before)

    def _before(self, phrase: Phrase, slot: str, following: str) -> Words:
        """Return the words before noun and adjective: a number, an owner, a determiner or nothing."""
        if phrase.number:
            return (Word(phrase.number, (f"{slot}.number",)),)
        if phrase.owner:
            owner, along = f"{slot}.owner", (f"{slot}.owner-of", f"{slot}.article")
            if phrase.owner.names:
                return (Word(f"{phrase.owner.names[0]}'s", (owner,), along),)
            the = Word("the", (f"{slot}.owner-determiner",))
            return the, Word(f"{phrase.owner.head}'s", (owner,), along)
        assert phrase.determiner is not None
        text = phrase.determiner.english[phrase.plural]
        article = self._article(following) if text == "a" else text
        return _determining(article, slot)

    def _article(self, word: str) -> str:
        articles = self.words.articles
        return "an" if word[0] in articles.an_before and word not in articles.exceptions else "a"

    def _finite(self, text: str) -> Words:
        """Return a verb with its helper before it and its particle after it: will think about."""
        first, _, rest = text.partition(" ")
        if first in self.words.helpers.future:
            return (_will(first), *_doing(rest, "verb"))
        return _doing(text, "verb")


@cache
def _determining(text: str, slot: str) -> Words:
    """Return a determiner, which accompanies an article that another language may need: his, o … dele."""
    return tuple(word._replace(near=(f"{slot}.article",)) for word in entry_words(text, f"{slot}.determiner"))


@cache
def _doing(text: str, meaning: str) -> Words:
    """Return a verb and its particle, or nothing."""
    verb, *particles = text.split() or [""]
    behind = [Word(particle, ("object.preposition",), (meaning,)) for particle in particles]
    return (Word(verb, (meaning,)), *behind) if verb else ()


@cache
def _wanting(text: str) -> Words:
    """Return *can*, or *want to*, whose *to* accompanies both verbs."""
    verb, *to = text.split() or [""]
    return (Word(verb, ("verb",)), *(Word(word, (), ("verb", "action")) for word in to)) if verb else ()


def _will(text: str) -> Word:
    return Word(text, ("future",), (ALONG,))


@cache
def _helper(group: VerbGroup) -> Words:
    """Return the helper of a question: the verb itself, if it is its own helper."""
    if not group.base:
        return (Word(group.helper, ("verb",)),)
    return (_will(group.helper),) if group.helper == "will" else (Word(group.helper, (), (ALONG,)),)


@cache
def _denied(text: str, group: VerbGroup) -> Words:
    """Return a helper and its negation, in two words or in one."""
    if not text:
        return ()
    (helper,) = _helper(group)
    first, _, rest = text.partition(" ")
    if rest:
        return helper._replace(text=first), Word(rest, ("not",))
    return (Word(first, (*helper.means, "not"), helper.near),)


def name_words(names: tuple[str, ...], conjunction: str, meaning: str) -> Words:
    """Return one name, or two with a conjunction between them, in any language."""
    if len(names) == 1:
        return (Word(names[0], (meaning,)),)
    first, second = names
    return Word(first, (f"{meaning}/1",)), Word(conjunction, (f"{meaning}-and",)), Word(second, (f"{meaning}/2",))


def _literal(text: str) -> Words:
    """Return the fixed words of a pattern: each means itself, except two that belong to others."""
    special = {"there": Word("there", (), (ALONG,)), "to": Word("to", ("recipient.preposition",))}
    return tuple(special.get(word, Word(word, (word,))) for word in text.split())
