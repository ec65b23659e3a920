"""The table of truths: for each task, what is known about the decisions of its models."""

from collections.abc import Callable, Sequence

from regard.loading import Loaded
from regard.seeing.trust.capitals import Capital
from regard.seeing.trust.copies import CopiedItem
from regard.seeing.trust.known import Truth
from regard.seeing.trust.letters import Letters
from regard.seeing.trust.links import WordLinks
from regard.seeing.trust.shapes import NamedShapes
from regard.seeing.trust.stories import SupportingFacts

# By task; each returns None for models that learnt from other data.
TRUTHS: dict[str, Sequence[Callable[[Loaded], Truth | None]]] = {
    "translation": (WordLinks.of, Letters.of),
    "language": (Capital.of,),
    "captioning": (NamedShapes.of,),
    "answering": (SupportingFacts.of,),
    "algorithms": (CopiedItem.of,),
}


def truth_for(model: Loaded) -> Truth | None:
    """Return what is known about the decisions of a model, or None if its data were not made by rules we know."""
    return next((truth for of in TRUTHS.get(model.recipe.task, ()) if (truth := of(model))), None)
