"""A score as shown and stored; reading one needs none of the metrics that compute it."""

from dataclasses import asdict, dataclass
from html import escape
from math import isnan
from typing import Any

from regard.base.figures import in_figures
from regard.base.notebook import table

_OF_STACKS = ("deviation", "members")


@dataclass(frozen=True)
class Score:
    """A score, and everything needed to compare it with another."""

    metric: str
    value: float
    signature: str
    n: int
    split: str | None = None
    deviation: float | None = None  # standard deviation over the members of a stack
    members: tuple[float, ...] = ()  # value of each member of a stack

    def __repr__(self) -> str:
        return f"Score({self.metric} {self.shown}{f' on {self.split}' if self.split else ''}, n={self.n:,})"

    def _repr_html_(self) -> str:
        cells = [self.metric, self.shown, self.split or "", f"{self.n:,}", self.signature]
        return table([list(map(escape, cells))], ["metric", "value", "split", "n", "signature"])

    @property
    def digits(self) -> int:
        """Decimals worth showing: more for scores whose signature gives another range than 0 to 100."""
        return 4 if "range:" in self.signature else 2

    @property
    def shown(self) -> str:
        """Value as shown to people, with its standard deviation; – if nothing was counted (NaN)."""
        if isnan(self.value):
            return "–"
        deviation = "" if self.deviation is None else f" ± {in_figures(self.deviation, self.digits)}"
        return f"{in_figures(self.value, self.digits)}{deviation}"

    def as_dict(self) -> dict[str, Any]:
        """Return its entry in scores.json; scores of files have the split null, and only a stack has members."""
        return {
            name: value for name, value in asdict(self).items() if name not in _OF_STACKS or value not in (None, ())
        }
