"""Recipe options for parallel data: files, cleaning and tokenisers."""

from typing import Any, Self

from pydantic import Field, field_validator, model_validator

from regard.base.recipe import Options
from regard.data.corpora.forms import Form
from regard.data.corpora.mono import Mono
from regard.data.generated.corpora import generator_of, split_names
from regard.data.tables.columns import Part, named, parse_columns
from regard.data.tokenisers.tokeniser import TokeniserOptions

TAB = "\t"


class Corpus(Options):
    """Sentences and their translations: two files of parallel lines, or one file of pairs.

    A name is a path, or `SET:path` for a file of the data catalogue. `demo:train`, `demo:valid` and `demo:test` are a
    generated corpus, which exists only as pairs. Pairs may also be a table (.parquet, .arrow, a folder of them), a
    translation memory (.tmx, .xlf, .xliff) or a folder of parallel files.
    """

    source: str | None = Field(None, description="File of source sentences, one per line.")
    target: str | None = Field(None, description="File of their translations, line by line.")
    pairs: str | None = Field(
        None,
        description="File of pairs instead: source, separator, target on each line; or a table, a "
        "translation memory, or a folder of tables or of parallel files.",
    )
    columns: list[str] | str | None = Field(
        None,
        description="Columns of source and target, as in '1+3:2': by number or name, with + to join columns by a space "
        "and : between the two sides. A list of two holds two names, such as translation.en, the languages of "
        "a translation memory, or the endings of parallel files in a folder, such as eng. By default the columns named "
        "source and target, or the first two.",
    )
    header: bool | None = Field(
        None, description="Whether the first line names the columns; by default this is detected."
    )
    separator: str = Field(
        TAB,
        description="Text between source and target in a file of pairs; anything after a second one is ignored.",
    )
    form: Form | None = Field(None, description="Format of a file of pairs that is not two columns.")
    weight: float | None = Field(
        None,
        gt=0,
        allow_inf_nan=False,
        description="Share of the pairs of an epoch, relative to the weights of the other training corpora; without "
        "weights, each corpus counts by its size.",
    )

    held_out: bool = Field(True, description="Allow pairs of this corpus to be held out for validation.")
    tagged: bool = Field(
        False,
        description="Begin each source with a reserved token that no text contains, so that the model can tell these "
        "pairs from others, such as back-translations.",
    )

    @field_validator("columns")
    @classmethod
    def _two_parts(cls, value: list[str] | str | None) -> list[str] | str | None:
        if value is not None and len(value if isinstance(value, list) else parse_columns(value)) != 2:
            raise ValueError(f"{value!r} must be two parts, source and target, as in '1+3:2' or ['en', 'de']")
        return value

    @field_validator("form", mode="before")
    @classmethod
    def _name_alone(cls, value: Any) -> Any:
        return {"kind": value} if isinstance(value, str) else value

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        two_files = self.source is not None and self.target is not None and self.pairs is None
        one_file = self.source is None and self.target is None and self.pairs is not None
        if not (two_files or one_file):
            raise ValueError("a corpus is either 'source' and 'target', or 'pairs'")
        if two_files and any(map(generator_of, self.names)):
            raise ValueError(f"a generated corpus has both sides in one; write pairs = '{self.names[0]}'")
        if one_file and (name := generator_of(self.names[0])) and self.names[0] not in split_names(name):
            splits = ", ".join(f"'{split}'" for split in split_names(name))
            raise ValueError(f"the generated corpus has no '{self.names[0]}', it has {splits}")
        return self

    @model_validator(mode="after")
    def _separates_something(self) -> Self:
        is_set = {
            "separator": self.separator != TAB,
            "form": self.form is not None,
            "columns": self.columns is not None,
            "header": self.header is not None,
        }
        for name, is_present in is_set.items():
            if is_present and (self.pairs is None or self.is_generated):
                raise ValueError(f"'{name}' is only for files of pairs")
        for name in ("columns", "header"):
            if is_set[name] and (is_set["separator"] or is_set["form"]):
                raise ValueError(f"'{name}' is for tables and folders, which take neither 'separator' nor 'form'")
        if self.separator != TAB and self.form is not None:
            raise ValueError(f"'separator' is for columns, which {self.form.kind} do not have")
        if not self.separator or "\n" in self.separator:
            raise ValueError(f"separator is {self.separator!r}, expected some text on one line")
        return self

    @property
    def names(self) -> tuple[str, ...]:
        """Names of its files, source before target."""
        return tuple(name for name in (self.source, self.target, self.pairs) if name is not None)

    @property
    def parts(self) -> tuple[Part, ...]:
        """The columns of source and target, if they were chosen."""
        if self.columns is None:
            return ()
        return parse_columns(self.columns) if isinstance(self.columns, str) else named(*self.columns)

    @property
    def is_generated(self) -> bool:
        return self.pairs is not None and generator_of(self.pairs) is not None


class Cleaning(Options):
    """Rules for dropping training pairs; validation and test data are never changed."""

    longest: int = Field(256, ge=1, description="Drop pairs with more tokens than this on a side.")
    ratio: float = Field(
        4.0,
        ge=1,
        allow_inf_nan=False,
        description="Drop pairs whose longer side has more tokens than this times the shorter side, plus 5.",
    )
    duplicates: bool = Field(True, description="Drop pairs that occurred before.")
    leakage: bool = Field(
        True,
        description="Drop pairs that share a source or a target with the validation or test data.",
    )


class PairData(Options):
    """Corpora of a translator, and how they are processed before training.

    For a single corpus, a string is enough for a file of pairs, and a list of two strings for two files.
    """

    source_language: str = Field("src", description="Code of the source language.")
    target_language: str = Field("tgt", description="Code of the target language.")
    train: list[Corpus] = Field(min_length=1, description="Training corpora.")
    mono: list[Mono] = Field([], description="Texts of one language, from which training pairs are made.")
    valid: list[Corpus] = Field([], description="Validation corpora.")
    test: list[Corpus] = Field([], description="Test corpora, for the final scores.")
    hold_out: int = Field(
        1000, ge=1, description="Training pairs to hold out for validation if 'valid' is empty; at most 5% of them."
    )
    cleaning: Cleaning = Field(Cleaning(), description="Rules for dropping training pairs.")
    merge_references: bool = Field(
        False,
        description="Score a sentence that occurs several times in valid or test once, with all its translations as "
        "references.",
    )
    tokeniser: TokeniserOptions = Field(TokeniserOptions(), description="How to split text into tokens.")
    tokenisers_from: str | None = Field(
        None, description="Model folder of a translator whose tokenisers are used, instead of training new ones."
    )
    vectors: str | None = Field(
        None,
        description="Pretrained word vectors to initialise the embeddings with: a word2vec, GloVe or fastText file, or "
        "the folder of a word-vector model. With training.freeze = ['embeddings'] they stay fixed.",
    )
    processes: int | None = Field(
        None, ge=1, description="Worker processes that prepare the corpus; by default one per core."
    )
    prepared: str | None = Field(None, description="Folder of the prepared corpus; by default one inside the run.")

    @field_validator("train", "valid", "test", mode="before")
    @classmethod
    def _short_forms(cls, value: Any) -> Any:
        if isinstance(value, str):
            return [{"pairs": value}]
        if isinstance(value, dict | Corpus):
            return [value]
        if isinstance(value, list) and any(isinstance(inner, str) for inner in value):
            if len(value) != 2 or not all(isinstance(inner, str) for inner in value):
                raise ValueError(
                    "a list of names must be one source file and one target file; write several corpora as a "
                    "list of tables"
                )
            return [{"source": value[0], "target": value[1]}]
        return value

    @model_validator(mode="after")
    def _check_vectors(self) -> Self:
        if self.vectors is not None and not self.tokeniser.is_of_words:
            raise ValueError(f"vectors are for words, but the tokens are {self.tokeniser.kind}")
        return self

    @model_validator(mode="after")
    def _shares_fit(self) -> Self:
        shares = [text.share for text in self.mono]
        if sum(share or 0 for share in shares) >= 1:
            raise ValueError("the shares of data.mono add up to 1 or more, which leaves nothing for the pairs")
        if None in shares and len(self.train) > 1 and self.train[0].weight is not None:
            raise ValueError("the corpora of data.train have weights, so each text of data.mono needs a share")
        return self

    @field_validator("mono", mode="before")
    @classmethod
    def _one_text(cls, value: Any) -> Any:
        return [value] if isinstance(value, dict | Mono) else value

    @field_validator("train")
    @classmethod
    def _all_weights_or_none(cls, train: list[Corpus]) -> list[Corpus]:
        if len(train) == 1:
            return [train[0].model_copy(update={"weight": None})]  # a single corpus is the whole, whatever its weight
        if len({corpus.weight is None for corpus in train}) == 2:
            raise ValueError("some corpora have a weight and some have none; give one to all of them or to none")
        return train

    @field_validator("valid", "test")
    @classmethod
    def _nothing_to_weigh(cls, corpora: list[Corpus]) -> list[Corpus]:
        # Recipes saved when 1.0 was the default have it here too.
        if any(corpus.weight not in (None, 1.0) for corpus in corpora):
            raise ValueError("only training corpora have a weight")
        if any(corpus.tagged for corpus in corpora):
            raise ValueError("only training corpora can be tagged")
        return [corpus.model_copy(update={"weight": None}) for corpus in corpora]
