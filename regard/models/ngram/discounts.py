"""Discounts: the probability taken from seen n-grams and given to unseen ones."""

import numpy as np

from regard.base.faults import Fault
from regard.models.ngram.scratch import spans
from regard.models.ngram.trie import Rows

_FALLBACK = (0.5, 1.0, 1.5)  # the discounts of lmplz --discount_fallback
_FALLBACK_OF_BACKOFF = 0.5


def kneser_ney_discounts(adjusted: Rows, order: int, fallback: bool) -> tuple[float, float, float]:
    """Return D₁, D₂ and D₃₊ of an order (Chen & Goodman 1998, equation 26).

        Dᵢ = i − (i + 1) Y tᵢ₊₁ / tᵢ,    Y = t₁ / (t₁ + 2 t₂),

    where tᵢ is the number of n-grams with adjusted count i. A discount of 0, which lmplz allows, is refused: it would
    leave nothing for unseen n-grams.
    """
    parts = [np.bincount(np.minimum(adjusted[span], 5), minlength=6) for span in spans(len(adjusted))]
    times = np.sum(parts, axis=0).tolist()
    if all(times[1:4]):
        share = times[1] / (times[1] + 2 * times[2])
        one, two, three = (i - (i + 1) * share * times[i + 1] / times[i] for i in (1, 2, 3))
        if two > 0 and three > 0:  # the other bounds always hold
            return one, two, three
    if fallback:
        return _FALLBACK
    missing = next((i for i in (1, 2, 3) if not times[i]), None)
    why = f"none has the count {missing}" if missing else "they would not be positive"
    raise cannot_discount(order, why)


def absolute_discount(counts: Rows, order: int, fallback: bool) -> float:
    """Return D = t₁ / (t₁ + 2 t₂) (Ney, Essen & Kneser 1994)."""
    once, twice = np.count_nonzero(counts == 1), np.count_nonzero(counts == 2)
    if once and twice:
        return once / (once + 2 * twice)
    if fallback:
        return _FALLBACK_OF_BACKOFF
    raise cannot_discount(order, f"none occurs {'twice' if once else 'once'}")


def cannot_discount(order: int, why: str) -> Fault:
    return Fault(
        f"No discounts can be estimated for the {order}-grams of this text, since {why}: it is too short or too "
        "regular. Learn from more text, set model.discount_fallback = true, or choose model.smoothing = 'add-k'."
    )
