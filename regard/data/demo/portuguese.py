"""The Portuguese side of the demo grammar: agreement, order, clitics and contractions."""

from collections.abc import Sequence

from regard.data.demo.english import name_words
from regard.data.demo.entries import DemoWords, conjunctions, glosses
from regard.data.demo.noun_phrases import Phrase
from regard.data.demo.scenes import DemoScene
from regard.data.demo.wording import (
    Word,
    Wording,
    Words,
    fill_template,
    glossed,
    glossed_words,
    join_words,
)


class Portuguese:
    """Finds Portuguese words for a drawn scene."""

    def __init__(self, words: DemoWords) -> None:
        self.words = words
        self.glosses, self.conjunctions = glosses("portuguese"), conjunctions("portuguese")

    def wording(self, scene: DemoScene) -> Wording:
        """Return the sentence of a scene."""
        slots = {slot: self.phrase(phrase, slot) for slot, phrase in scene.phrases.items()}
        slots["verb"], slots["clitic"] = self._finite(scene), ()
        if scene.verb:
            slots["action"] = (Word(scene.verb.infinitive, ("action",)),)
        if "object" in scene.phrases:
            slots["clitic"], slots["object"] = self._object(scene)
        if "recipient" in slots:
            slots["recipient"] = self.contract((Word("a", ("recipient.preposition",)),), slots["recipient"])
        if scene.adjective:
            form = agreeing(scene.adjective.forms, scene.phrases["subject"])
            slots["adjective"] = (Word(form, ("adjective",)),)
        if scene.time:
            slots["time"] = self._entry(self.words.times[scene.time].portuguese, scene.time, "time")
        if scene.adverb:
            slots["adverb"] = self._entry(self.words.adverbs[scene.adverb], scene.adverb, "adverb")
        if scene.number:
            slots["number"] = (Word(self.words.numbers[scene.number][0], ("number",)),)
        return fill_template(scene.pattern.portuguese, slots, self._literal)

    def phrase(self, phrase: Phrase, slot: str) -> Words:
        """Return the words of a subject, an object without its preposition, or a place."""
        noun = f"{slot}.noun"
        if phrase.pronoun:
            pronoun = self.words.pronouns[phrase.pronoun]
            text = pronoun.portuguese if slot == "subject" else pronoun.after
            if phrase.antecedent:
                text = agreeing(self.words.antecedents.subject, phrase)
            english = phrase.pronoun if slot == "subject" else pronoun.object
            return self._entry(text, english, noun)
        if phrase.names:
            return name_words(phrase.names, "e", noun)
        assert phrase.noun is not None
        before, behind = self._around(phrase, slot)
        words = [*before, Word(phrase.noun.portuguese[phrase.plural], (noun,))]
        if phrase.adjective:
            words.append(Word(agreeing(phrase.adjective.forms, phrase), (f"{slot}.adjective",)))
        words += behind
        if phrase.preposition is None:
            return tuple(words)
        english, portuguese = phrase.preposition.english, phrase.preposition.portuguese
        return self.contract(self._entry(portuguese, english, f"{slot}.preposition"), tuple(words))

    def _around(self, phrase: Phrase, slot: str) -> tuple[Words, Words]:
        """Return the words before the noun, and those after it: o livro dele, o livro de Ana."""
        if phrase.number:
            assert phrase.noun is not None
            return (Word(self.words.numbers[phrase.number][phrase.noun.feminine], (f"{slot}.number",)),), ()
        if phrase.owner:
            the = agreeing(self.words.determiners["the"].portuguese, phrase)
            return (Word(the, (f"{slot}.article",)),), self._owner(phrase.owner, slot)
        determiner = phrase.determiner
        assert determiner is not None
        text, english = agreeing(determiner.portuguese, phrase), determiner.english[phrase.plural]
        if determiner.after:
            return (Word(text, (f"{slot}.article",)),), (Word(determiner.after, (f"{slot}.determiner",)),)
        return self._entry(text, english, f"{slot}.determiner"), ()

    def _owner(self, owner: Phrase, slot: str) -> Words:
        of, meaning = (Word("de", (f"{slot}.owner-of",)),), f"{slot}.owner"
        if owner.names:
            return *of, Word(owner.names[0], (meaning,))
        assert owner.noun is not None
        article = agreeing(self.words.determiners["the"].portuguese, owner)
        whose = Word(article, (f"{slot}.owner-determiner",)), Word(owner.noun.portuguese[0], (meaning,))
        return self.contract(of, whose)

    def _finite(self, scene: DemoScene) -> Words:
        """Return the verb that agrees with the subject; the future is part of its form."""
        person = scene.phrases["subject"].forms[1]
        if scene.modal:
            text = scene.modal.portuguese[person]
        elif scene.verb:
            text = scene.verb.form(scene.tense, person)
        else:
            assert scene.copula is not None
            text = self.words.copulas[scene.copula].form(scene.tense, person)
        return (Word(text, ("verb",), ("future",)),)

    def _object(self, scene: DemoScene) -> tuple[Words, Words]:
        """Return the object as (before the verb, after the verb), with the verb's preposition if it has one."""
        phrase, verb = scene.phrases["object"], scene.verb
        assert verb is not None
        if verb.preposition:
            along = "action" if scene.modal else "verb"
            preposition = Word(verb.preposition, ("object.preposition",), (along,))
            return (), self.contract((preposition,), self.phrase(phrase, "object"))
        if phrase.pronoun and (before := self.words.pronouns[phrase.pronoun].before):
            if phrase.antecedent:
                before = agreeing(self.words.antecedents.object, phrase)
            return self._entry(before, self.words.pronouns[phrase.pronoun].object, "object.noun"), ()
        return (), self.phrase(phrase, "object")

    def contract(self, preposition: Words, phrase: Words) -> Words:
        """Put a preposition before a phrase, contracted where required: perto de + a casa = perto da casa."""
        *before, last = preposition
        first, *rest = phrase
        article = self.words.possessives.get(first.text)
        if article and f"{last.text} {article}" in self.words.contractions:
            joined = [last._replace(text=self.words.contractions[f"{last.text} {article}"]), first]
        elif text := self.words.contractions.get(f"{last.text} {first.text}"):
            joined = [join_words(last, first, text)]
        else:
            joined = [last, first]
        return *before, *joined, *rest

    def _entry(self, text: str, english: str, meaning: str) -> Words:
        return glossed_words(text, english, meaning, self.glosses.get(text))

    def _literal(self, text: str) -> Words:
        """Return the fixed words of a pattern."""
        return glossed(text.split(), self.glosses[text], {})


def agreeing(forms: Sequence[str], phrase: Phrase) -> str:
    """Return the agreeing form of four: masculine and feminine singular, masculine and feminine plural."""
    return forms[2 * phrase.plural + bool(phrase.feminine)]
