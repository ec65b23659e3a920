"""Recipe options for stories."""

from typing import Any

from pydantic import Field, field_validator

from regard.base.recipe import Options


class StoryData(Options):
    """Stories and questions as in bAbI. A name is a path, or `SET:path` for files of the data catalogue.

    In the last part of a name, `*` stands for anything; every file is a part of the data that is scored separately.
    """

    train: list[str] = Field(min_length=1, description="Files of training stories.")
    valid: list[str] = Field([], description="Files of validation stories.")
    test: list[str] = Field([], description="Files of test stories, for the final scores.")
    hold_out: float = Field(
        0.1,
        gt=0,
        lt=1,
        description="Share of each training file's stories to hold out for validation if valid is empty.",
    )
    facts: int = Field(
        50, ge=1, le=1000, description="Most facts of a story to remember; of a longer one, the last are kept."
    )

    @field_validator("train", "valid", "test", mode="before")
    @classmethod
    def _one_name(cls, value: Any) -> Any:
        return [value] if isinstance(value, str) else value

    @property
    def parts(self) -> tuple[str, ...]:
        """Its splits; validation stories are held out of training if no file has them."""
        return ("train", "valid", "test") if self.test else ("train", "valid")
