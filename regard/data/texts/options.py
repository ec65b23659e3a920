"""Recipe options for the text of a language model: files and tokens."""

from typing import Any, Literal, Self

from pydantic import ConfigDict, Field, field_validator, model_validator

from regard.base.recipe import Options
from regard.data.tables.columns import Part, parse_columns
from regard.data.texts.contractions import Language
from regard.data.tokenisers.tokeniser import TokeniserOptions

MOST_TOKENS = 2**24
SPLITS = ("train", "valid", "test")
_OF_WORDS = ("spaces", "words")
_SUBWORDS = 8000


class TextTokeniserOptions(Options):
    """Options for splitting the lines of a text into tokens."""

    kind: Literal["spaces", "words", "unigram", "bpe", "characters", "bytes", "wordpiece", "gpt2", "marian"] = Field(
        "spaces",
        description="Kind of tokens: spaces, words separated by spaces, as in tokenised text; words, words "
        "and punctuation of raw text; subwords, characters or bytes, which leave nothing "
        "unknown; wordpiece, BERT's pieces of words; gpt2 or marian, from an imported model.",
    )
    vocabulary: int | None = Field(
        None,
        ge=16,
        le=MOST_TOKENS,
        description="Most tokens in the vocabulary; by default every word has one, and there are at most "
        f"{_SUBWORDS:,} subwords or characters.",
    )
    at_least: int = Field(
        1, ge=1, description="Words that occur less often than this in the training text are unknown (spaces, words)."
    )
    lower_case: bool = Field(True, description="Convert text to lower case (wordpiece).")
    strip_accents: bool | None = Field(
        None, description="Remove accents from letters; by default if lower_case is true (wordpiece)."
    )

    @model_validator(mode="after")
    def _of_this_kind(self) -> Self:
        if self.kind == "marian" and not self.is_taken_over:
            raise ValueError("kind = 'marian' comes with an imported model; name its folder as tokeniser.from")
        if self.kind not in _OF_WORDS and self.at_least > 1:
            raise ValueError(f"at_least is for words, which kind = '{self.kind}' does not have")
        if self.kind == "bytes" and self.vocabulary is not None:
            raise ValueError("vocabulary does not apply to bytes, which always have 260 tokens")
        for name in ("lower_case", "strip_accents"):
            if self.kind != "wordpiece" and getattr(self, name) != type(self).model_fields[name].default:
                raise ValueError(f"{name} is for kind = 'wordpiece', not '{self.kind}'")
        return self

    @property
    def is_taken_over(self) -> bool:
        """True if the tokeniser comes from another model, and none is trained."""
        return False

    @property
    def is_of_words(self) -> bool:
        """True if its tokens are words, some of which may be unknown."""
        return self.kind in _OF_WORDS

    def full(self) -> TokeniserOptions:
        """Return these options as options of any tokeniser."""
        unlimited = MOST_TOKENS if self.is_of_words else _SUBWORDS
        return TokeniserOptions(
            kind=self.kind,
            vocabulary=self.vocabulary or unlimited,
            at_least=self.at_least,
            lower_case=self.lower_case,
            strip_accents=self.strip_accents,
        )


class TextFile(Options):
    """A file whose lines hold more than words, and which part of each line is text."""

    file: str = Field(description="A path, or `SET:path` for a file of the data catalogue.")
    encoding: Literal["utf-8", "latin-1"] = Field("utf-8", description="Encoding of the file.")
    lines: list[list[int]] = Field(
        [],
        description="Lines to read, as pairs of first and last, counted from 1; by default all. Use it to "
        "leave out texts that a model is tested on.",
    )
    column: int | str | None = Field(
        None,
        description="Column of a table (TSV, CSV, JSON lines, CoNLL-U, parquet) that is the text: its "
        "number, counted from 1, or its name; + joins several. By default whole lines are the "
        "text.",
    )
    header: bool | None = Field(
        None, description="Whether a table's first line names its columns; by default this is detected."
    )
    as_lines: bool = Field(False, description="Read lines as text even if they look like a table or JSON.")
    tag_mark: str | None = Field(
        None,
        min_length=1,
        description="Text between a word and its tag, such as _ in `menino_N`; the tags are left out.",
    )
    label: bool = Field(False, description="Leave out the first word of each line, a label.")
    unknown: str | None = Field(
        None,
        min_length=1,
        description="Text that stands for omitted words, such as <unk>; it is read as the unknown token of wordpieces.",
    )
    split_words: bool = Field(
        False,
        description="Separate punctuation from words first, so that raw text can be mixed with tokenised text.",
    )

    join_words: bool = Field(
        False,
        description="Join tokenised words and punctuation as people write them, so that tokenised text can "
        "be mixed with raw text.",
    )
    contract: Language | None = Field(
        None,
        description="Language whose prepositions to contract with the next word, as em o becomes no, in "
        "text that keeps them apart: pt.",
    )

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if self.join_words and self.split_words:
            raise ValueError("join_words and split_words undo each other; give only one of them")
        return self

    @field_validator("column")
    @classmethod
    def _one_text(cls, value: int | str | None) -> int | str | None:
        if isinstance(value, int) and value < 1:
            raise ValueError(f"there is no column {value}; columns are counted from 1")
        if isinstance(value, str) and len(parse_columns(value)) != 1:
            raise ValueError(f"{value!r} names several texts, expected one column, or several joined by +")
        return value

    @property
    def columns(self) -> Part:
        """Columns of a table that are the text; empty if whole lines are."""
        return () if self.column is None else parse_columns(str(self.column))[0]

    @field_validator("lines")
    @classmethod
    def _pairs(cls, value: list[list[int]]) -> list[list[int]]:
        for pair in value:
            if len(pair) != 2 or not 1 <= pair[0] <= pair[1]:
                raise ValueError(f"{pair} is not a pair of first and last line, counted from 1")
        return value

    def has(self, number: int) -> bool:
        """Return True if the line of this number is read."""
        return not self.lines or any(first <= number <= last for first, last in self.lines)


class PhraseOptions(Options):
    """Pairs of words to join into one, as new and york become new_york (Mikolov et al. 2013, section 4).

    A pair is joined if (count(a b) − discount) / (count(a) · count(b)) · words > threshold.
    """

    passes: int = Field(
        0,
        ge=0,
        le=8,
        description="Number of passes that count and join pairs: two passes join up to four words; 0 joins none.",
    )
    discount: int = Field(5, ge=0, description="Subtracted from the count of a pair, so that rare ones stay apart.")
    threshold: float = Field(100.0, gt=0, description="Join pairs with a score above this.")


def _listed(value: Any) -> Any:
    return [value] if isinstance(value, str | dict) else value


class LanguageData(Options):
    """Text of a language model. Every line is a sentence.

    A name is a path, or `SET:path` for a file of the data catalogue; give several files as a list, in order. A table
    instead of a name also says which part of each line is text: `{ file = "…", column = 2 }`.
    """

    train: list[str | TextFile] = Field(min_length=1, description="Files of training text.")
    valid: list[str | TextFile] = Field([], description="Files of validation text.")
    test: list[str | TextFile] = Field([], description="Files of test text, for the final scores.")
    hold_out: float = Field(
        0.0,
        ge=0,
        lt=0.5,
        description="Share of the lines of data.train, the last ones, to hold out for validation if no "
        "file is named; as many lines before them are for the test if no file is named for "
        "that.",
    )
    tokeniser: TextTokeniserOptions = Field(TextTokeniserOptions(), description="How to split text into tokens.")
    blank_lines: bool = Field(
        False, description="Treat a blank line as a sentence without words; otherwise it is skipped."
    )
    longest: int = Field(
        100_000, ge=1, description="Most tokens of a line; a longer one is refused, since it is rarely a sentence."
    )
    prepared: str | None = Field(None, description="Folder of the prepared text; by default one inside the run.")

    @property
    def parts(self) -> list[str]:
        """Its splits, with files of their own or held out of the training text."""
        return [split for split in SPLITS if getattr(self, split) or self.hold_out]

    @property
    def held_out(self) -> list[str]:
        """Splits that are lines of the training text, from its end on."""
        return [split for split in ("valid", "test") if self.hold_out and not getattr(self, split)]

    def lines_of(self, split: str, lines: int) -> range:
        """Return which lines of the training text belong to a split, or remain for training."""
        held = max(1, int(self.hold_out * lines))
        if split == "train":
            return range(max(0, lines - held * len(self.held_out)))
        last = lines - held * self.held_out.index(split)
        return range(max(0, last - held), max(0, last))

    @field_validator("train", "valid", "test", mode="before")
    @classmethod
    def _one_file(cls, value: Any) -> Any:
        return _listed(value)

    def spell(self, line: str) -> str:
        """Return a line in the form in which it is learnt."""
        return line

    def joins(self) -> PhraseOptions:
        """Return which pairs of words to join: none."""
        return PhraseOptions()


class LanguageTokeniserOptions(TextTokeniserOptions):
    """Tokeniser options of a language model: one trained on its text, or that of another model."""

    model_config = ConfigDict(populate_by_name=True, serialize_by_alias=True)

    from_: str | None = Field(
        None,
        alias="from",
        description="Model folder whose tokeniser to use; of a translator, the target side's, so that a "
        "language model can be fused with it.",
    )

    @property
    def is_taken_over(self) -> bool:
        return self.from_ is not None

    @model_validator(mode="after")
    def _made_or_taken(self) -> Self:
        if self.is_taken_over and (self.vocabulary is not None or self.at_least > 1):
            raise ValueError("vocabulary and at_least are for training a tokeniser, but 'from' uses an existing one")
        return self


class LanguageModelData(LanguageData):
    """Text that may use another model's tokens, and that omits another model's test sentences."""

    tokeniser: LanguageTokeniserOptions = Field(
        LanguageTokeniserOptions(), description="How to split text into tokens."
    )
    leave_out: str | None = Field(
        None,
        description="Model folder of a translator: leave its validation and test sentences out of the "
        "training text, so that both can be evaluated together.",
    )


class SpelledData(LanguageData):
    """Text that is read for its words and never written, so that its case need not be kept."""

    lower_case: bool = Field(False, description="Convert all text to lower case.")

    def spell(self, line: str) -> str:
        return line.lower() if self.lower_case else line


class WordsData(SpelledData):
    """Text to learn word vectors from, with the choice of phrases to join."""

    phrases: PhraseOptions = Field(PhraseOptions(), description="Pairs of words to join into one.")
    analogies: list[str] = Field(
        [],
        description="Files of analogies for the final scores, such as word2vec's questions-words.txt, or `SET:path`.",
    )
    similarities: list[str] = Field(
        [], description="Files of word pairs with human similarity ratings, for the final scores, or `SET:path`."
    )

    def joins(self) -> PhraseOptions:
        return self.phrases

    @field_validator("analogies", "similarities", mode="before")
    @classmethod
    def _one_set(cls, value: Any) -> Any:
        return _listed(value)

    @model_validator(mode="after")
    def _of_words(self) -> Self:
        if not self.tokeniser.is_of_words:
            raise ValueError(f"vectors are for words, which tokeniser.kind = '{self.tokeniser.kind}' does not have")
        if self.phrases.passes and self.tokeniser.kind != "spaces":
            raise ValueError(f"phrases need words separated by spaces, but tokeniser.kind is '{self.tokeniser.kind}'")
        return self
