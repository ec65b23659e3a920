"""Sentences of the demo corpus: patterns filled at random, then worded in both languages."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple, Protocol

from regard.base.faults import Fault
from regard.base.recipe import check
from regard.data.demo.draws import Dice, Urn
from regard.data.demo.english import THIRD, English
from regard.data.demo.entries import CopulaName, Lexicon, Role, read_grammar
from regard.data.demo.noun_phrases import Combination, DemoPhrases, Phrase
from regard.data.demo.patterns import Action, Description, Pattern, Patterns
from regard.data.demo.scenes import DemoScene
from regard.data.demo.sketches import Sketch
from regard.data.demo.wording import Conjunction, Wording

Rule = tuple[Pattern, Callable[[DemoScene], None]]


class Side(Protocol):
    """A target language, and the conjunctions that join its clauses."""

    conjunctions: dict[str, Conjunction]

    def wording(self, scene: DemoScene) -> Wording | None:
        """Return the sentence of a scene, or None if the language has no single way to say it."""
        ...


class DemoSentence(NamedTuple):
    """A pair as words with their meanings, the combinations of words in it, and its phrases by slot.

    The slots of a second clause begin with `SECOND`.
    """

    source: Wording
    target: Wording
    facts: frozenset[Combination]
    phrases: Mapping[str, Phrase]


class DemoSentences:
    """An endless stream of random sentences, translated into the target language."""

    def __init__(self, lexicon: Lexicon, dice: Dice, side: Side) -> None:
        grammar = check(Patterns, read_grammar("patterns.toml"), "patterns.toml")
        self.words, self.longest, self.dice = lexicon.words, grammar.longest, dice
        self.english, self.side = English(lexicon.words), side
        self.lexicon, self.patterns = lexicon, grammar.patterns
        self.phrases = DemoPhrases(lexicon, grammar.shares, dice)
        self.actions = [Action(verb, lexicon) for verb in lexicon.verbs.values()]
        self.descriptions = [Description(entry, lexicon) for entry in lexicon.adjectives.values()]
        self.standing = [(lexicon.members(pair.subjects), lexicon.members(pair.places)) for pair in grammar.standing]
        self.aged = lexicon.members(["aged"])
        self.modals = list(self.words.modals.values())
        self.adverbs = list(self.words.adverbs.items())
        self.rules = self.rules_of(grammar.patterns)

    def __iter__(self) -> Iterator[DemoSentence]:
        while True:
            scene = self.draw_scene(self.rules)
            source = self.english.wording(scene)
            if len(source.words) <= self.longest:
                target = self.side.wording(scene)
                if target is not None:
                    yield DemoSentence(source, target, frozenset(scene.facts), scene.phrases)

    def rules_of(self, patterns: Iterable[Pattern]) -> Urn[Rule]:
        """Return patterns to draw from, each with the function that fills its slots."""
        return Urn(((pattern, self._filler(pattern)), pattern.weight) for pattern in patterns)

    def draw_scene(self, rules: Urn[Rule]) -> DemoScene:
        """Draw a pattern, its tense, and its content."""
        pattern, fill = self.dice.draw(rules)
        scene = DemoScene(pattern, self.dice.pick(pattern.tenses))
        fill(scene)
        return scene

    def say(self, sketch: Sketch) -> DemoSentence:
        """Return the sentence that a sketch describes."""
        scene = sketch.scene(self.lexicon, self.patterns)
        target = self.side.wording(scene)
        if target is None:
            raise Fault(f"This language has no single way to say '{self.english.wording(scene).text}'")
        return DemoSentence(self.english.wording(scene), target, frozenset(scene.facts), scene.phrases)

    def _filler(self, pattern: Pattern) -> Callable[[DemoScene], None]:
        """Return the function that fills the slots of the pattern."""
        match pattern.verb:
            case "being" | "feeling":
                descriptions = [entry for entry in self.descriptions if pattern.takes_adjective(entry.adjective)]
                return partial(self._describe, descriptions)
            case "standing":
                return self._stand
            case "existence":
                return self._exist
            case "age":
                return self._age
        fitting = Urn((action, action.verb.weight) for action in self.actions if pattern.takes(action))
        return partial(self._act, fitting)

    def _act(self, actions: Urn[Action], scene: DemoScene) -> None:
        """Fill a scene in which someone does something, perhaps to something, somewhere, at some time."""
        action = self.dice.draw(actions)
        pattern, verb = scene.pattern, action.verb
        if pattern.subject == "who":
            subject = self.phrases.pronoun("who")
        else:
            subject = self.phrases.subject(action.subjects, action.by_people)
        scene.verb = verb
        if pattern.has("action"):
            scene.modal = self.dice.pick(self.modals)
        elif pattern.has("verb") and verb.english[0] == verb.english[2] and subject.forms[0] != THIRD:
            scene.tense = "present"  # "I read" does not show its tense: here it is always present
        self._put_subject(scene, subject)
        if not pattern.has("action"):
            scene.note("question", scene.tense if pattern.asks else "", verb.name)
        scene.note("subject-verb", subject.head, verb.name)
        self._put_object(scene, action, subject)
        if pattern.has("place"):
            scene.put("place", self.phrases.place(action.places))
        self._put_adverbs(scene)

    def _put_subject(self, scene: DemoScene, subject: Phrase) -> None:
        scene.put("subject", subject)
        if scene.pattern.has("denied"):
            scene.denial = self.dice.pick(self.words.denials[self.english.verb_group(scene).helper])

    def _put_be(self, scene: DemoScene, subject: Phrase, copula: CopulaName) -> None:
        scene.copula = copula
        self._put_subject(scene, subject)

    def _put_object(self, scene: DemoScene, action: Action, subject: Phrase) -> None:
        """Put the object, and the recipient if there is one."""
        pattern = scene.pattern
        if not pattern.has("object"):
            return
        if pattern.object == "how_many":
            target = self.phrases.noun(self.dice.pick(action.counted), "how_many")
        else:
            people = action.to_people and pattern.object == "any"
            role: Role = "place" if action.to_places else "object"
            target = self.phrases.target(subject, action.objects, role, people)
        scene.put("object", target)
        scene.note("verb-object", action.verb.name, target.head)
        if pattern.has("recipient"):
            scene.put("recipient", self.phrases.recipient(subject))

    def _put_adverbs(self, scene: DemoScene) -> None:
        if scene.pattern.has("time"):
            times = [(name, time) for name, time in self.words.times.items() if scene.tense in time.tenses]
            scene.time, _ = self.dice.pick(times)
        if scene.pattern.has("adverb"):
            scene.adverb, _ = self.dice.pick(self.adverbs)

    def _describe(self, descriptions: Sequence[Description], scene: DemoScene) -> None:
        """Fill a scene in which something has a quality: the adjective agrees with its subject and sets the copula."""
        description = self.dice.pick(descriptions)
        adjective = description.adjective
        subject = self.phrases.subject(description.nouns, description.of_people, adjective.shows_gender)
        while description.clashes(subject):
            subject = self.phrases.subject(description.nouns, description.of_people, adjective.shows_gender)
        self._put_be(scene, subject, adjective.copula)
        scene.adjective = adjective
        scene.note("adjective-noun", adjective.name, subject.head)
        self._put_adverbs(scene)

    def _stand(self, scene: DemoScene) -> None:
        """Fill a scene in which someone or something is somewhere."""
        nouns, places = self.dice.pick(self.standing)
        people = nouns == self.phrases.people and scene.pattern.subject == "any"
        self._put_be(scene, self.phrases.subject(nouns, people), "estar")
        if scene.pattern.has("place"):
            scene.put("place", self.phrases.place(places))

    def _exist(self, scene: DemoScene) -> None:
        """Fill a scene in which there is something somewhere."""
        nouns, places = self.dice.pick(self.standing)
        self._put_be(scene, self.phrases.noun(self.dice.pick(nouns), "there"), "haver")
        scene.put("place", self.phrases.place(places))

    def _age(self, scene: DemoScene) -> None:
        """Fill a scene in which someone is ten years old; Portuguese says *has* ten years: Ana tem dez anos."""
        self._put_be(scene, self.phrases.subject(self.aged), "ter")
        scene.number, _ = self.dice.pick(self.phrases.numbers)
