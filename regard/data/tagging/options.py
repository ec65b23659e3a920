"""Recipe options for tagged sentences: files, columns, and held-out shares."""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Self

from pydantic import Field, field_validator, model_validator

from regard.base.recipe import Options
from regard.data.tables.columns import Part, parse_columns
from regard.data.texts.options import TextTokeniserOptions

WORD, TAG, SKIPPED = "word", "tag", "-"


class HoldOut(Options):
    """Training sentences to hold out for splits without files of their own."""

    NEW_RUNS: ClassVar[Mapping[str, Any]] = {"by": "tags"}

    by: Literal["tags", "place", "hash"] | None = Field(
        None,
        description="'tags': this share of the sentences with each tag, counted by their rarest tag, "
        "always the same; 'place': the last ones; 'hash': those chosen by a hash of their "
        "line, wherever they stand. With tags and hash, no sentence is in two splits. New runs "
        "use 'tags'.",
    )
    valid: float = Field(0.1, gt=0, lt=1, description="Share for validation if data.valid names no file.")
    test: float = Field(0.0, ge=0, lt=1, description="Share for the test if data.test names no file; 0 means none.")

    @model_validator(mode="after")
    def _leaves_something(self) -> Self:
        if self.valid + self.test >= 1:
            raise ValueError(f"valid {self.valid} and test {self.test} leave nothing for training")
        return self


class TaggingData(Options):
    """Sentences whose words have tags.

    A name is a path, or `SET:path` for a file of the data catalogue; give several files as a list, in order.
    """

    train: list[str] = Field(min_length=1, description="Files of training sentences.")
    valid: list[str] = Field([], description="Files of validation sentences.")
    test: list[str] = Field([], description="Files of test sentences, for the final scores.")
    layout: Literal["columns", "joined"] = Field(
        "columns",
        description="Layout of files: a word on each line, its columns separated by spaces and a blank "
        "line between sentences; or a sentence on each line, the columns of a word joined as "
        "in word_TAG.",
    )
    joint: str = Field("_", min_length=1, description="Text that joins the columns of a word, in files and in inputs.")
    columns: list[str] | str = Field(
        [WORD, TAG],
        description=f"Columns in order: '{WORD}', '{TAG}', '{SKIPPED}' for one to skip, and any other name "
        "for a further input, such as 'pos'. Or a choice by number or name, as in '2+4:5' or "
        "'form+upos:xpos': the word, further inputs, and after the colon the tag.",
    )
    scheme: Literal["tags", "iob1", "iob2", "ioe1", "ioe2", "iobes"] = Field(
        "tags", description="How tags spell spans of words, as B-NP I-NP does in iob2; 'tags' if they spell none."
    )
    hold_out: HoldOut = Field(HoldOut(), description="Sentences to hold out of training for splits without files.")
    fold_case: bool = Field(True, description="Look words up in lower case; letters keep their case.")
    fold_digits: bool = Field(True, description="Look words up with 0 for every digit.")
    at_least: int = Field(1, ge=1, description="Words that occur less often than this in training are unknown.")
    tokeniser: TextTokeniserOptions | None = Field(
        None, description="How to split words into tokens, for families that read parts of words; others take none."
    )
    longest: int = Field(
        5000, ge=1, le=2**20, description="Most words of a sentence, in files and inputs; a longer one is refused."
    )

    @field_validator("train", "valid", "test", mode="before")
    @classmethod
    def _one_file(cls, value: Any) -> Any:
        return [value] if isinstance(value, str) else value

    @model_validator(mode="after")
    def _columns_make_sense(self) -> Self:
        if isinstance(self.columns, str):
            parts = parse_columns(self.columns)
            if len(parts) != 2 or len(parts[1]) != 1:
                raise ValueError(f"columns are '{self.columns}', expected a word and a tag, as in form:upos")
            if self.layout == "joined":
                raise ValueError("choosing columns by name or number needs layout = 'columns'")
            return self
        for name in (WORD, TAG):
            if self.columns.count(name) != 1:
                raise ValueError(f"columns names '{name}' {self.columns.count(name)} times, expected once")
        if repeated := [name for name in self.read_beside if self.columns.count(name) > 1]:
            raise ValueError(f"columns names '{repeated[0]}' more than once")
        if self.layout == "joined" and self.columns[0] != WORD:
            raise ValueError("joined columns must begin with 'word', since a word may contain the joint")
        if any(character.isspace() for character in self.joint):
            raise ValueError("joint has a space, but spaces separate the words of a line")
        return self

    @property
    def parts(self) -> list[str]:
        """Its splits."""
        return ["train", "valid", *(["test"] if self.test or self.hold_out.test else [])]

    @property
    def read_beside(self) -> list[str]:
        """Names of the further input columns."""
        if isinstance(self.columns, str):
            return [column.name or f"column{column.number}" for column in self.chosen[0][1:]]
        return [name for name in self.columns if name not in (WORD, TAG, SKIPPED)]

    @property
    def chosen(self) -> tuple[Part, ...]:
        """Columns of the word, further inputs, and the tag, if chosen by number or name."""
        return parse_columns(self.columns) if isinstance(self.columns, str) else ()

    @property
    def input_columns(self) -> list[str]:
        """Columns that users give for each word to be tagged, in this order."""
        return [WORD, *self.read_beside]
