"""Sentences of the demo corpus: patterns filled with phrases and conjugated verbs, in both languages at once."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

from regard.base.recipe import check
from regard.data.demo.draws import Dice, Urn
from regard.data.demo.entries import CopulaName, DemoWords, Lexicon, Modal, Role, Tense, read_grammar
from regard.data.demo.noun_phrases import Combination, DemoPhrases, Phrase, agreeing
from regard.data.demo.patterns import Action, Description, Pattern, Patterns

THIRD = 1  # the verb form of he, she and it, counted from 0


class VerbGroup(NamedTuple):
    """The shapes a verb takes around its subject: she ate (verb); did (helper) she eat (base)."""

    verb: str
    helper: str
    base: str


def ordinary(words: DemoWords, english: list[str], tense: Tense, person: int) -> VerbGroup:
    """A verb with do, did and will, from its base, third person and past."""
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
    """The verb that is its own helper: is she tired? will she be tired?"""
    if tense == "future":
        helper = words.helpers.future[person]
        return VerbGroup(f"{helper} be", helper, "be")
    form = words.be.present[person] if tense == "present" else words.be.past[person]
    return VerbGroup(form, form, "")


def modal(words: DemoWords, entry: Modal, person: int) -> VerbGroup:
    """can, which is its own helper; want to and need to, which are not."""
    base, third = entry.english
    if entry.helper:
        return VerbGroup(base, base, "")
    return VerbGroup(third if person == THIRD else base, words.helpers.present[person], base)


class DemoSentence(NamedTuple):
    """A pair and the combinations of words in it."""

    english: str
    portuguese: str
    facts: frozenset[Combination]


@dataclass
class DemoScene:
    """A pattern being filled: its slots so far in both languages, and the combinations they make."""

    pattern: Pattern
    tense: Tense
    english: dict[str, str] = field(default_factory=dict)
    portuguese: dict[str, str] = field(default_factory=dict)
    facts: list[Combination] = field(default_factory=list)

    def put(self, slot: str, english: str, portuguese: str = "") -> None:
        self.english[slot], self.portuguese[slot] = english, portuguese

    def put_phrase(self, slot: str, phrase: Phrase) -> None:
        self.put(slot, phrase.english, phrase.portuguese)
        self.facts.extend(phrase.facts)

    def note(self, kind: str, *words: str) -> None:
        """Note a combination, unless one of its words is missing: a pronoun is no noun to combine with."""
        if all(words):
            self.facts.append(Combination(kind, words))


class DemoSentences:
    """An endless stream of sentences, as the dice fall."""

    def __init__(self, lexicon: Lexicon, dice: Dice) -> None:
        grammar = check(Patterns, read_grammar("patterns.toml"), "patterns.toml")
        self.words, self.longest, self.dice = lexicon.words, grammar.longest, dice
        self.phrases = DemoPhrases(lexicon, grammar.shares, dice)
        self.actions = [Action(verb, lexicon) for verb in lexicon.verbs.values()]
        self.descriptions = [Description(entry, lexicon) for entry in lexicon.adjectives.values()]
        self.standing = [(lexicon.members(pair.subjects), lexicon.members(pair.places)) for pair in grammar.standing]
        self.aged = lexicon.members(["aged"])
        self.modals = list(self.words.modals.values())
        self.adverbs = list(self.words.adverbs.items())
        self.rules = Urn(((pattern, self._filler(pattern)), pattern.weight) for pattern in grammar.patterns)

    def __iter__(self) -> Iterator[DemoSentence]:
        while True:
            pattern, fill = self.dice.draw(self.rules)
            scene = DemoScene(pattern, self.dice.pick(pattern.tenses))
            fill(scene)
            english = _fill_template(pattern.english, scene.english)
            if len(english.split()) <= self.longest:
                yield DemoSentence(
                    english, _fill_template(pattern.portuguese, scene.portuguese), frozenset(scene.facts)
                )

    def _filler(self, pattern: Pattern) -> Callable[[DemoScene], None]:
        """What fills the slots of the pattern."""
        match pattern.verb:
            case "being" | "feeling":
                described = [entry for entry in self.descriptions if pattern.takes_adjective(entry.adjective)]
                return partial(self._describe, described)
            case "standing":
                return self._stand
            case "existence":
                return self._exist
            case "age":
                return self._age
        fitting = Urn((action, action.verb.weight) for action in self.actions if pattern.takes(action))
        return partial(self._act, fitting)

    def _act(self, actions: Urn[Action], scene: DemoScene) -> None:
        """Someone does something, perhaps to something, somewhere, some time."""
        action = self.dice.draw(actions)
        pattern, verb = scene.pattern, action.verb
        if pattern.subject == "who":
            subject = self.phrases.pronoun("who")
        else:
            subject = self.phrases.subject(action.subjects, action.by_people)
        if pattern.has("action"):
            entry = self.dice.pick(self.modals)
            group = modal(self.words, entry, subject.forms[0])
            self._put_verb(scene, subject, group, entry.portuguese[subject.forms[1]])
            scene.put("action", verb.english[0], verb.infinitive)
        else:
            if pattern.has("verb") and verb.english[0] == verb.english[2] and subject.forms[0] != THIRD:
                scene.tense = "present"  # "I read" does not show its tense: here it is always the present
            group = ordinary(self.words, verb.english, scene.tense, subject.forms[0])
            self._put_verb(scene, subject, group, verb.form(scene.tense, subject.forms[1]))
            scene.note("question", scene.tense if pattern.asks else "", verb.name)
        scene.note("subject-verb", subject.head, verb.name)
        self._put_object(scene, action, subject)
        if pattern.has("place"):
            scene.put_phrase("place", self.phrases.place(action.places))
        self._put_adverbs(scene)

    def _put_verb(self, scene: DemoScene, subject: Phrase, english: VerbGroup, portuguese: str) -> None:
        scene.put_phrase("subject", subject)
        scene.put("verb", english.verb, portuguese)
        scene.put("helper", english.helper)
        scene.put("base", english.base)
        if scene.pattern.has("denied"):
            scene.put("denied", self.dice.pick(self.words.denials[english.helper]))

    def _put_be(self, scene: DemoScene, subject: Phrase, copula: CopulaName) -> None:
        english, portuguese = subject.forms
        form = self.words.copulas[copula].form(scene.tense, portuguese)
        self._put_verb(scene, subject, be(self.words, scene.tense, english), form)

    def _put_object(self, scene: DemoScene, action: Action, subject: Phrase) -> None:
        """What it is done to, and who gets it."""
        pattern = scene.pattern
        if not pattern.has("object"):
            return
        if pattern.object == "how_many":
            target = self.phrases.noun(self.dice.pick(action.counted), "how_many")
        else:
            people = action.to_people and pattern.object == "any"
            role: Role = "place" if action.to_places else "object"
            preposition = action.verb.preposition
            target = self.phrases.target(subject, action.objects, preposition, role, people)
        scene.put_phrase("object", target)
        scene.put("clitic", "", target.clitic)
        scene.note("verb-object", action.verb.name, target.head)
        if pattern.has("recipient"):
            scene.put_phrase("recipient", self.phrases.recipient(subject))

    def _put_adverbs(self, scene: DemoScene) -> None:
        if scene.pattern.has("time"):
            times = [(name, time) for name, time in self.words.times.items() if scene.tense in time.tenses]
            name, time = self.dice.pick(times)
            scene.put("time", name, time.portuguese)
        if scene.pattern.has("adverb"):
            scene.put("adverb", *self.dice.pick(self.adverbs))

    def _describe(self, descriptions: Sequence[Description], scene: DemoScene) -> None:
        """Something is so: the adjective agrees with its subject and says which copula it wants."""
        chosen = self.dice.pick(descriptions)
        adjective = chosen.adjective
        subject = self.phrases.subject(chosen.nouns, chosen.of_people, adjective.shows_gender)
        while chosen.clashes(subject):
            subject = self.phrases.subject(chosen.nouns, chosen.of_people, adjective.shows_gender)
        self._put_be(scene, subject, adjective.copula)
        portuguese = agreeing(adjective.forms, bool(subject.feminine), subject.plural)
        scene.put("adjective", adjective.english, portuguese)
        scene.note("adjective-noun", adjective.name, subject.head)
        self._put_adverbs(scene)

    def _stand(self, scene: DemoScene) -> None:
        """Someone or something is somewhere."""
        nouns, places = self.dice.pick(self.standing)
        people = nouns == self.phrases.people and scene.pattern.subject == "any"
        self._put_be(scene, self.phrases.subject(nouns, people), "estar")
        if scene.pattern.has("place"):
            scene.put_phrase("place", self.phrases.place(places))

    def _exist(self, scene: DemoScene) -> None:
        """There is something somewhere."""
        nouns, places = self.dice.pick(self.standing)
        self._put_be(scene, self.phrases.noun(self.dice.pick(nouns), "there"), "haver")
        scene.put_phrase("place", self.phrases.place(places))

    def _age(self, scene: DemoScene) -> None:
        """Someone is ten years old; Portuguese has the years: Ana tem dez anos."""
        self._put_be(scene, self.phrases.subject(self.aged), "ter")
        name, (masculine, _) = self.dice.pick(self.phrases.numbers)
        scene.put("number", name, masculine)


def _fill_template(template: str, slots: dict[str, str]) -> str:
    """The template with its slots filled, single spaces and a capital; an empty slot leaves no trace."""
    text = " ".join(template.format_map(slots).split()).replace(" .", ".").replace(" ?", "?")
    return text[0].upper() + text[1:]
