"""Truths: which units of an input are known to matter for a decision, because the data were made that way."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Protocol

from regard.loading import Loaded
from regard.seeing.why.decision import Question


class KnownDecision(NamedTuple):
    """A decision whose true units are known: what is read, what is written, and the place of the chosen token."""

    item: Any
    output: str | None = None
    place: int | None = None


class Truth(Protocol):
    """What is known about the decisions of one model on data that were made by rules."""

    name: str  # what is known, such as "word links"

    def decisions(self) -> Iterator[KnownDecision]:
        """Yield decisions on test data, always the same."""

    def units(self, item: Any, question: Question) -> frozenset[int] | None:
        """Return the numbers of the units that matter for a question about an item, or None if nobody knows them."""


def truth_for(model: Loaded) -> Truth | None:
    """Return what is known about the decisions of a model, or None if its data were not made by rules we know."""
    maker = _MAKERS.get(model.recipe.task)
    return maker(model) if maker else None


def _of_translator(model: Loaded) -> Truth | None:
    from regard.seeing.trust.letters import Letters
    from regard.seeing.trust.links import WordLinks

    return WordLinks.of(model) or Letters.of(model)


def _of_language_model(model: Loaded) -> Truth | None:
    from regard.seeing.trust.capitals import Capital

    return Capital.of(model)


def _of_captioner(model: Loaded) -> Truth | None:
    from regard.seeing.trust.shapes import NamedShapes

    return NamedShapes.of(model)


def _of_stories(model: Loaded) -> Truth | None:
    from regard.seeing.trust.stories import SupportingFacts

    return SupportingFacts.of(model)


def _of_algorithms(model: Loaded) -> Truth | None:
    from regard.seeing.trust.copies import CopiedItem

    return CopiedItem.of(model)


# By task; a maker imports what it needs, so that one truth does not load the data of all.
_MAKERS: dict[str, Callable[[Loaded], Truth | None]] = {
    "translation": _of_translator,
    "language": _of_language_model,
    "captioning": _of_captioner,
    "answering": _of_stories,
    "algorithms": _of_algorithms,
}
