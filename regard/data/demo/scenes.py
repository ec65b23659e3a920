"""A scene of the demo corpus: a pattern and its drawn content, before any language words it."""

from dataclasses import dataclass, field

from regard.data.demo.entries import Adjective, CopulaName, Modal, Tense, Verb
from regard.data.demo.noun_phrases import Combination, Phrase
from regard.data.demo.patterns import Pattern


@dataclass
class DemoScene:
    """A pattern being filled: its content so far, and the combinations of words in it.

    Times, adverbs and numbers are named in English. `denial` is the English helper with *not*.
    """

    pattern: Pattern
    tense: Tense
    phrases: dict[str, Phrase] = field(default_factory=dict)
    verb: Verb | None = None
    modal: Modal | None = None
    copula: CopulaName | None = None
    adjective: Adjective | None = None
    time: str = ""
    adverb: str = ""
    number: str = ""
    denial: str = ""
    facts: list[Combination] = field(default_factory=list)

    def put(self, slot: str, phrase: Phrase) -> None:
        self.phrases[slot] = phrase
        self.facts.extend(phrase.facts)

    def note(self, kind: str, *words: str) -> None:
        """Record a combination, unless one of its words is missing, as when a pronoun replaces a noun."""
        if all(words):
            self.facts.append(Combination(kind, words))
