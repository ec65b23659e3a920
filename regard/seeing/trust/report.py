"""How far to trust one map: its curves compared with chance, and its agreement with the truth where that is known."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from regard.loading import Loaded
from regard.seeing.trust.agreement import Agreement, agreement
from regard.seeing.trust.curves import Faithfulness, faithfulness
from regard.seeing.trust.known import Truth
from regard.seeing.trust.truths import truth_for
from regard.seeing.why.decision import Question

# What a figure has to be for a map to be good, and what it says.
FIGURES = {
    "comprehensiveness": ("high", "probability lost without the first units"),
    "sufficiency": ("low", "probability lost with the first units alone"),
    "deletion": ("low", "area while units are taken away"),
    "insertion": ("high", "area while units are brought back"),
}
AGREEMENTS = {
    "area": "a true unit scores higher than another",
    "mass": "share of positive scores on true units",
    "top": "the highest score is on a true unit",
}


@dataclass(frozen=True)
class Trust:
    """The figures of one map."""

    probability: float  # of what was chosen, given the whole input
    faithfulness: Faithfulness
    agreement: Agreement | None = None  # None: nobody knows which units matter
    truth: str = ""  # what is known, such as "word links"
    true_units: Sequence[int] = ()

    def lines(self) -> list[str]:
        """Return the figures for a terminal."""
        lines = [f"{'':18} {'map':>6} {'random':>15}   good is"]
        for name, figure in self.faithfulness.figures().items():
            good, meaning = FIGURES[name]
            chance = f"{figure.random:.3f} ± {figure.deviation:.3f}"
            lines.append(f"{name:18} {figure.value:6.3f} {chance:>15}   {good}: {meaning}")
        if self.agreement is None:
            return [*lines, "truth: nobody knows which units matter here"]
        lines.append(f"truth: {self.truth}")
        for name, value in self.agreement.figures().items():
            chance = f"{self.agreement.chance()[name]:.3f}"
            lines.append(f"{name:18} {value:6.3f} {chance:>15}   high: {AGREEMENTS[name]}")
        return lines

    def numbers(self) -> dict[str, Any]:
        """Return everything as plain values, for JSON and pages."""
        found = self.faithfulness
        numbers: dict[str, Any] = {
            "probability": self.probability,
            "figures": {name: asdict(figure) for name, figure in found.figures().items()},
            "shares": {
                name: {f"{share:g}": asdict(figure) for share, figure in found.by_share(name).items()}
                for name in ("comprehensiveness", "sufficiency")
            },
            "curves": {
                "units": list(found.curves.counts),
                **{name: np.exp(getattr(found.curves, name)).tolist() for name in ("deletion", "insertion")},
                **{f"random_{name}": found.random_curve(name) for name in ("deletion", "insertion")},
            },
        }
        if self.agreement is not None:
            values, chance = self.agreement.figures(), self.agreement.chance()
            numbers["truth"] = {
                "name": self.truth,
                "units": list(self.true_units),
                **{name: {"value": value, "random": chance[name]} for name, value in values.items()},
            }
        return numbers


def trust_of(model: Loaded, item: Any, question: Question, scores: Sequence[float]) -> Trust:
    """Return how far to trust scores that answer a question about an item."""
    found, truth = faithfulness(question, scores), truth_for(model)
    probability, units = float(np.exp(found.curves.deletion[0])), true_units(truth, item, question)
    if truth is None or not units:
        return Trust(probability, found)
    return Trust(probability, found, agreement(scores, units), truth.name, sorted(units))


def true_units(truth: Truth | None, item: Any, question: Question) -> frozenset[int]:
    """Return the units that are known to matter; none if nobody knows, or if all of them do."""
    units = frozenset() if truth is None else truth.units(item, question) or frozenset()
    return units if len(units) < len(question.names) else frozenset()
