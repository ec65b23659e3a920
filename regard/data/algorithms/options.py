"""Recipe options for the algorithm to learn."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from regard.base.recipe import Options

AlgorithmName = Literal["copy", "repeat-copy", "recall", "sort"]
Items = Annotated[int, Field(ge=1, le=10_000)]
OF_ONE_ALGORITHM = {"most_repeats": "repeat-copy", "item_length": "recall", "kept": "sort"}


class HeldOut(Options):
    """Examples that are not learnt from, the same for every seed."""

    items: list[Items] = Field(min_length=1, description="How many items they have, each so many examples.")
    examples: int = Field(100, ge=1, le=100_000, description="Examples of each number of items.")
    repeats: int | None = Field(
        None, ge=1, le=1000, description="Repeats (repeat-copy); by default the most that are learnt from."
    )
    slots: int | None = Field(
        None,
        ge=2,
        le=2**20,
        description="Slots of the memory while these are measured, on which nothing that is learnt depends; by default "
        "model.slots.",
    )


class AlgorithmData(Options):
    """An algorithm whose examples are generated: items of random bits are given, then the machine answers."""

    NEW_RUNS: ClassVar[Mapping[str, Any]] = {"held_out_keys": "apart"}

    algorithm: AlgorithmName = Field(
        description="What is to be learnt: 'copy', 'repeat-copy', 'recall' (what item followed the one that is asked "
        "for), or 'sort' (by priority)."
    )
    bits: int = Field(8, ge=1, le=256, description="Bits of an item, or of each of its parts (recall).")
    fewest: int = Field(1, ge=1, le=10_000, description="The fewest items of an example that is learnt from.")
    most: int = Field(20, ge=1, le=10_000, description="The most items of an example that is learnt from.")
    most_repeats: int = Field(10, ge=1, le=1000, description="The most repeats that are learnt from (repeat-copy).")
    item_length: int = Field(3, ge=1, le=100, description="Parts of an item, each of so many bits (recall).")
    kept: float = Field(
        0.8, gt=0, le=1, description="Share of the items that are asked for, those of the highest priorities (sort)."
    )
    cue: bool = Field(
        False,
        description="Whether a channel of its own is on while an answer is asked for; without it nothing is given "
        "then, as Graves et al. 2014 have it, and an item without a bit set looks the same.",
    )
    valid: HeldOut | None = Field(
        None, description="Examples to watch the training by; by default 100 of the most items that are learnt from."
    )
    test: HeldOut | None = Field(None, description="Examples for the final scores.")
    held_out_keys: Literal["apart"] | None = Field(
        None,
        description="What valid and test are drawn by: 'apart', keys that no batch to learn from can have, as in new "
        "runs. Older runs have none, and with seeds 1 and 2 a batch could have the key of such examples.",
    )

    @model_validator(mode="after")
    def _check_items(self) -> Self:
        if self.fewest > self.most:
            raise ValueError(f"fewest is {self.fewest}, which is more than most, {self.most}")
        held_out = [number for part in (self.valid, self.test) if part for number in part.items]
        if self.algorithm == "recall" and min([self.fewest, *held_out]) < 2:
            raise ValueError("recall needs two items at least: one to ask for, and one that follows it")
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
        """Return the sizes that are measured for this split."""
        return self.test if split == "test" else self.valid or HeldOut(items=[self.most])
