"""Truth of models that answer questions about stories: the supporting facts that bAbI's files name."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from regard.data.stories import reading
from regard.data.stories.telling import read_told
from regard.loading import Loaded
from regard.seeing.trust.known import KnownDecision
from regard.seeing.why.decision import Question
from regard.viewing.sides import Facts


@dataclass(frozen=True)
class SupportingFacts:
    """The true units of an answer are the facts that its file names as support."""

    files: tuple[str, ...]
    name: str = "supporting facts"

    @classmethod
    def of(cls, model: Loaded) -> "SupportingFacts | None":
        """Return the truth of a model whose recipe names test stories."""
        names = tuple(model.recipe.data.test)
        return cls(names) if names else None

    @cached_property
    def _questions(self) -> list[Sequence[reading.Question]]:
        """The questions of each file."""
        return [file.questions for name in self.files for file in reading.read_story_files(name)]

    @cached_property
    def _support(self) -> dict[tuple[tuple[str, ...], str], reading.Question]:
        return {(tuple(asked.facts), asked.question): asked for questions in self._questions for asked in questions}

    def decisions(self) -> Iterator[KnownDecision]:
        """Yield the questions of all files by turns, without those for which every fact or none is support."""
        for row in zip(*self._questions, strict=False):
            for asked in row:
                if 0 < len(asked.support) < len(asked.facts):
                    yield KnownDecision("\n".join([*asked.facts, asked.question]), asked.answer)

    def units(self, item: Any, question: Question) -> frozenset[int] | None:
        told = read_told(str(item))
        asked = self._support.get((tuple(told.facts), told.question))
        if asked is None or question.chosen.strip() != asked.answer or not isinstance(question.side, Facts):
            return None
        forgotten = len(question.side.forgotten)
        return frozenset(place - forgotten for place in asked.support if place >= forgotten) or None
