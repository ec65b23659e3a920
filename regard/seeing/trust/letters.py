"""Truth of models that spell out letters: the letter that each output stands for."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from regard.data.generated.corpora import generator_of
from regard.data.generated.letters import OUTPUTS, letter_corpus, sources_of_outputs, spell
from regard.loading import Loaded
from regard.seeing.trust.known import KnownDecision
from regard.seeing.why.decision import Question


@dataclass(frozen=True)
class Letters:
    """The true unit of an output is the letter that it stands for."""

    name: str = "the letter of an output"

    @classmethod
    def of(cls, model: Loaded) -> "Letters | None":
        """Return the truth of a model that was trained on generated letters, read one by one."""
        data = model.recipe.data
        generators = {generator_of(name) for corpus in data.train for name in corpus.names}
        is_known = generators == {"letters"} and data.tokeniser.kind == "characters"
        return cls() if is_known else None

    def decisions(self) -> Iterator[KnownDecision]:
        """Yield one output of each test input, by turns an earlier or a later one."""
        for number, (letters, outputs) in enumerate(letter_corpus("test")):
            yield KnownDecision(letters, outputs, number % len(outputs.split()))

    def units(self, item: Any, question: Question) -> frozenset[int] | None:
        letters = question.text.strip()
        if not letters or set(letters) - set(OUTPUTS) or spell(letters) != question.output.strip():
            return None
        sources = sources_of_outputs(letters)
        first = next((unit for unit, name in enumerate(question.names) if letters[0] in name), None)
        if first is None or not all(place < len(sources) for place in question.queries or ()):
            return None
        return frozenset(first + sources[place] for place in question.queries or ()) or None
