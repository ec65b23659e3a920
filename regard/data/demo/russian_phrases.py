"""Russian noun phrases of the demo corpus: case, gender, number, numerals and what depends on them."""

import re
from typing import NamedTuple

from regard.data.demo.english import name_words
from regard.data.demo.entries import glosses
from regard.data.demo.noun_phrases import Phrase
from regard.data.demo.russian_entries import CASES, GENDERS, Case, Gender, RussianLexicon
from regard.data.demo.wording import Word, Words, glossed_words

FEW = ("two", "three", "four")  # numbers that take the genitive singular
DIRECT = ("nominative", "accusative")
_POSSESSORS = {"my": (1, False), "your": (2, False), "our": (1, True), "their": (3, True)}
_HIS_HER = {"his": "m", "her": "f"}
_CASES: dict[str, Case] = {case: case for case in CASES}


class Place(NamedTuple):
    """Position of a phrase: its case, its preposition, and the subject that may own it.

    `locative` marks being inside a place, as in в саду. `there` marks an amount (много птиц) rather than many of a
    known set (многие птицы).
    """

    case: Case
    preposition: str = ""
    subject: Phrase | None = None
    locative: bool = False
    there: bool = False

    @classmethod
    def governed(cls, entry: str, subject: Phrase | None = None) -> "Place":
        """Return the position that an entry of the lexicon demands: "dative", or "рядом с instrumental"."""
        preposition, _, case = entry.rpartition(" ")
        return cls(_CASES[case], preposition, subject)


class RussianPhrases:
    """Finds Russian words for phrases."""

    def __init__(self, lexicon: RussianLexicon) -> None:
        self.lexicon, self.words = lexicon, lexicon.words
        self.glosses = glosses("russian")

    def can_say(self, phrase: Phrase) -> bool:
        """Return True if Russian has the noun, and the adjective goes with it."""
        owner = phrase.owner
        if phrase.antecedent:
            return self.can_say(phrase.antecedent)
        if phrase.noun is None:
            return True
        if phrase.head not in self.lexicon.nouns or (owner and owner.noun and owner.head not in self.lexicon.nouns):
            return False
        return phrase.adjective is None or (phrase.adjective.name, phrase.head) not in self.lexicon.apart

    def gender(self, phrase: Phrase) -> Gender | None:
        """Return the gender that past verbs and adjectives agree with; None if it could be either."""
        if phrase.plural:
            return "p"
        if phrase.antecedent:
            return self.gender(phrase.antecedent)
        if phrase.noun:
            return self.lexicon.nouns[phrase.head].gender
        if phrase.pronoun == "who":
            return "m"
        return None if phrase.feminine is None else "f" if phrase.feminine else "m"

    def is_amount(self, phrase: Phrase) -> bool:
        """Return True for phrases such as two books or several books, which can take a neuter verb."""
        return bool(phrase.number) or (phrase.determiner is not None and phrase.determiner.name in self.words.amounts)

    def phrase(self, phrase: Phrase, slot: str, place: Place) -> Words:
        """Return the words of a phrase in a case, with its preposition before it."""
        noun = f"{slot}.noun"
        if phrase.pronoun:
            words = self._entry(self._pronoun(phrase, place), phrase.pronoun, noun)
        elif phrase.names:
            forms = tuple(self._cased(self.words.names[name], place.case) for name in phrase.names)
            words = name_words(forms, "и", noun)
        else:
            words = self._noun(phrase, slot, place)
        return words

    def _pronoun(self, phrase: Phrase, place: Place) -> str:
        """Return a pronoun; with an antecedent it has the gender of that noun: книга, она."""
        name = phrase.pronoun
        if phrase.antecedent and not phrase.plural:
            name = {"m": "he", "f": "she", "n": "it"}[self.gender(phrase) or "n"]
        form = self._cased(self.words.pronouns[name], place.case)
        after_preposition = place.preposition and name in ("he", "she", "they", "it")
        return f"н{form}" if after_preposition and form[0] != "н" else form

    def _noun(self, phrase: Phrase, slot: str, place: Place) -> Words:
        """Return a noun, the words before it, and its owner after it."""
        noun = self.lexicon.nouns[phrase.head]
        case, plural, described = place.case, phrase.plural, place.case
        before: Words = ()
        if phrase.number:
            before = (Word(self._number(phrase, place.case), (f"{slot}.number",)),)
            case, plural, described = self._counted(phrase, place.case)
        elif amount := self._amount(phrase, place):
            assert phrase.determiner is not None
            before = self._entry(amount, phrase.determiner.english[1], f"{slot}.determiner")
            case, described = ("genitive", "genitive") if place.case in DIRECT else (place.case, place.case)
        elif phrase.determiner:
            before = self._determiner(phrase, slot, place)
        words = [*before]
        if phrase.adjective:
            gender: Gender = "p" if phrase.plural else noun.gender
            forms = self.words.adjectives[phrase.adjective.name].forms[gender]
            form = forms[CASES.index(_animated(described, gender, noun.animate))]
            words.append(Word(form, (f"{slot}.adjective",)))
        text = noun.form(case, plural)
        if place.locative and not plural:
            text = self.words.locatives.get(phrase.head, text)
        words.append(Word(text, (f"{slot}.noun",)))
        return *words, *self._owner(phrase, slot)

    def _counted(self, phrase: Phrase, case: Case) -> tuple[Case, bool, Case]:
        """Return the case and number of a noun after a number, and the case of its plural adjective."""
        noun = self.lexicon.nouns[phrase.head]
        if case not in DIRECT:
            return case, True, case
        if phrase.number not in FEW or (case == "accusative" and noun.animate):
            return "genitive", True, "genitive"
        return "genitive", False, "nominative" if noun.gender == "f" else "genitive"

    def _number(self, phrase: Phrase, case: Case) -> str:
        noun = self.lexicon.nouns[phrase.head]
        forms = self.words.numbers[phrase.number]
        gendered_forms = forms[-1] if noun.gender == "f" else forms[0]
        if case == "accusative" and phrase.number in FEW and noun.animate:
            case = "genitive"
        return self._cased(gendered_forms, case)

    def _amount(self, phrase: Phrase, place: Place) -> str:
        """Return сколько, несколько or много; *many* as a subject is многие, which agrees."""
        name = phrase.determiner.name if phrase.determiner else ""
        if name not in self.words.amounts or (name == "many" and place.case == "nominative" and not place.there):
            return ""
        animate = self.lexicon.nouns[phrase.head].animate
        case = "genitive" if name == "how_many" and animate and place.case == "accusative" else place.case
        return self._cased(self.words.amounts[name], case)

    def _determiner(self, phrase: Phrase, slot: str, place: Place) -> Words:
        """Return a determiner, inflected or invariable, or nothing: Russian has no articles."""
        assert phrase.determiner is not None
        name = phrase.determiner.name
        english = phrase.determiner.english[phrase.plural]
        if place.subject and self._owns(place.subject, name):
            name = "own"
        if name in self.words.unchanged:
            text = self.words.unchanged[name]
        elif name in self.words.determiners:
            noun = self.lexicon.nouns[phrase.head]
            gender: Gender = "p" if phrase.plural else noun.gender
            forms = self.words.determiners[name][GENDERS.index(gender)]
            text = self._cased(forms, _animated(place.case, gender, noun.animate))
        else:
            return ()
        return self._entry(text, english, f"{slot}.determiner")

    def _owns(self, subject: Phrase, determiner: str) -> bool:
        """Return True if a possessive refers to the subject, so that Russian uses свой: I read my book."""
        if determiner in ("his", "her"):
            return subject.person == 3 and subject.pronoun != "who" and self.gender(subject) == _HIS_HER[determiner]
        return _POSSESSORS.get(determiner) == (subject.person, subject.plural)

    def _owner(self, phrase: Phrase, slot: str) -> Words:
        """Return the owner in the genitive: книга Анны, книга мальчика."""
        owner = phrase.owner
        if owner is None:
            return ()
        if owner.names:
            return (Word(self._cased(self.words.names[owner.names[0]], "genitive"), (f"{slot}.owner",)),)
        return (Word(self.lexicon.nouns[owner.head].form("genitive", False), (f"{slot}.owner",)),)

    def _cased(self, forms: str, case: Case) -> str:
        return forms.split()[CASES.index(case)]

    def _entry(self, text: str, english: str, meaning: str) -> Words:
        return glossed_words(text, english, meaning, self.glosses.get(text))


def preposed(preposition: str, text: str) -> str:
    """Return a preposition as used before a word: с, but со стола; о, but об Анне and обо мне; в, but во всех."""
    lower = text.lower()
    if preposition == "с" and (re.match("[сзшж][бвгджзклмнпрстфхцчшщ]", lower) or lower in ("мной", "всеми")):
        return "со"
    if preposition == "о":
        return "обо" if lower in ("мне", "всём", "всех") else "об" if lower[0] in "аиоуэ" else "о"
    if preposition == "в" and re.match("[вф][бвгджзклмнпрстфхцчшщ]", lower):
        return "во"
    return preposition


def _animated(case: Case, gender: Gender, animate: bool) -> Case:
    """Return the genitive for an animate accusative in the masculine or plural, otherwise the case itself."""
    return "genitive" if case == "accusative" and animate and gender in "mp" else case
