"""Recipe options for labelled texts: files, the format of their lines, and tokens."""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Self

from pydantic import Field, field_validator, model_validator

from regard.base.recipe import Options
from regard.data.tables.columns import Part, parse_columns
from regard.data.texts.options import TextTokeniserOptions

LABEL, TEXT, SECOND, NUMBER = "label", "text", "second", "number"  # columns with a meaning


class LabelledData(Options):
    """Labelled texts. A name is a path, or `SET:path` for a file of the data catalogue; give several files as a list.

    `opinions-ru:train`, `opinions-ru:valid` and `opinions-ru:test` are generated.
    """

    NEW_RUNS: ClassVar[Mapping[str, Any]] = {"hold_out_by": "class"}

    train: list[str] = Field(min_length=1, description="Files of training texts.")
    valid: list[str] = Field([], description="Files of validation texts.")
    test: list[str] = Field([], description="Files of test texts, for the final scores.")
    format: Literal["lines", "table", "aspects"] = Field(
        "lines",
        description="Format of the files: lines of a label, a space and a text; tables (TSV, CSV, JSON "
        "lines or parquet, by name); or three lines per example: a text with $T$ for its "
        "aspect, the aspect, and the label.",
    )
    columns: list[str] | str = Field(
        [LABEL, TEXT],
        description=f"Columns of a table in order, if it does not name them; '{LABEL}' and '{TEXT}' are "
        f"used, '{SECOND}' for pairs of texts, and '{NUMBER}' for fold. Or a choice by number "
        "or name, as in 'title+review:stars': text, colon, label; for pairs of texts "
        "'one:other:label'.",
    )
    header: bool | None = Field(
        None, description="Whether a table's first line names its columns; by default this is detected."
    )
    encoding: Literal["utf-8", "latin-1"] = Field("utf-8", description="Encoding of the files.")
    names: dict[str, str] = Field({}, description="Names for the labels in the files, such as 1 = 'positive'.")
    hold_out: float = Field(
        0.1, gt=0, lt=1, description="Share of the training texts to hold out for validation if valid is empty."
    )
    hold_out_by: Literal["class", "place"] | None = Field(
        None,
        description="Which texts to hold out: 'class' takes the share of every class, always the same "
        "texts; 'place' takes the last ones. New runs use 'class'; an older run whose recipe "
        "says nothing used 'place'.",
    )
    fold: int | None = Field(
        None,
        ge=0,
        le=9,
        description=f"One table for all splits: texts whose {NUMBER} begins with this digit are the test, "
        "those with the next digit are for validation, and the others for training.",
    )
    tokeniser: TextTokeniserOptions = Field(TextTokeniserOptions(), description="How to split text into tokens.")
    lower_case: bool = Field(False, description="Convert every text to lower case.")
    longest: int = Field(
        10_000, ge=1, description="Most tokens of a text; a longer one is refused, since it is rarely one text."
    )
    vectors: str | None = Field(
        None,
        description="Pretrained word vectors, for models that start from them: a word2vec, GloVe or "
        "fastText file, or the folder of a word-vector model. The model knows all its words.",
    )
    contexts: str | None = Field(
        None,
        description="Model folder of a bidirectional language model (family bilm) whose features are read "
        "in addition to word vectors. The model knows all its words, includes it, and does not "
        "change it.",
    )

    @field_validator("train", "valid", "test", mode="before")
    @classmethod
    def _one_file(cls, value: Any) -> Any:
        return [value] if isinstance(value, str) else value

    @model_validator(mode="after")
    def _check_table(self) -> Self:
        is_default = self.columns == [LABEL, TEXT]
        if self.format != "table" and not is_default:
            raise ValueError(f"columns are for tables, but format is '{self.format}'")
        if self.format != "table" and self.header is not None:
            raise ValueError(f"header is for tables, but format is '{self.format}'")
        if isinstance(self.columns, str):
            return self._check_choice(self.columns)
        if any(self.columns.count(name) != 1 for name in (LABEL, TEXT)):
            raise ValueError(f"columns are {self.columns}, expected '{LABEL}' and '{TEXT}' exactly once each")
        if self.columns.count(SECOND) > 1:
            raise ValueError(f"columns names '{SECOND}' more than once")
        if self.fold is None:
            return self
        if self.format != "table" or NUMBER not in self.columns:
            raise ValueError(f"fold needs a table with the column '{NUMBER}'")
        if self.valid or self.test:
            raise ValueError("fold divides the texts of train into all splits; omit valid and test")
        return self

    def _check_choice(self, columns: str) -> Self:
        parts = parse_columns(columns)
        if len(parts) not in (2, 3) or len(parts[-1]) != 1:
            raise ValueError(f"columns are '{columns}', expected a text and a label, as in text:label")
        if self.fold is not None:
            raise ValueError(f"fold needs columns as a list, with '{NUMBER}' among them")
        return self

    @model_validator(mode="after")
    def _check_vectors(self) -> Self:
        for name in ("vectors", "contexts"):
            if getattr(self, name) is not None and not self.tokeniser.is_of_words:
                raise ValueError(f"{name} are for words, but the tokens are {self.tokeniser.kind}")
        return self

    @property
    def parts(self) -> tuple[str, ...]:
        """Its splits; validation texts are held out of training if no file has them."""
        return ("train", "valid", "test") if self.test or self.fold is not None else ("train", "valid")

    @property
    def asks_about_aspects(self) -> bool:
        """True if every text comes with a question about one of its aspects."""
        return self.format == "aspects"

    @property
    def has_pairs(self) -> bool:
        """True if labels belong to pairs of texts."""
        return len(self.chosen) > 2 if isinstance(self.columns, str) else SECOND in self.columns

    @property
    def chosen(self) -> tuple[Part, ...]:
        """Columns of the text, an optional second text, and the label, if chosen by number or name."""
        return parse_columns(self.columns) if isinstance(self.columns, str) else ()
