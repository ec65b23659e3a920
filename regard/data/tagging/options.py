"""Recipe options for tagged sentences: files, columns, and what is held out."""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Self

from pydantic import Field, field_validator, model_validator

from regard.base.recipe import Options
from regard.data.tables.columns import Part, parse_columns
from regard.data.texts.options import TextTokeniserOptions

WORD, TAG, SKIPPED = "word", "tag", "-"


class HoldOut(Options):
    """Which sentences of the training files are kept from training, for splits that have no files of their own."""

    NEW_RUNS: ClassVar[Mapping[str, Any]] = {"by": "tags"}

    by: Literal["tags", "place", "hash"] | None = Field(
        None,
        description="'tags': of the sentences with each tag the share, counted by their rarest tag and drawn once and "
        "for all; 'place': the last; 'hash': those that a hash of their line picks, the same wherever they stand. By "
        "tags and by hash no sentence stands on both sides. New runs take 'tags'.",
    )
    valid: float = Field(0.1, gt=0, lt=1, description="Share for validation, where data.valid names no file.")
    test: float = Field(0.0, ge=0, lt=1, description="Share for the test, where data.test names no file; 0 is none.")

    @model_validator(mode="after")
    def _leaves_something(self) -> Self:
        if self.valid + self.test >= 1:
            raise ValueError(f"valid {self.valid} and test {self.test} leave nothing to learn from")
        return self


class TaggingData(Options):
    """Sentences whose words have tags.

    A name is a path, or `SET:path` for a file of the data catalogue; several files are a list and follow one another.
    """

    train: list[str] = Field(min_length=1, description="Files of sentences to learn from.")
    valid: list[str] = Field([], description="Files of sentences to watch the training by.")
    test: list[str] = Field([], description="Files of sentences for the final scores.")
    layout: Literal["columns", "joined"] = Field(
        "columns",
        description="How files look: a word on each line, its columns parted by spaces and a blank line between "
        "sentences; or a sentence on each line, the columns of a word joined as in word_TAG.",
    )
    joint: str = Field("_", min_length=1, description="What joins the columns of a word, in files and in inputs.")
    columns: list[str] | str = Field(
        [WORD, TAG],
        description=f"What the columns are, in their order: '{WORD}', '{TAG}', '{SKIPPED}' for one that is not read, "
        "and any other name for one that the model reads beside the word, such as 'pos'. Or a choice of them by number "
        "or name, as in '2+4:5' or 'form+upos:xpos': the word, what is read beside it, and behind the colon the tag.",
    )
    scheme: Literal["tags", "iob1", "iob2", "ioe1", "ioe2", "iobes"] = Field(
        "tags", description="How tags spell spans of words, as B-NP I-NP does in iob2; 'tags' where they spell none."
    )
    hold_out: HoldOut = Field(HoldOut(), description="What is kept from training where no files are named for it.")
    fold_case: bool = Field(True, description="Whether words are looked up in lower case; letters keep theirs.")
    fold_digits: bool = Field(True, description="Whether words are looked up with 0 for every digit.")
    at_least: int = Field(1, ge=1, description="Words that occur less often than this in training are unknown.")
    tokeniser: TextTokeniserOptions | None = Field(
        None, description="How words are cut into tokens, for families that read parts of words; others take none."
    )
    longest: int = Field(
        5000, ge=1, le=2**20, description="The most words of a sentence, in files and inputs; a longer one is refused."
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
                raise ValueError("columns are chosen by name or number of files whose layout is 'columns'")
            return self
        for name in (WORD, TAG):
            if self.columns.count(name) != 1:
                raise ValueError(f"columns names '{name}' {self.columns.count(name)} times, expected once")
        if repeated := [name for name in self.read_beside if self.columns.count(name) > 1]:
            raise ValueError(f"columns names '{repeated[0]}' more than once")
        if self.layout == "joined" and self.columns[0] != WORD:
            raise ValueError("columns must begin with 'word' where they are joined, for a word may hold the joint too")
        if any(each.isspace() for each in self.joint):
            raise ValueError("joint has a space, but spaces part the words of a line")
        return self

    @property
    def parts(self) -> list[str]:
        """The splits that there are."""
        return ["train", "valid", *(["test"] if self.test or self.hold_out.test else [])]

    @property
    def read_beside(self) -> list[str]:
        """The columns that are read beside the word, by name."""
        if isinstance(self.columns, str):
            return [column.name or f"column{column.number}" for column in self.chosen[0][1:]]
        return [name for name in self.columns if name not in (WORD, TAG, SKIPPED)]

    @property
    def chosen(self) -> tuple[Part, ...]:
        """The word and what is read beside it, and the tag, where they are chosen by number or name."""
        return parse_columns(self.columns) if isinstance(self.columns, str) else ()

    @property
    def input_columns(self) -> list[str]:
        """Columns that people give for each word to be tagged, in this order."""
        return [WORD, *self.read_beside]
