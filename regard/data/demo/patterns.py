"""Sentence patterns of the demo corpus, read from `patterns.toml`, and the verbs and adjectives that fit them."""

from string import Formatter
from typing import Annotated, Literal

from pydantic import Field, field_validator

from regard.base.recipe import Options
from regard.data.demo.entries import Adjective, Lexicon, Tense, Verb
from regard.data.demo.noun_phrases import Phrase, Shares

VerbKind = Literal[
    "transitive", "direct", "giving", "alone", "modal", "modal_alone",
    "being", "feeling", "standing", "existence", "age",
]  # fmt: skip
SLOTS = {
    "subject", "object", "recipient", "adjective", "place", "time", "adverb", "number",
    "verb", "helper", "denied", "base", "clitic", "action", "not", "years",
}  # fmt: skip


class Pattern(Options):
    """One kind of sentence: the same slots in the order of each language."""

    verb: VerbKind
    weight: int = Field(gt=0)
    tenses: Annotated[list[Tense], Field(min_length=1)] = ["present", "past", "future"]
    subject: Literal["any", "noun", "who"] = "any"
    object: Literal["any", "noun", "how_many"] = "any"
    event: bool = False
    gradable: bool = False
    english: str
    portuguese: str
    russian: list[str] = []
    russian_nouns: list[str] = []
    russian_pronoun: list[str] = []

    @field_validator("russian", "russian_nouns", "russian_pronoun")
    @classmethod
    def _known_russian_slots(cls, templates: list[str]) -> list[str]:
        return [cls._known_slots(template) for template in templates]

    @field_validator("english", "portuguese")
    @classmethod
    def _known_slots(cls, template: str) -> str:
        unknown = {name for _, name, _, _ in Formatter().parse(template) if name} - SLOTS
        if unknown:
            raise ValueError(f"there is no slot {', '.join(sorted(unknown))}")
        return template

    @property
    def asks(self) -> bool:
        return self.english.endswith("?")

    def has(self, slot: str) -> bool:
        return f"{{{slot}}}" in self.english

    def takes_adjective(self, adjective: Adjective) -> bool:
        """Return True if the adjective can fill a pattern of being or feeling."""
        if self.verb == "feeling" and adjective.copula != "estar":
            return False
        return adjective.gradable or not self.gradable

    def takes(self, action: "Action") -> bool:
        """Return True if the verb can fill the pattern."""
        verb = action.verb
        if (self.has("place") and not action.places) or (self.event and verb.state):
            return False
        if self.object == "how_many" and not action.counted:
            return False
        match self.verb:
            case "alone" | "modal_alone":
                return not action.objects
            case "giving":
                return verb.gives
            case "modal":
                return bool(action.objects) and not verb.gives and not verb.state
            case "direct" if verb.preposition or (action.to_people and not self.has("object")):
                return False  # De que ele gosta? and Quem ele viu? would need separate patterns
        return bool(action.objects) and not verb.gives


class Standing(Options):
    """Things and the places where they can be."""

    subjects: list[str]
    places: list[str]


class Patterns(Options):
    """Everything in `patterns.toml`."""

    longest: int = Field(gt=0)
    shares: Shares
    standing: list[Standing]
    patterns: list[Pattern]


class Action:
    """A verb with the nouns it goes with."""

    def __init__(self, verb: Verb, lexicon: Lexicon) -> None:
        people = set(lexicon.members(["person"]))
        self.verb = verb
        self.subjects = lexicon.members(verb.subjects)
        self.objects = lexicon.members(verb.objects)
        self.counted = [noun for noun in self.objects if noun.counted]
        self.places = lexicon.members(verb.places)
        self.by_people = people <= set(self.subjects)
        self.to_people = people <= set(self.objects)
        self.to_places = bool(verb.objects) and set(self.objects) <= set(lexicon.members(["place", "waters"]))


class Description:
    """An adjective with the nouns it describes."""

    def __init__(self, adjective: Adjective, lexicon: Lexicon) -> None:
        self.adjective = adjective
        self.nouns = lexicon.members(adjective.describes)
        self.of_people = set(lexicon.members(["person"])) <= set(self.nouns)
        self.clashing = {
            other.name
            for other in lexicon.adjectives.values()
            if other is adjective or other.scale == adjective.scale != ""
        }

    def clashes(self, subject: Phrase) -> bool:
        """Return True if the subject already has this quality or its opposite: the hot soup is cold."""
        return any(kind == "adjective-noun" and words[0] in self.clashing for kind, words in subject.facts)
