"""Trust in one map: its curves compared with chance, and its agreement with the truth where that is known."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from regard.base.pauses import beside_pauses
from regard.loading import Loaded
from regard.seeing.trust.agreement import Agreement, agreement
from regard.seeing.trust.curves import Faithfulness, faithfulness, random_curves
from regard.seeing.trust.known import Truth
from regard.seeing.trust.truths import truth_for
from regard.seeing.why.decision import Question
from regard.seeing.why.maps import Map
from regard.viewing.tables import WordTable

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

    def rows(self) -> list[list[str]]:
        """Return the figures as words: name, map, random orders, what is good, and what the figure says."""
        rows = []
        for name, figure in self.faithfulness.figures().items():
            chance = f"{figure.random:.3f} ± {figure.deviation:.3f}"
            rows.append([name, f"{figure.value:.3f}", chance, *FIGURES[name]])
        if self.agreement is not None:
            chances = self.agreement.chance()
            for name, value in self.agreement.figures().items():
                rows.append([f"truth: {name}", f"{value:.3f}", f"{chances[name]:.3f}", "high", AGREEMENTS[name]])
        return rows

    def table(self, method: str) -> WordTable:
        """Return the figures as a table below the map."""
        known = f"The truth is known here: {self.truth}." if self.truth else "Nobody knows which units matter here."
        columns = ["figure", "map", "random", "good is", "what it says"]
        return WordTable(f"How far to trust {method}", columns, self.rows(), known)

    def sentence(self, method: str) -> str:
        """Return the figures in one line, for the title of a picture."""
        figures = self.faithfulness.figures()
        parts = [f"{name} {figures[name].value:.2f} (random {figures[name].random:.2f})" for name in FIGURES]
        if self.agreement is not None:
            parts.append(f"agreement with {self.truth} {self.agreement.area:.2f} (random 0.50)")
        return f"{method}: {', '.join(parts)}"

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


def trust_in(model: Loaded, item: Any, question: Question, maps: Sequence[Map]) -> list[Trust]:
    """Return how far to trust each of the maps that answer one question about an item."""
    truth, chance = truth_for(model), random_curves(question)
    units = beside_pauses(lambda: true_units(truth, item, question))  # a corpus may have to be generated
    reports = []
    for found in maps:
        faithful = faithfulness(question, found.scores, chance)
        probability = float(np.exp(faithful.curves.deletion[0]))
        if truth is None or not units:
            reports.append(Trust(probability, faithful))
        else:
            reports.append(Trust(probability, faithful, agreement(found.scores, units), truth.name, sorted(units)))
    return reports


def true_units(truth: Truth | None, item: Any, question: Question) -> frozenset[int]:
    """Return the units that are known to matter; none if nobody knows, or if all of them do."""
    units = frozenset() if truth is None else truth.units(item, question) or frozenset()
    return units if len(units) < len(question.names) else frozenset()
