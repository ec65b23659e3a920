"""Hops through a story as one HTML page: complete in itself, offline, in any browser."""

from typing import Any

from regard.viewing.canvas import show_word
from regard.viewing.facts.record import Hops
from regard.viewing.sealed import SealedPage, whole_steps

STYLES = ("page.css", "facts.css")
SCRIPT = "facts-page.js"


def facts_page(hops: Hops) -> SealedPage:
    """The page of a story."""
    return SealedPage(SCRIPT, STYLES, facts_data(hops))


def facts_data(hops: Hops) -> dict[str, Any]:
    """Hops as their view takes them: weights as whole ten-thousandths, hop after hop."""
    return {
        "facts": [show_word(fact) for fact in hops.facts],
        "question": show_word(hops.question),
        "answer": show_word(hops.answer),
        "hops": [whole_steps(weights) for weights in hops.weights],
        "forgotten": [show_word(fact) for fact in hops.forgotten],
    }
