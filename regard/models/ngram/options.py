"""Options of an n-gram model."""

from itertools import pairwise
from typing import Literal

from pydantic import Field, model_validator

from regard.base.recipe import Options

HIGHEST_ORDER = 20
Smoothing = Literal["kneser-ney", "back-off", "add-k", "imported"]


class NgramOptions(Options):
    """Order of an n-gram model, and its smoothing."""

    order: int = Field(
        5,
        ge=1,
        le=HIGHEST_ORDER,
        description="Words that are counted together: the last one and those it is predicted from.",
    )
    smoothing: Smoothing = Field(
        "kneser-ney",
        description="How unseen n-grams get their probability: interpolated modified Kneser–Ney, back-off with one "
        "absolute discount for each order, or k added to every count; imported comes with a model and counts nothing.",
    )
    k: float = Field(1.0, gt=0, description="What add-k adds to every count.")
    prune: list[int] = Field(
        [],
        description="N-grams of each order that occur this often or less are left out, as by lmplz --prune: [0, 0, 1] "
        "leaves out trigrams and longer ones that occur once, for the last number holds for all further orders. They "
        "may not fall, and the first is 0: rare words are left out by data.tokeniser.at_least (kneser-ney).",
    )
    discount_fallback: bool = Field(
        False,
        description="Whether discounts that cannot be estimated, as from little or artificial text, are replaced "
        "(by 0.5, 1 and 1.5 for Kneser–Ney, as lmplz --discount_fallback does, and 0.5 for back-off) or refused.",
    )

    @property
    def idle(self) -> tuple[str, ...]:
        counts = {
            "k": self.smoothing == "add-k",
            "prune": self.smoothing == "kneser-ney",
            "discount_fallback": self.smoothing in ("kneser-ney", "back-off"),
        }
        return tuple(name for name, does_count in counts.items() if not does_count)

    @property
    def thresholds(self) -> list[int]:
        """For each order the count up to which its n-grams are left out."""
        return [*self.prune, *(self.prune[-1:] or [0]) * self.order][: self.order]

    @model_validator(mode="after")
    def _thresholds_that_rise(self) -> "NgramOptions":
        if self.prune and self.smoothing != "kneser-ney":
            raise ValueError("prune is for smoothing = 'kneser-ney'")
        if len(self.prune) > self.order:
            raise ValueError(f"prune has {len(self.prune)} numbers, but the longest n-grams have {self.order} words")
        if any(number < 0 for number in self.prune):
            raise ValueError(f"prune is {self.prune}, expected numbers of 0 or more")
        if any(later < earlier for earlier, later in pairwise(self.prune)):
            raise ValueError(f"prune is {self.prune}, but its numbers may not fall: an n-gram needs its shorter ones")
        if self.prune and self.prune[0]:
            raise ValueError("prune begins with 0, for words themselves are left out by data.tokeniser.at_least")
        return self

    @model_validator(mode="after")
    def _of_this_smoothing(self) -> "NgramOptions":
        if self.smoothing != "add-k" and self.k != 1.0:
            raise ValueError("k is for smoothing = 'add-k'")
        if self.discount_fallback and self.smoothing not in ("kneser-ney", "back-off"):
            raise ValueError(f"discount_fallback is for smoothing that discounts, and {self.smoothing} does not")
        return self
