"""Pairs of clauses with a pronoun and its antecedent: Ana lost the key because it was small.

English uses *it* for every thing. In Portuguese and Russian the pronoun has the gender of the noun it stands for, so a
translator must find that noun. If both nouns of the first clause are candidates, only one fits what the second clause
says: the dog did not cross the street because it was tired.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Annotated, TypeVar

from pydantic import Field

from regard.base.recipe import Options, check
from regard.data.demo.draws import Dice
from regard.data.demo.entries import Lexicon, Noun, read_grammar
from regard.data.demo.filled_patterns import DemoSentence, DemoSentences, Side
from regard.data.demo.noun_phrases import Phrase
from regard.data.demo.patterns import Pattern
from regard.data.demo.russian_entries import russian_lexicon
from regard.data.demo.scenes import DemoScene
from regard.data.demo.wording import SECOND, join_clauses

Entry = TypeVar("Entry")
FORMS = {"it": (1, 1), "he": (1, 1), "she": (1, 1), "they": (2, 3)}  # English and Portuguese verb forms


class PronounPatterns(Options):
    """Everything in `pronouns.toml`."""

    longest: int = Field(gt=0)
    described: float = Field(ge=0, le=1)
    apart: float = Field(ge=0, le=1)
    conjunctions: dict[str, dict[str, str]]
    first: Annotated[list[Pattern], Field(min_length=1)]
    describing: Pattern
    acting: Pattern


class PronounSentences:
    """An endless stream of random pairs of clauses."""

    def __init__(self, lexicon: Lexicon, dice: Dice, side: Side) -> None:
        self.sentences, self.dice, self.side = DemoSentences(lexicon, dice, side), dice, side
        # Do not draw phrases that a pronoun cannot stand for.
        alone = {"pronoun": 0.0, "two_names": 0.0, "owner": 0.0}
        self.sentences.phrases.shares = self.sentences.phrases.shares.model_copy(update=alone)
        self.grammar = check(PronounPatterns, read_grammar("pronouns.toml"), "pronouns.toml")
        self.first = self.sentences.rules_of(self.grammar.first)
        self.descriptions = _by_noun((entry, entry.nouns, entry.of_people) for entry in self.sentences.descriptions)
        # "They read it" does not show its tense.
        actions = [action for action in self.sentences.actions if action.verb.english[0] != action.verb.english[2]]
        fitting = [action for action in actions if action.by_people and self.grammar.acting.takes(action)]
        self.actions = _by_noun((action, action.objects, action.to_people) for action in fitting)
        self.people = frozenset(noun.name for noun in lexicon.members(["person"]))
        russian = russian_lexicon().nouns
        # A doctor is feminine in Portuguese and masculine (врач) in Russian: *she* would be wrong in one of them.
        self.unsure = {
            name for name in self.people if lexicon.nouns[name].feminine != (russian[name].gender == "f")
        } | {"child"}

    def __iter__(self) -> Iterator[DemoSentence]:
        while True:
            first = self.sentences.draw_scene(self.first)
            slot = self.dice.pick(("subject", "object"))
            described = self.dice.chance(self.grammar.described)
            second = self._describe(first, slot) if described else self._act(first, slot)
            if second is not None:
                conjunction = "" if self.dice.chance(self.grammar.apart) else "because" if described else "and"
                sentence = self._say(first, second, slot, conjunction, "subject" if described else "object")
                if sentence is not None:
                    yield sentence

    def _say(self, first: DemoScene, second: DemoScene, slot: str, conjunction: str, at: str) -> DemoSentence | None:
        english, side = self.sentences.english, self.side
        links = f"{at}.noun", f"{slot}.noun"
        clauses = english.wording(first), english.wording(second)
        source = join_clauses(clauses[0], english.conjunctions[conjunction], clauses[1], *links)
        if len(source.words) > self.grammar.longest:
            return None
        before, after = side.wording(first), side.wording(second)
        if before is None or after is None:
            return None
        target = join_clauses(before, side.conjunctions[conjunction], after, *links)
        phrases = first.phrases | {SECOND + name: phrase for name, phrase in second.phrases.items()}
        return DemoSentence(source, target, frozenset([*first.facts, *second.facts]), phrases)

    def _describe(self, first: DemoScene, slot: str) -> DemoScene | None:
        """Return a clause that describes the antecedent and fits nothing else the pronoun could stand for."""
        antecedent, rivals = self._meant(first, slot)
        if antecedent is None:
            return None
        taken = {entry.adjective.name for rival in rivals for entry in self.descriptions[rival.head]}
        fitting = [
            entry
            for entry in self.descriptions[antecedent.head]
            if entry.adjective.name not in taken and not entry.clashes(antecedent)
        ]
        if not fitting:
            return None
        adjective = self.dice.pick(fitting).adjective
        scene = DemoScene(self.grammar.describing, first.tense, adjective=adjective, copula=adjective.copula)
        scene.put("subject", self._pronoun(antecedent))
        scene.note("adjective-noun", adjective.name, antecedent.head)
        return scene

    def _act(self, first: DemoScene, slot: str) -> DemoScene | None:
        """Return a clause in which someone else does to the antecedent what fits no other candidate."""
        antecedent, rivals = self._meant(first, slot)
        if antecedent is None or antecedent.noun is None or first.verb is None:
            return None
        taken = {action.verb.name for rival in rivals for action in self.actions[rival.head]} | {first.verb.name}
        fitting = [action for action in self.actions[antecedent.head] if action.verb.name not in taken]
        if not fitting:
            return None
        verb = self.dice.pick(fitting).verb
        scene = DemoScene(self.grammar.acting, first.tense, verb=verb)
        scene.put("subject", self.sentences.phrases.other_name(first.phrases["subject"]))
        scene.put("object", self._pronoun(antecedent))
        scene.note("verb-object", verb.name, antecedent.head)
        return scene

    def _meant(self, first: DemoScene, slot: str) -> tuple[Phrase | None, list[Phrase]]:
        """Return the antecedent of a pronoun and its rivals in the first clause; None if it cannot be one."""
        phrases = first.phrases
        if any(self._stands(phrase) is None for phrase in phrases.values()):
            return None, []
        antecedent = phrases[slot]
        others = [phrase for name, phrase in phrases.items() if name != slot]
        rivals = [phrase for phrase in others if self._stands(phrase) == self._stands(antecedent)]
        return antecedent, rivals

    def _stands(self, phrase: Phrase) -> str | None:
        """Return the English pronoun for a phrase: he, she, it or they; None if no single one fits."""
        if phrase.pronoun or phrase.head in self.unsure or phrase.owner or len(phrase.names) > 1:
            return None
        if phrase.plural:
            return "they"
        if phrase.names or phrase.head in self.people:
            return "she" if phrase.feminine else "he"
        return "it"

    def _pronoun(self, antecedent: Phrase) -> Phrase:
        name = self._stands(antecedent)
        assert name is not None
        return Phrase(
            pronoun=name,
            plural=antecedent.plural,
            feminine=antecedent.feminine,
            forms=FORMS[name],
            antecedent=antecedent,
        )


def _by_noun(entries: Iterable[tuple[Entry, Iterable[Noun], bool]]) -> dict[str, list[Entry]]:
    """Return, for each noun's name, the entries that go with it; under "", those that go with people."""
    by_name: dict[str, list[Entry]] = defaultdict(list)
    for entry, nouns, with_people in entries:
        for name in [*(noun.name for noun in nouns), *([""] if with_people else [])]:
            by_name[name].append(entry)
    return by_name
