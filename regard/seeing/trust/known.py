"""A truth: which units of an input are known to matter for a decision, because the data were made that way."""

from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

from regard.seeing.why.decision import Question


class KnownDecision(NamedTuple):
    """A decision whose true units are known: what is read, what is written, and the place of the chosen token."""

    item: Any
    output: str | None = None
    place: int | None = None


class Truth(Protocol):
    """The truth about the decisions of one model, on data that were made by rules."""

    @property
    def name(self) -> str:
        """Name of the truth, such as "word links"."""

    def decisions(self) -> Iterator[KnownDecision]:
        """Yield decisions on test data, always the same."""

    def units(self, item: Any, question: Question) -> frozenset[int] | None:
        """Return the numbers of the units that matter for a question about an item, or None if nobody knows them."""
