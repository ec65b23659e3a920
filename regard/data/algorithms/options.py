"""Recipe options for learning an algorithm."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from regard.base.recipe import Options

AlgorithmName = Literal["copy", "repeat-copy", "recall", "sort"]
Items = Annotated[int, Field(ge=1, le=10_000)]
OF_ONE_ALGORITHM = {"most_repeats": "repeat-copy", "item_length": "recall", "kept": "sort"}


class HeldOut(Options):
    """Examples kept out of training, the same for every seed."""

    items: list[Items] = Field(min_length=1, description="Numbers of items to measure; each has this many examples.")
    examples: int = Field(100, ge=1, le=100_000, description="Number of examples for each number of items.")
    repeats: int | None = Field(
        None, ge=1, le=1000, description="Repeats (repeat-copy); by default the most used in training."
    )
    slots: int | None = Field(
        None,
        ge=2,
        le=2**20,
        description="Memory slots for measuring these examples, on which no learnt weight depends; by "
        "default model.slots.",
    )


class AlgorithmData(Options):
    """An algorithm with generated examples: items of random bits are given, then the machine answers."""

    NEW_RUNS: ClassVar[Mapping[str, Any]] = {"held_out_keys": "apart"}

    algorithm: AlgorithmName = Field(
        description="Algorithm to learn: 'copy', 'repeat-copy', 'recall' (the item after the one asked "
        "for) or 'sort' (by priority)."
    )
    bits: int = Field(8, ge=1, le=256, description="Bits of an item, or of each of its parts (recall).")
    fewest: int = Field(1, ge=1, le=10_000, description="Fewest items of a training example.")
    most: int = Field(20, ge=1, le=10_000, description="Most items of a training example.")
    most_repeats: int = Field(10, ge=1, le=1000, description="Most repeats in training (repeat-copy).")
    item_length: int = Field(3, ge=1, le=100, description="Parts of an item, each of `bits` bits (recall).")
    kept: float = Field(
        0.8, gt=0, le=1, description="Share of the items in the answer, those of the highest priorities (sort)."
    )
    cue: bool = Field(
        False,
        description="Turn on an extra input channel while an answer is expected. Without it the input is "
        "empty then, as in Graves et al. 2014, and looks the same as an item with no bit set.",
    )
    valid: HeldOut | None = Field(
        None, description="Validation examples; by default 100 with the most items used in training."
    )
    test: HeldOut | None = Field(None, description="Test examples for the final scores.")
    held_out_keys: Literal["apart"] | None = Field(
        None,
        description="How to seed valid and test: 'apart' uses keys that no training batch can have, as new runs do. "
        "Older runs lack it; with seeds 1 and 2 a training batch could have had the same key.",
    )

    @model_validator(mode="after")
    def _check_items(self) -> Self:
        if self.fewest > self.most:
            raise ValueError(f"fewest is {self.fewest}, which is more than most, {self.most}")
        held_out = [number for part in (self.valid, self.test) if part for number in part.items]
        if self.algorithm == "recall" and min([self.fewest, *held_out]) < 2:
            raise ValueError("recall needs at least two items: one to ask for, and one that follows it")
        return self

    @model_validator(mode="after")
    def _check_belonging(self) -> Self:
        for name, owner in OF_ONE_ALGORITHM.items():
            if self.algorithm != owner and getattr(self, name) != type(self).model_fields[name].default:
                raise ValueError(f"{name} is for '{owner}', not for '{self.algorithm}'")
        if self.algorithm != "repeat-copy" and any(part and part.repeats for part in (self.valid, self.test)):
            raise ValueError(f"repeats are for 'repeat-copy', not for '{self.algorithm}'")
        return self

    def held_out(self, split: str) -> HeldOut | None:
        """Return the held-out examples of a split."""
        return self.test if split == "test" else self.valid or HeldOut(items=[self.most])
