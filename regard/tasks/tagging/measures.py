"""Metrics of taggers: spans as conlleval counts them, and the share of correct tags.

Every measure comes from sums over sentences that add up.
"""

from collections import Counter
from collections.abc import Sequence

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from regard.data.tagging.spans import find_spans
from regard.protocols import Measure, Tally, mean

OF_SPANS = ("f1", "precision", "recall")
MEASURES = (*OF_SPANS, "accuracy", "accuracy_of_known", "accuracy_of_unknown", "loss")

Sums = Float[Tensor, "batch sum"]


class SpanCounts:
    """Counts of spans: true ones, found ones, and found ones with correct begin, end and type."""

    def __init__(self) -> None:
        self.right, self.found, self.true = Counter[str](), Counter[str](), Counter[str]()  # by type

    def add(self, tags: Sequence[str], answers: Sequence[str]) -> None:
        """Count one more sentence."""
        true, predicted = find_spans(tags), find_spans(answers)
        self.true.update(span.type for span in true)
        self.found.update(span.type for span in predicted)
        self.right.update(span.type for span in {*true} & {*predicted})

    @property
    def types(self) -> list[str]:
        return sorted({*self.true, *self.found})

    def sums(self, type_: str | None = None) -> list[float]:
        """Return the counts of right, found and true spans, of one type or all."""
        counts = (self.right, self.found, self.true)
        return [float(counter.total() if type_ is None else counter[type_]) for counter in counts]


def measure_spans(right: float, found: float, true: float) -> dict[str, Measure]:
    """Return F1 = 2 · right / (found + true), precision and recall."""
    signature = "spans as conlleval|range:0-1"
    return {
        "f1": Measure(Tally((right, found, true), _f1), "higher", signature),
        "precision": Measure(Tally((right, found), _share), "higher", signature),
        "recall": Measure(Tally((right, true), _share), "higher", signature),
    }


def _f1(right: float, predicted: float, true: float) -> float:
    return _share(2 * right, predicted + true)


def _share(part: float, whole: float) -> float:
    """Return a share; 0 of nothing, as in conlleval."""
    return part / whole if whole else 0.0


def word_sums(
    is_right: Bool[Tensor, "batch time"], is_known: Bool[Tensor, "batch time"], real: Bool[Tensor, "batch time"]
) -> dict[str, Sums]:
    """Return each sentence's contribution to word metrics: correct tags, and words."""

    def sums(chosen: Bool[Tensor, "batch time"]) -> Sums:
        return torch.stack([(is_right & chosen).sum(dim=1), chosen.sum(dim=1)], dim=1).double()

    return {
        "accuracy": sums(real),
        "accuracy_of_known": sums(real & is_known),
        "accuracy_of_unknown": sums(real & ~is_known),
    }


def measures_of(sums: dict[str, Sums]) -> dict[str, Measure]:
    """Return the measures of some sentences from the sums of each."""
    totals = {name: tuple(rows.sum(dim=0).tolist()) for name, rows in sums.items()}
    of_spans = measure_spans(*totals["f1"]) if "f1" in totals else {}
    signatures = {
        "accuracy": "all words|range:0-1",
        "accuracy_of_known": "known words|range:0-1",
        "accuracy_of_unknown": "unknown words|range:0-1",
    }
    of_words = {name: Measure(Tally(totals[name], mean), "higher", signature) for name, signature in signatures.items()}
    loss = Measure(Tally(totals["loss"], mean), "lower", "nats per word|range:0-inf")
    return {**of_spans, **of_words, "loss": loss}
