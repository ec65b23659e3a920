"""A score as it is shown and kept; reading one needs none of the metrics that find it."""

from dataclasses import asdict, dataclass
from html import escape
from typing import Any

from regard.base.figures import in_figures
from regard.base.notebook import table

_OF_STACKS = ("deviation", "members")


@dataclass(frozen=True)
class Score:
    """A score, and all one needs to know to compare it with another."""

    metric: str
    value: float
    signature: str
    n: int
    split: str | None = None
    deviation: float | None = None  # the standard deviation over the members of a stack, where it is of several
    members: tuple[float, ...] = ()  # and the value of each of them

    def __repr__(self) -> str:
        return f"Score({self.metric} {self.shown}{f' on {self.split}' if self.split else ''}, n={self.n:,})"

    def _repr_html_(self) -> str:
        cells = [self.metric, self.shown, self.split or "", f"{self.n:,}", self.signature]
        return table([list(map(escape, cells))], ["metric", "value", "split", "n", "signature"])

    @property
    def digits(self) -> int:
        """Worth showing behind the point: more for scores whose signature says that they do not run from 0 to 100."""
        return 4 if "range:" in self.signature else 2

    @property
    def shown(self) -> str:
        """The value as people read it, with its standard deviation."""
        deviation = "" if self.deviation is None else f" ± {in_figures(self.deviation, self.digits)}"
        return f"{in_figures(self.value, self.digits)}{deviation}"

    def as_dict(self) -> dict[str, Any]:
        """As it stands in scores.json; the split of a score of files is null, and only a stack has members."""
        return {
            name: value for name, value in asdict(self).items() if name not in _OF_STACKS or value not in (None, ())
        }
