"""Recipe options for labelled texts: files, the format of their lines, and tokens."""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Self

from pydantic import Field, field_validator, model_validator

from regard.base.recipe import Options
from regard.data.tables.columns import Part, parse_columns
from regard.data.texts.options import TextTokeniserOptions

LABEL, TEXT, SECOND, NUMBER = "label", "text", "second", "number"  # columns that mean something


class LabelledData(Options):
    """Labelled texts. A name is a path, or `SET:path` for a file of the data catalogue; several files are a list.

    `opinions-ru:train`, `opinions-ru:valid` and `opinions-ru:test` are generated.
    """

    NEW_RUNS: ClassVar[Mapping[str, Any]] = {"hold_out_by": "class"}

    train: list[str] = Field(min_length=1, description="Files of texts to learn from.")
    valid: list[str] = Field([], description="Files of texts to watch the training by.")
    test: list[str] = Field([], description="Files of texts for the final scores.")
    format: Literal["lines", "table", "aspects"] = Field(
        "lines",
        description="What the files are: lines of a label, a space and a text; tables, which are TSV, CSV, JSON lines "
        "or parquet by their names; or three lines an example, a text with $T$ for its aspect, the aspect, the label.",
    )
    columns: list[str] | str = Field(
        [LABEL, TEXT],
        description=f"The columns of a table in their order, if it does not name them; '{LABEL}' and '{TEXT}' are "
        f"read, '{SECOND}' where classes are of pairs of texts, and '{NUMBER}' by fold. Or a choice by number or name, "
        "as in 'title+review:stars': the text, and behind the colon the label; for pairs of texts 'one:other:label'.",
    )
    header: bool | None = Field(
        None, description="Whether a table's first line names its columns; if not given, that is seen from the line."
    )
    encoding: Literal["utf-8", "latin-1"] = Field("utf-8", description="The encoding of the files.")
    names: dict[str, str] = Field({}, description="What labels of the files are called, such as 1 = 'positive'.")
    hold_out: float = Field(
        0.1, gt=0, lt=1, description="Without valid, the share of the training texts to watch it by."
    )
    hold_out_by: Literal["class", "place"] | None = Field(
        None,
        description="Which texts those are: 'class' takes the share of every class, drawn once and for all, 'place' "
        "the last ones. New runs take 'class'; a run whose recipe says nothing is older and took 'place'.",
    )
    fold: int | None = Field(
        None,
        ge=0,
        le=9,
        description=f"Of one table for all splits, the texts whose {NUMBER} has this first digit are the test, those "
        "of the next digit are to watch the training by, and the others to learn from.",
    )
    tokeniser: TextTokeniserOptions = Field(TextTokeniserOptions(), description="How text is cut into tokens.")
    lower_case: bool = Field(False, description="Read every text in lower case.")
    longest: int = Field(
        10_000, ge=1, description="The most tokens of a text; a longer one is refused, for it is rarely one text."
    )
    vectors: str | None = Field(
        None,
        description="Ready vectors of words, for models that begin with them: a file of word2vec, GloVe or fastText, "
        "or the folder of a model of words. All its words are known to the model.",
    )
    contexts: str | None = Field(
        None,
        description="The model folder of a bidirectional language model (family bilm) whose features are read beside "
        "the vectors of words. All its words are known to the model, which takes it over and does not change it.",
    )

    @field_validator("train", "valid", "test", mode="before")
    @classmethod
    def _one_file(cls, value: Any) -> Any:
        return [value] if isinstance(value, str) else value

    @model_validator(mode="after")
    def _check_table(self) -> Self:
        is_default = self.columns == [LABEL, TEXT]
        if self.format != "table" and not is_default:
            raise ValueError(f"columns are those of a table, and format is '{self.format}'")
        if self.format != "table" and self.header is not None:
            raise ValueError(f"header is of a table, and format is '{self.format}'")
        if isinstance(self.columns, str):
            return self._check_choice(self.columns)
        if any(self.columns.count(name) != 1 for name in (LABEL, TEXT)):
            raise ValueError(f"columns are {self.columns}, expected '{LABEL}' and '{TEXT}' once each among them")
        if self.columns.count(SECOND) > 1:
            raise ValueError(f"columns names '{SECOND}' more than once")
        if self.fold is None:
            return self
        if self.format != "table" or NUMBER not in self.columns:
            raise ValueError(f"fold needs a table with the column '{NUMBER}'")
        if self.valid or self.test:
            raise ValueError("fold cuts the texts of train into all splits; omit valid and test")
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
                raise ValueError(f"{name} are of words, and the tokens are {self.tokeniser.kind}")
        return self

    @property
    def parts(self) -> tuple[str, ...]:
        """The splits that there are: some texts to learn from are set aside for validation where no file has them."""
        return ("train", "valid", "test") if self.test or self.fold is not None else ("train", "valid")

    @property
    def asks_about_aspects(self) -> bool:
        """True if every text is asked about one of its aspects."""
        return self.format == "aspects"

    @property
    def has_pairs(self) -> bool:
        """True if classes belong to pairs of texts."""
        return len(self.chosen) > 2 if isinstance(self.columns, str) else SECOND in self.columns

    @property
    def chosen(self) -> tuple[Part, ...]:
        """The text, perhaps a second one, and the label, where they are chosen by number or name."""
        return parse_columns(self.columns) if isinstance(self.columns, str) else ()
