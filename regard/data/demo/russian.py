"""The Russian side of the demo grammar: cases, agreement, aspect, negation and free word order."""

from collections.abc import Mapping
from typing import NamedTuple

from regard.data.demo.draws import Dice
from regard.data.demo.entries import conjunctions
from regard.data.demo.noun_phrases import Phrase
from regard.data.demo.russian_entries import GENDERS, Gender, RussianLexicon, RussianVerb, past_form
from regard.data.demo.russian_phrases import FEW, Place, RussianPhrases, preposed
from regard.data.demo.scenes import DemoScene
from regard.data.demo.wording import Word, Wording, Words, fill_template, glossed, glossed_words

FREE = 1 / 3  # share of sentences with several orders that do not use the plainest
REPEATED = ("always", "never")  # adverbs of repeated events
THIRD = 2  # the verb form of он, counted from 0
NO_ONE = ""  # an impersonal verb agrees with nothing


class Verbal(NamedTuple):
    """Words of the verb: не, the verb, the verb after it; the place of its subject, and what it agrees with."""

    verb: Words
    negation: Words = ()
    action: Words = ()
    subject: Place = Place("nominative")
    agrees: str = "subject.noun"


class Russian:
    """Finds Russian words for a drawn scene; the dice choose the word order."""

    def __init__(self, lexicon: RussianLexicon, dice: Dice) -> None:
        self.lexicon, self.words, self.dice = lexicon, lexicon.words, dice
        self.phrases, self.conjunctions = RussianPhrases(lexicon), conjunctions("russian")

    def wording(self, scene: DemoScene) -> Wording | None:
        """Return the sentence of a scene in one of its orders; None if Russian has no single word for something."""
        wordings = self.wordings(scene)
        if not wordings:
            return None
        plain, *others = wordings
        return self.dice.pick(others) if others and self.dice.chance(FREE) else plain

    def wordings(self, scene: DemoScene) -> list[Wording]:
        """Return the sentence of a scene in all its orders, the plainest first."""
        if not self._can_say(scene):
            return []
        verbal = self._verbal(scene)
        if verbal is None:
            return []
        slots = self._slots(scene, verbal)
        orders = self._orders(scene, verbal)
        return [fill_template(order, slots, self._literal, verbal.agrees) for order in orders if slots]

    def _can_say(self, scene: DemoScene) -> bool:
        if not all(map(self.phrases.can_say, scene.phrases.values())):
            return False
        subject, target = scene.phrases["subject"], scene.phrases.get("object")
        if scene.adjective and not self._can_be(scene.adjective.name, subject.antecedent or subject):
            return False
        if scene.verb is None:
            return True
        verb = self.lexicon.verbs.get(scene.verb.name)
        if verb is None or (target and (scene.verb.name, (target.antecedent or target).head) in self.lexicon.apart):
            return False
        if verb.inverted and (target is None or target.pronoun):
            return False
        asks_for_object = target is None or (target.determiner is not None and target.determiner.name == "how_many")
        return not (scene.pattern.verb == "direct" and asks_for_object and verb.object != "accusative")

    def _can_be(self, adjective: str, subject: Phrase) -> bool:
        """Return True if an adjective can be a predicate of the subject, not only an attribute."""
        person = subject.noun is None or subject.head in self.lexicon.people
        attributive = self.words.adjectives[adjective].attributive
        return (adjective, subject.head) not in self.lexicon.apart and not (attributive and person)

    def _orders(self, scene: DemoScene, verbal: Verbal) -> list[str]:
        pattern, orders = scene.pattern, [*scene.pattern.russian]
        subject, target = scene.phrases["subject"], scene.phrases.get("object")
        if target and target.pronoun and not self._has_preposition(scene):
            orders += pattern.russian_pronoun
        if not subject.pronoun and not verbal.subject.preposition:
            asks_amount = pattern.object == "how_many"
            if target is None or asks_amount or (not target.pronoun and self._shows_case(scene, verbal)):
                orders += pattern.russian_nouns
        return orders

    def _shows_case(self, scene: DemoScene, verbal: Verbal) -> bool:
        """Return True if subject and object differ in form, whatever their order."""
        assert scene.verb is not None
        if self.lexicon.verbs[scene.verb.name].object != "accusative" or verbal.subject.case != "nominative":
            return True
        return any(
            self.phrases.phrase(scene.phrases[slot], slot, Place("nominative"))
            != self.phrases.phrase(scene.phrases[slot], slot, Place("accusative"))
            for slot in ("subject", "object")
        )

    def _has_preposition(self, scene: DemoScene) -> bool:
        return scene.verb is not None and self.lexicon.verbs[scene.verb.name].object not in ("accusative", "dative")

    def _slots(self, scene: DemoScene, verbal: Verbal) -> Mapping[str, Words]:
        """Return the words of all slots; empty if one of them cannot be determined."""
        subject = scene.phrases["subject"]
        slots = {"verb": verbal.verb, "not": verbal.negation, "action": verbal.action}
        slots["subject"] = self._subject(subject, verbal)
        owner = subject if verbal.agrees == "subject.noun" or scene.modal else None
        if "object" in scene.phrases:
            slots["object"] = self._object(scene, verbal, owner)
        if "recipient" in scene.phrases:
            place = Place("dative", "", owner)
            slots["recipient"] = self.phrases.phrase(scene.phrases["recipient"], "recipient", place)
        if "place" in scene.phrases:
            there = scene.pattern.verb == "existence"
            slots["place"] = self._place(scene.phrases["place"], None if there else owner)
        if scene.adjective:
            adjective = self._adjective(scene)
            if not adjective:
                return {}
            slots["adjective"] = adjective
        if scene.time:
            slots["time"] = self._entry(self.words.times[scene.time], scene.time, "time")
        if scene.adverb:
            slots["adverb"] = self._entry(self.words.adverbs[scene.adverb], scene.adverb, "adverb")
        if scene.number:
            slots["number"] = (Word(self.words.numbers[scene.number][0].split()[0], ("number",)),)
            slots["years"] = (Word("года" if scene.number in FEW else "лет", ("years",), ("old",)),)
        return slots

    def _subject(self, subject: Phrase, verbal: Verbal) -> Words:
        words = self.phrases.phrase(subject, "subject", verbal.subject)
        return (Word(verbal.subject.preposition, (), ("verb",)), *words) if verbal.subject.preposition else words

    def _object(self, scene: DemoScene, verbal: Verbal, owner: Phrase | None) -> Words:
        """Return the object in its case, with the verb's preposition before it."""
        assert scene.verb is not None
        phrase, entry = scene.phrases["object"], self.lexicon.verbs[scene.verb.name]
        place = self._direction(entry.object, phrase, owner)
        if entry.inverted:
            place = Place("genitive" if entry.denied and _is_denied(scene) else "nominative", there=True)
        words = self.phrases.phrase(phrase, "object", place)
        if not place.preposition:
            return words
        along = "action" if scene.modal else "verb"
        text = preposed(place.preposition, words[0].text)
        return Word(text, ("object.preposition",), (along,)), *words

    def _direction(self, way: str, phrase: Phrase, owner: Phrase | None) -> Place:
        """Return the case and preposition of an object; for directions and places they depend on the noun."""
        onto = phrase.head in self.words.on + self.words.onto
        match way:
            case "to":
                return Place("accusative", "на" if onto else "в", owner)
            case "from":
                return Place("genitive", "с" if onto else "из", owner)
            case "in":
                on = phrase.head in self.words.on
                return Place("prepositional", "на" if on else "в", owner, locative=True)
        return Place.governed(way, owner)

    def _place(self, phrase: Phrase, owner: Phrase | None) -> Words:
        """Return a place: в саду, на кухне, рядом со школой."""
        assert phrase.preposition is not None
        if phrase.preposition.name in ("in", "on"):
            place = self._direction("in", phrase, owner)
        else:
            place = Place.governed(self.words.prepositions[phrase.preposition.name], owner)
        words = self.phrases.phrase(phrase, "place", place)
        *before, last = place.preposition.split()
        text = " ".join([*before, preposed(last, words[0].text)])
        return *self._entry(text, phrase.preposition.english, "place.preposition"), *words

    def _adjective(self, scene: DemoScene) -> Words:
        """Return the predicate: short if it has such forms, else nominative or, after "be", instrumental."""
        assert scene.adjective is not None
        gender = self.phrases.gender(scene.phrases["subject"])
        if gender is None:
            return ()
        entry = self.words.adjectives[scene.adjective.name]
        case = 0 if scene.tense == "present" else 4
        text = entry.short[GENDERS.index(gender)] if entry.short else entry.forms[gender][case]
        return (Word(text, ("adjective",)),)

    def _verbal(self, scene: DemoScene) -> Verbal | None:
        """Return the verb with the words around it; None if a past form needs an unknown gender."""
        if scene.modal:
            return self._modal(scene)
        if scene.verb:
            return self._acting(scene, self.lexicon.verbs[scene.verb.name])
        return self._being(scene)

    def _modal(self, scene: DemoScene) -> Verbal:
        assert scene.modal is not None
        assert scene.verb is not None
        modal, verb = self.words.modals[scene.modal.english[0].split()[0]], self.lexicon.verbs[scene.verb.name]
        again = not verb.perfective or (modal.repeated and bool(scene.denial))
        finite = Word(modal.present.split()[_person(scene.phrases["subject"])], ("verb",))
        return Verbal(
            (finite,),
            _negation(scene),
            (Word(verb.infinitive if again else verb.perfective, ("action",)),),
            Place(modal.subject),
            "subject.noun" if modal.subject == "nominative" else NO_ONE,
        )

    def _acting(self, scene: DemoScene, verb: RussianVerb) -> Verbal | None:
        """Return the verb for someone who does something, has it, likes it or needs it."""
        subject = Place.governed(verb.subject)
        if verb.denied and _is_denied(scene):
            return self._missing(scene, verb.denied)._replace(subject=subject)
        agrees = "object.noun" if verb.inverted else "subject.noun"
        phrase = scene.phrases[agrees.partition(".")[0]]
        impersonal = verb.inverted and self.phrases.is_amount(phrase)
        gender: Gender | None = "n" if impersonal else self.phrases.gender(phrase)
        person = THIRD if impersonal else _person(phrase)
        words = self._short(verb, scene, gender, person) if verb.short else self._finite(verb, scene, gender, person)
        if words is None:
            return None
        return Verbal(words, _negation(scene), (), subject, NO_ONE if impersonal else agrees)

    def _finite(self, verb: RussianVerb, scene: DemoScene, gender: Gender | None, person: int) -> Words | None:
        """Return the verb in its tense and aspect."""
        assert verb.present is not None
        assert verb.habit is not None
        match scene.tense:
            case "present":
                return (Word(verb.present.split()[person], ("verb",)),)
            case "past":
                past = verb.habit if verb.past is None or scene.adverb in REPEATED else verb.past
                return None if gender is None else (Word(past_form(past, gender), ("verb",)),)
        if verb.future is not None:
            return (Word(verb.future.split()[person], ("verb",), ("future",)),)
        helper = Word(self.words.be.future.split()[person], ("future",), ("verb",))
        return helper, Word(verb.infinitive, ("verb",))

    def _short(self, verb: RussianVerb, scene: DemoScene, gender: Gender | None, person: int) -> Words | None:
        """Return a short form: нужна, была нужна, будет нужна."""
        if gender is None:
            return None
        be = self._be(scene, gender, person)
        return *(word._replace(means=word.means[1:], near=("verb",)) for word in be), Word(
            verb.short[GENDERS.index(gender)], ("verb",)
        )

    def _be(self, scene: DemoScene, gender: Gender, person: int) -> Words:
        """Return nothing in the present, был in the past, будет in the future."""
        match scene.tense:
            case "present":
                return ()
            case "past":
                return (Word(past_form(self.words.be.past, gender), ("verb",)),)
        return (Word(self.words.be.future.split()[person], ("verb", "future")),)

    def _being(self, scene: DemoScene) -> Verbal | None:
        """Return the verb for a quality, a place, existence or an age."""
        subject = scene.phrases["subject"]
        gender, person = self.phrases.gender(subject), _person(subject)
        if scene.pattern.verb == "age":
            return Verbal(self._be(scene, "n", THIRD), subject=Place("dative"), agrees=NO_ONE)
        if scene.pattern.verb == "standing" and scene.denial:
            return self._missing(scene, "нет")
        if scene.pattern.verb == "existence":
            amount = self.phrases.is_amount(subject)
            be = self._be(scene, "n" if amount or gender is None else gender, THIRD if amount else person)
            there = be or (Word("есть", ("verb",)),)
            return Verbal(there, subject=Place("nominative", there=True), agrees=NO_ONE if amount else "subject.noun")
        if gender is None and scene.tense == "past":
            return None
        return Verbal(self._be(scene, gender or "m", person), _negation(scene))

    def _missing(self, scene: DemoScene, denied: str) -> Verbal:
        """Return нет, не было or не будет; the missing thing is in the genitive."""
        negation = _negation(scene)
        if scene.tense == "present":
            (word,) = negation
            return Verbal((Word(denied, ("verb", *word.means), word.near),), (), (), Place("genitive"), NO_ONE)
        return Verbal(self._be(scene, "n", THIRD), negation, (), Place("genitive"), NO_ONE)

    def _entry(self, text: str, english: str, meaning: str) -> Words:
        return glossed_words(text, english, meaning, self.phrases.glosses.get(text))

    def _literal(self, text: str) -> Words:
        """Return the fixed words of a pattern."""
        return glossed(text.split(), self.phrases.glosses[text], {})


def _is_denied(scene: DemoScene) -> bool:
    return bool(scene.denial) or scene.adverb == "never"


def _negation(scene: DemoScene) -> Words:
    """Return не, which also accompanies никогда."""
    if scene.denial:
        return (Word("не", ("not",)),)
    return (Word("не", (), ("adverb",)),) if scene.adverb == "never" else ()


def _person(phrase: Phrase) -> int:
    """Return the verb form of я, ты, он, мы, вы, они, counted from 0."""
    return phrase.person - 1 + 3 * phrase.plural
