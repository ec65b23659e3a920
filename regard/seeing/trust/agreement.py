"""Agreement of a map with the units that are known to matter."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from regard.base.faults import Fault


@dataclass(frozen=True)
class Agreement:
    """Agreement of a map with true units; `share` is their share of all units, which chance gives to `mass` and `top`.

    `area` is the area under the ROC curve: the chance that a true unit scores higher than another one, 0.5 for a map
    drawn at random. `mass` is the share of the positive scores that lies on true units. `top` is 1 if the unit with the
    highest score is true and 0 if not; of several highest, their mean.
    """

    area: float
    mass: float
    top: float
    share: float

    def figures(self) -> dict[str, float]:
        """Return the figures by name."""
        return {"area": self.area, "mass": self.mass, "top": self.top}

    def chance(self) -> dict[str, float]:
        """Return the figures of a map drawn at random."""
        return {"area": 0.5, "mass": self.share, "top": self.share}


def agreement(scores: Sequence[float], true_units: Collection[int]) -> Agreement:
    """Compare scores, one for each unit, with the numbers of the true units.

    If no score is positive, no unit is said to matter, and `mass` is that of chance.
    """
    values = np.asarray(scores, dtype=np.float64)
    if not np.isfinite(values).all():
        raise Fault("This map has scores that are not numbers, so its agreement with the truth cannot be computed.")
    is_true = np.zeros(len(values), dtype=bool)
    is_true[list(true_units)] = True
    if is_true.all() or not is_true.any():
        raise Fault("Agreement needs both units that matter and units that do not.")
    true, others = values[is_true][:, None], values[~is_true][None]
    area = float(((true > others) + 0.5 * (true == others)).mean())
    positive, share = values.clip(min=0), float(is_true.mean())
    mass = float(positive[is_true].sum() / positive.sum()) if positive.any() else share
    return Agreement(area, mass, float(is_true[values == values.max()].mean()), share)
