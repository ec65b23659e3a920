"""Runs of a comparison with known outputs."""

from typing import Any

import numpy as np

from regard.metrics import Score
from regard.metrics.significance import Sums
from regard.runs.compare.outcomes import Outcome


def outcome(run: Any, right: str) -> Outcome:
    """Return a run that is right where there is a +, with 1,000 parameters at 50 tokens a second."""
    rows = np.array([(sign == "+", 1) for sign in right], dtype=float)
    sums = Sums(rows, lambda total: 100 * total[0] / total[1])
    return Outcome(
        run,
        [Score("exact", sums.value(), "by hand", len(right))],
        {"exact": sums},
        1000,
        (100, 2.0),
        {"exact": "higher"},
        right,
    )
