"""Options of an n-gram model."""

from itertools import pairwise
from typing import Literal

from pydantic import Field, model_validator

from regard.base.recipe import Options

HIGHEST_ORDER = 20
Smoothing = Literal["kneser-ney", "back-off", "add-k", "imported"]


class NgramOptions(Options):
    """Order and smoothing of an n-gram model."""

    order: int = Field(
        5,
        ge=1,
        le=HIGHEST_ORDER,
        description="Words per n-gram: the predicted word and those it is predicted from.",
    )
    smoothing: Smoothing = Field(
        "kneser-ney",
        description="How unseen n-grams get their probability: interpolated modified Kneser–Ney, back-off with one "
        "absolute discount per order, or k added to every count. Imported models have 'imported' and count nothing.",
    )
    k: float = Field(1.0, gt=0, description="Number that add-k adds to every count.")
    prune: list[int] = Field(
        [],
        description="Leave out n-grams of each order that occur this often or less, as lmplz --prune does: [0, 0, 1] "
        "leaves out trigrams and longer n-grams that occur once, since the last number holds for all higher orders. "
        "The numbers may not fall, and the first is 0: data.tokeniser.at_least leaves out rare words (kneser-ney).",
    )
    discount_fallback: bool = Field(
        False,
        description="Replace discounts that cannot be estimated, as from little or artificial text, by 0.5, 1 and 1.5 "
        "for Kneser–Ney, as lmplz --discount_fallback does, and by 0.5 for back-off. If false, refuse such text.",
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
        """For each order, the count up to which its n-grams are left out."""
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
            raise ValueError("prune must begin with 0; use data.tokeniser.at_least to leave out rare words")
        return self

    @model_validator(mode="after")
    def _of_this_smoothing(self) -> "NgramOptions":
        if self.smoothing != "add-k" and self.k != 1.0:
            raise ValueError("k is for smoothing = 'add-k'")
        if self.discount_fallback and self.smoothing not in ("kneser-ney", "back-off"):
            raise ValueError(f"discount_fallback is for smoothing with discounts, which {self.smoothing} does not have")
        return self
