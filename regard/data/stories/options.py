"""Recipe options for stories."""

from typing import Any

from pydantic import Field, field_validator

from regard.base.recipe import Options


class StoryData(Options):
    """Stories and questions as bAbI has them. A name is a path, or `SET:path` for files of the data catalogue.

    In the last part of a name `*` stands for anything, and every file is a part of the data that is measured by itself.
    """

    train: list[str] = Field(min_length=1, description="Files of stories to learn from.")
    valid: list[str] = Field([], description="Files of stories to watch the training by.")
    test: list[str] = Field([], description="Files of stories for the final scores.")
    hold_out: float = Field(
        0.1, gt=0, lt=1, description="Without valid, the share of each training file's stories to watch it by."
    )
    facts: int = Field(
        50, ge=1, le=1000, description="The most facts of a story that are remembered; of a longer one, the last."
    )

    @field_validator("train", "valid", "test", mode="before")
    @classmethod
    def _one_name(cls, value: Any) -> Any:
        return [value] if isinstance(value, str) else value

    @property
    def parts(self) -> tuple[str, ...]:
        """The splits that there are: some stories to learn from are set aside where no file has validation data."""
        return ("train", "valid", "test") if self.test else ("train", "valid")
