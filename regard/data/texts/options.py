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
    """Options for cutting the lines of a text into tokens."""

    kind: Literal["spaces", "words", "unigram", "bpe", "characters", "bytes", "wordpiece", "gpt2", "marian"] = Field(
        "spaces",
        description="What the tokens are: words parted by spaces, as in text that was cut before; words and "
        "punctuation marks of raw text; subwords, characters or bytes, by which nothing is unknown; wordpiece, BERT's "
        "pieces of words; or gpt2 or marian, which come with an imported model.",
    )
    vocabulary: int | None = Field(
        None,
        ge=16,
        le=MOST_TOKENS,
        description=f"The most tokens there may be; if not given, every word has one, and of subwords and characters "
        f"there are at most {_SUBWORDS:,}.",
    )
    at_least: int = Field(
        1, ge=1, description="Words that occur less often than this in the training text are unknown (spaces, words)."
    )
    lower_case: bool = Field(True, description="Whether pieces are of text in lower case (wordpiece).")
    strip_accents: bool | None = Field(
        None, description="Whether letters lose their accents; if not given, where lower_case is true (wordpiece)."
    )

    @model_validator(mode="after")
    def _of_this_kind(self) -> Self:
        if self.kind == "marian" and not self.is_taken_over:
            raise ValueError("kind = 'marian' comes with an imported model, whose folder tokeniser.from names")
        if self.kind not in _OF_WORDS and self.at_least > 1:
            raise ValueError(f"at_least is for words, and kind = '{self.kind}' has none")
        if self.kind == "bytes" and self.vocabulary is not None:
            raise ValueError("vocabulary is for other kinds than bytes, which are always 260 tokens")
        for name in ("lower_case", "strip_accents"):
            if self.kind != "wordpiece" and getattr(self, name) != type(self).model_fields[name].default:
                raise ValueError(f"{name} is for kind = 'wordpiece', not '{self.kind}'")
        return self

    @property
    def is_taken_over(self) -> bool:
        """True if the tokeniser is that of another model, and none is made."""
        return False

    @property
    def is_of_words(self) -> bool:
        """True if its tokens are words, some of which may be unknown."""
        return self.kind in _OF_WORDS

    def full(self) -> TokeniserOptions:
        """Return the options as those of any tokeniser."""
        unlimited = MOST_TOKENS if self.is_of_words else _SUBWORDS
        return TokeniserOptions(
            kind=self.kind,
            vocabulary=self.vocabulary or unlimited,
            at_least=self.at_least,
            lower_case=self.lower_case,
            strip_accents=self.strip_accents,
        )


class TextFile(Options):
    """A file whose lines hold more than a sentence of words, and what of each line is text."""

    file: str = Field(description="A path, or `SET:path` for a file of the data catalogue.")
    encoding: Literal["utf-8", "latin-1"] = Field("utf-8", description="The encoding of the file.")
    lines: list[list[int]] = Field(
        [],
        description="Which lines are read, as pairs of the first and the last of some, counted from 1; if not given, "
        "all. With it, texts that a model is to be tested on can be left out.",
    )
    column: int | str | None = Field(
        None,
        description="Which column of a table (TSV, CSV, JSON lines, CoNLL-U, parquet) is the text: its number, counted "
        "from 1, or its name; with + between them, several are joined. Without it, whole lines are the text.",
    )
    header: bool | None = Field(
        None, description="Whether a table's first line names its columns; if not given, that is seen from the line."
    )
    as_lines: bool = Field(
        False, description="Whether lines that look like a table's or like JSON are text all the same."
    )
    tag_mark: str | None = Field(
        None,
        min_length=1,
        description="What stands between a word and its tag, as _ in `menino_N`; the tags are left out.",
    )
    label: bool = Field(False, description="Whether the first word of each line is a label, which is left out.")
    unknown: str | None = Field(
        None,
        min_length=1,
        description="What stands in the text for words that were left out, as <unk>; it is read as the unknown token "
        "of wordpieces.",
    )
    split_words: bool = Field(
        False,
        description="Whether punctuation marks are parted from words first, so that raw text can stand beside text "
        "that was cut before.",
    )

    join_words: bool = Field(
        False,
        description="Whether words and punctuation marks that spaces part are joined as people write them, so that "
        "text that was cut before can stand beside raw text.",
    )
    contract: Language | None = Field(
        None,
        description="The language in which prepositions become one with what follows, as em o becomes no, in text that "
        "keeps them apart: pt.",
    )

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if self.join_words and self.split_words:
            raise ValueError("join_words and split_words undo each other; give one of them")
        return self

    @field_validator("column")
    @classmethod
    def _one_text(cls, value: int | str | None) -> int | str | None:
        if isinstance(value, int) and value < 1:
            raise ValueError(f"there is no column {value}; columns are counted from 1")
        if isinstance(value, str) and len(parse_columns(value)) != 1:
            raise ValueError(f"{value!r} are several texts, expected one column, or several with + between them")
        return value

    @property
    def columns(self) -> Part:
        """The columns of a table that are the text; none where whole lines are."""
        return () if self.column is None else parse_columns(str(self.column))[0]

    @field_validator("lines")
    @classmethod
    def _pairs(cls, value: list[list[int]]) -> list[list[int]]:
        for pair in value:
            if len(pair) != 2 or not 1 <= pair[0] <= pair[1]:
                raise ValueError(f"{pair} are not the first and the last of some lines, counted from 1")
        return value

    def has(self, number: int) -> bool:
        """Return True if the line of this number is read."""
        return not self.lines or any(first <= number <= last for first, last in self.lines)


class PhraseOptions(Options):
    """Which pairs of words are joined to one, as new and york to new_york (Mikolov et al. 2013, section 4).

    A pair is joined if (count(a b) − discount) / (count(a) · count(b)) · words > threshold.
    """

    passes: int = Field(
        0, ge=0, le=8, description="How often pairs are counted and joined: two passes join up to four words; 0: none."
    )
    discount: int = Field(5, ge=0, description="What is taken from the count of a pair, so that rare ones stay apart.")
    threshold: float = Field(100.0, gt=0, description="The score above which a pair is joined.")


def _listed(value: Any) -> Any:
    return [value] if isinstance(value, str | dict) else value


class LanguageData(Options):
    """The text of a language model. Every line is a sentence, which ends where the line does.

    A name is a path, or `SET:path` for a file of the data catalogue; several files are a list and follow one another.
    A table in the place of a name also says what of each line is text: `{ file = "…", column = 2 }`.
    """

    train: list[str | TextFile] = Field(min_length=1, description="Files of text to learn from.")
    valid: list[str | TextFile] = Field([], description="Files of text to watch the training by.")
    test: list[str | TextFile] = Field([], description="Files of text for the final scores.")
    hold_out: float = Field(
        0.0,
        ge=0,
        lt=0.5,
        description="Share of the lines of data.train, the last ones, that is validation text where no file is named "
        "for it; as many lines before them are test text where none is named for that.",
    )
    tokeniser: TextTokeniserOptions = Field(TextTokeniserOptions(), description="How text is cut into tokens.")
    blank_lines: bool = Field(
        False, description="Whether a blank line is a sentence without words; otherwise it is passed over."
    )
    longest: int = Field(
        100_000, ge=1, description="The most tokens of a line; a longer one is refused, for it is rarely a sentence."
    )
    prepared: str | None = Field(None, description="Folder of the prepared text; without it, one inside the run.")

    @property
    def parts(self) -> list[str]:
        """Which there are, by files of their own or held out of the training text."""
        return [split for split in SPLITS if getattr(self, split) or self.hold_out]

    @property
    def held_out(self) -> list[str]:
        """Which splits are lines of the training text, from its end on."""
        return [split for split in ("valid", "test") if self.hold_out and not getattr(self, split)]

    def lines_of(self, split: str, lines: int) -> range:
        """Which of so many lines of the training text are held out for a split, or left to learn from."""
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
        """A line as it is learnt from."""
        return line

    def joins(self) -> PhraseOptions:
        """Which pairs of words are joined to one: none."""
        return PhraseOptions()


class LanguageTokeniserOptions(TextTokeniserOptions):
    """Tokeniser options of a language model: one made from its text, or that of another model."""

    model_config = ConfigDict(populate_by_name=True, serialize_by_alias=True)

    from_: str | None = Field(
        None,
        alias="from",
        description="A model folder whose tokeniser is taken over, and its kind; of a translator it is that of what it "
        "writes, so that a language model can be fused with it.",
    )

    @property
    def is_taken_over(self) -> bool:
        return self.from_ is not None

    @model_validator(mode="after")
    def _made_or_taken(self) -> Self:
        if self.is_taken_over and (self.vocabulary is not None or self.at_least > 1):
            raise ValueError("vocabulary and at_least are for a tokeniser that is made here, and from takes one over")
        return self


class LanguageModelData(LanguageData):
    """Text whose tokens may be those of another model, and which has none of its test."""

    tokeniser: LanguageTokeniserOptions = Field(LanguageTokeniserOptions(), description="How text is cut into tokens.")
    leave_out: str | None = Field(
        None,
        description="The model folder of a translator: sentences that it is validated or tested by are left out of the "
        "training text, so that both can be judged together.",
    )


class SpelledData(LanguageData):
    """Text that is read for its words and never written again, so that its case need not be kept."""

    lower_case: bool = Field(False, description="Whether all text is read in lower case.")

    def spell(self, line: str) -> str:
        return line.lower() if self.lower_case else line


class WordsData(SpelledData):
    """The text that vectors of words are learnt from: the joining of its words is chosen too."""

    phrases: PhraseOptions = Field(PhraseOptions(), description="Which pairs of words are joined to one.")
    analogies: list[str] = Field(
        [], description="Files of analogies for the final scores, as word2vec's questions-words.txt, or `SET:path`."
    )
    similarities: list[str] = Field(
        [], description="Files of pairs of words and how alike people find them, for the final scores, or `SET:path`."
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
            raise ValueError(f"vectors are of words, and tokeniser.kind = '{self.tokeniser.kind}' has none")
        if self.phrases.passes and self.tokeniser.kind != "spaces":
            raise ValueError(f"phrases are of words that spaces part, and tokeniser.kind is '{self.tokeniser.kind}'")
        return self
