"""Text to tokens and back: the interface of tokenisers, their options, training and loading.

All but the word tokeniser and those of imported models restore the NFC form of any Unicode text exactly, including
spaces and control characters; one that ignores case restores it in lower case.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, Protocol, Self, runtime_checkable

from pydantic import Field, model_validator

from regard.base.faults import Fault
from regard.base.parsing import MOST_LISTED, check_json_size
from regard.base.places import find_place
from regard.base.progress import Progress, silent
from regard.base.recipe import Options
from regard.data.tokenisers.bytewise import ByteTokeniser
from regard.data.tokenisers.spaces import SpaceTokeniser, count_spaced_words
from regard.data.tokenisers.subwords import SubwordTokeniser, train_subwords
from regard.data.tokenisers.symbols import NAMES, SILENT, clean
from regard.data.tokenisers.words import EncodedRow, WordTokeniser, count_words, in_a_row, read_words

_MARK = ";"


def split_features(text: str) -> list[str]:
    """Return the letters of a lemma, then its features, each with its mark; without a space, only letters."""
    lemma, space, features = text.strip().rpartition(" ")
    if not space:
        return list(features)
    return [*lemma, *(f"{_MARK}{feature}" for feature in features.split(_MARK) if feature)]


class FeatureTokeniser(WordTokeniser):
    """Letters and features as tokens; those not in the training text are unknown, and lost."""

    split = staticmethod(split_features)

    def _fragments(self, tokens: Sequence[int]) -> Iterator[str]:
        has_features = False
        for token in tokens:
            text = "" if token in SILENT else self._look_up(self._written, token)
            is_feature = len(text) > 1 and text.startswith(_MARK)
            yield f" {text[1:]}" if is_feature and not has_features else text
            has_features = has_features or is_feature


Kind = Literal["unigram", "bpe", "characters", "bytes", "words", "spaces", "features", "wordpiece", "gpt2", "marian"]

_READERS = {  # readers of the files of other tools' tokenisers
    "wordpiece": "regard.data.tokenisers.wordpiece:read_wordpieces",
    "gpt2": "regard.data.tokenisers.byte_pairs:read_byte_pairs",
    "marian": "regard.data.tokenisers.marian:read_marian",
}
_SAMPLED = ("unigram", "bpe")
_OF_WORDS = ("words", "spaces")
_SMALLEST_WITH_BYTES = 300
_REPORT_EVERY = 10_000
# File suffixes; all other kinds have just a model.
_SUFFIXES = {
    "bytes": (),
    "words": ("json",),
    "spaces": ("json",),
    "features": ("json",),
    "wordpiece": ("json",),
    "gpt2": ("json",),
    "marian": ("model", "json"),
}


class TokeniserOptions(Options):
    """Options for splitting text into tokens."""

    kind: Kind = Field(
        "unigram",
        description="Kind of tokens. words, and spaces for text that is already tokenised, lose unknown "
        "words and the exact spacing; features are letters and, after the last space, features "
        "of the form to write, as in walk V;PST; wordpiece is BERT's and loses the spacing; "
        "the others lose nothing. gpt2 and marian come with an imported model and cannot be "
        "trained.",
    )
    target_kind: Kind | None = Field(
        None, description="Kind of tokens of the target, if different; needs shared = false."
    )
    vocabulary: int = Field(
        8000,
        ge=16,
        le=2**24,
        description="Most tokens in the vocabulary; a small corpus gets fewer, and bytes always has 260.",
    )
    shared: bool = Field(True, description="Use one vocabulary for both languages.")
    ignore_case: bool = Field(False, description="Read the source in lower case; needs shared = false.")
    at_least: int = Field(
        1, ge=1, description="Words that occur less often than this in the training text are unknown (words, spaces)."
    )
    byte_fallback: bool = Field(
        True,
        description="Spell unknown characters as bytes (unigram, bpe, characters); otherwise they are lost.",
    )
    lower_case: bool = Field(True, description="Convert text to lower case (wordpiece).")
    strip_accents: bool | None = Field(
        None, description="Remove accents from letters; by default if lower_case is true (wordpiece)."
    )
    sampling: float = Field(
        0.0,
        ge=0,
        le=1,
        description="Tokenise training text at random: for bpe the probability of skipping a merge "
        "(BPE-dropout), for unigram the exponent of subword regularisation, where smaller is "
        "wilder; 0 is off. A side of another kind is not sampled.",
    )

    @model_validator(mode="after")
    def _possible(self) -> Self:
        kinds = (self.kind, self.target_kind or self.kind)
        if self.sampling and not any(kind in _SAMPLED for kind in kinds):
            raise ValueError(f"sampling needs kind unigram or bpe, since {self.kind} has only one way to split a text")
        for kind in kinds:
            if self.at_least > 1 and kind not in _OF_WORDS:
                raise ValueError(f"at_least needs kind words or spaces, since {kind} has no words")
            with_bytes = self.byte_fallback and kind in (*_SAMPLED, "characters")
            if with_bytes and self.vocabulary < _SMALLEST_WITH_BYTES:
                raise ValueError(
                    f"vocabulary is {self.vocabulary}, expected {_SMALLEST_WITH_BYTES} or more with byte_fallback, "
                    "whose bytes alone are 256 tokens"
                )
        return self

    @model_validator(mode="after")
    def _sides_can_differ(self) -> Self:
        if self.shared and self.target_kind is not None:
            raise ValueError("target_kind needs shared = false, since one vocabulary has one kind")
        if self.shared and self.ignore_case:
            raise ValueError("ignore_case needs shared = false, since the target keeps its case")
        return self

    @property
    def is_of_words(self) -> bool:
        """True if source words may be unknown and are then lost."""
        return self.kind in _OF_WORDS

    @property
    def most_tokens(self) -> int:
        """Largest possible vocabulary."""
        return ByteTokeniser.size if self.kind == "bytes" else self.vocabulary

    def by_side(self) -> "list[TokeniserOptions]":
        """Return the options of each tokeniser: of the shared one, or of the source's and the target's."""
        if self.shared:
            return [self]
        target = {"kind": self.target_kind or self.kind, "ignore_case": False}
        return [self.model_copy(update={"target_kind": None} | changes) for changes in ({}, target)]


@runtime_checkable
class Tokeniser(Protocol):
    """Interface of tokenisers: raw text to tokens and back."""

    size: int
    pad: int
    unknown: int
    begin: int
    end: int
    spells: bool  # every token is a single letter

    def encode(self, text: str) -> list[int]:
        """Return the tokens of the NFC form of a text, without begin and end."""

    def encode_all(self, texts: list[str]) -> list[list[int]]:
        """Encode many texts, faster than one by one."""

    def decode(self, tokens: Sequence[int]) -> str:
        """Return the text of tokens; pad, begin and end stand for none."""

    def pieces(self, tokens: Sequence[int]) -> list[str]:
        """Return each token as a person reads it: '▁' is a space, <0xC3> a byte, </s> the end."""

    def words(self, tokens: Sequence[int]) -> list[int]:
        """Return the number of each token's word, counted by spaces in the text; -1 for pad, begin and end."""

    def sample(self, text: str, key: tuple[int, ...]) -> list[int]:
        """Return one of the ways to split a text, the same for the same key; without sampling, like `encode`."""

    def files(self, name: str) -> dict[str, bytes]:
        """Return the files from which `load_tokeniser` reads it under this name."""


class CaselessTokeniser:
    """Reads every text in lower case; otherwise like the tokeniser inside it."""

    def __init__(self, inner: Tokeniser) -> None:
        self._inner = inner
        self.size, self.pad, self.unknown = inner.size, inner.pad, inner.unknown
        self.begin, self.end, self.spells = inner.begin, inner.end, inner.spells

    def encode(self, text: str) -> list[int]:
        return self._inner.encode(text.lower())

    def encode_all(self, texts: list[str]) -> list[list[int]]:
        return self._inner.encode_all([text.lower() for text in texts])

    def decode(self, tokens: Sequence[int]) -> str:
        return self._inner.decode(tokens)

    def pieces(self, tokens: Sequence[int]) -> list[str]:
        return self._inner.pieces(tokens)

    def words(self, tokens: Sequence[int]) -> list[int]:
        return self._inner.words(tokens)

    def sample(self, text: str, key: tuple[int, ...]) -> list[int]:
        return self._inner.sample(text.lower(), key)

    def files(self, name: str) -> dict[str, bytes]:
        return self._inner.files(name)


def open_to(tokeniser: Tokeniser, text: str) -> Tokeniser:
    """Return a word tokeniser with the unknown words of `text` as further tokens; others unchanged."""
    return tokeniser.extended(tokeniser.split(clean(text))) if isinstance(tokeniser, WordTokeniser) else tokeniser


def words_in(tokeniser: Tokeniser, text: str) -> list[str]:
    """Return the words that a text's tokens stand for, one for each; empty if tokens are not words."""
    inner = tokeniser._inner if isinstance(tokeniser, CaselessTokeniser) else tokeniser
    return inner.split(clean(text)) if isinstance(inner, WordTokeniser) else []


def encode_in_a_row(tokeniser: Tokeniser, texts: list[str]) -> EncodedRow:
    """Return the tokens of many texts in one array, and the length of each."""
    if isinstance(tokeniser, WordTokeniser):
        return tokeniser.encode_in_a_row(texts)
    return in_a_row(tokeniser.encode_all(texts))


def encode_pairs(
    source: Tokeniser, target: Tokeniser, pairs: Sequence[tuple[str, str]], tells_unknown: bool = False
) -> Iterator[tuple[list[int], list[int]]]:
    """Yield the tokens of both sides; with `tells_unknown`, one tokeniser, open to the source, splits both."""
    if tells_unknown:
        opened = ((open_to(source, pair[0]), pair) for pair in pairs)
        return ((pair_tokeniser.encode(pair[0]), pair_tokeniser.encode(pair[1])) for pair_tokeniser, pair in opened)
    sources, targets = ([pair[side] for pair in pairs] for side in (0, 1))
    return zip(source.encode_all(sources), target.encode_all(targets), strict=True)


def train_tokeniser(options: TokeniserOptions, texts: Iterable[str], progress: Progress = silent) -> Tokeniser:
    """Train a tokeniser of one side on a sample of raw texts; for subwords, all of it is held in memory."""
    if options.ignore_case:
        return CaselessTokeniser(_train(options, (text.lower() for text in texts), progress))
    return _train(options, texts, progress)


def _train(options: TokeniserOptions, texts: Iterable[str], progress: Progress) -> Tokeniser:
    if options.kind == "bytes":
        return ByteTokeniser()
    if options.kind == "gpt2" or options.kind == "marian":
        raise Fault(
            f"A tokeniser of kind {options.kind} comes with an imported model and cannot be trained; choose unigram."
        )
    lines = _read(texts, progress)
    most_words = options.vocabulary - len(NAMES)
    if options.kind == "words":
        return WordTokeniser(count_words(lines, most_words, options.at_least))
    if options.kind == "spaces":
        return SpaceTokeniser(count_spaced_words(lines, most_words, options.at_least))
    if options.kind == "features":
        return FeatureTokeniser(count_words(lines, most_words, split=split_features))
    sample, what = list(lines), "training the tokeniser"
    progress(what, 0, len(sample))
    if options.kind == "wordpiece":
        from regard.data.tokenisers.wordpiece import WordPieceOptions, learn_wordpieces

        spelling = WordPieceOptions(lower_case=options.lower_case, strip_accents=options.strip_accents)
        return learn_wordpieces(sample, options.vocabulary, spelling)
    model = train_subwords(options.kind, options.vocabulary, options.byte_fallback, sample)
    progress(what, len(sample), len(sample))
    return SubwordTokeniser(model, options.kind, options.sampling)


def _read(texts: Iterable[str], progress: Progress) -> Iterator[str]:
    """Yield the texts that are not blank; refuse if there are none."""
    is_empty = True
    for number, text in enumerate(texts, 1):
        if number % _REPORT_EVERY == 0:
            progress("reading text for the tokeniser", number, None)
        if text.strip():
            is_empty = False
            yield clean(text)
    if is_empty:
        raise Fault("There is no text to train the tokeniser on; it needs at least one line that is not blank.")


def tokeniser_names(options: TokeniserOptions) -> list[str]:
    """Return the names under which the tokenisers are stored, the source's first."""
    return ["tokeniser"] if options.shared else ["source", "target"]


def tokenisers_in(files: Mapping[str, bytes], options: TokeniserOptions) -> tuple[Tokeniser, Tokeniser]:
    """Return the tokenisers of source and target from the files of a model folder."""
    tokenisers = []
    for name, side_options in zip(tokeniser_names(options), options.by_side(), strict=True):
        names = _file_names(name, side_options)
        for file in names:
            if file not in files:
                raise Fault(f"The tokeniser {file} is missing; the model folder is incomplete.")
        tokenisers.append(_tokeniser_of([files[file] for file in names], names, side_options))
    return tokenisers[0], tokenisers[-1]


def load_tokenisers(folder: Path, options: TokeniserOptions) -> tuple[Tokeniser, Tokeniser]:
    """Load both tokenisers from a folder."""
    named = zip(tokeniser_names(options), options.by_side(), strict=True)
    tokenisers = [load_tokeniser(folder, name, side_options) for name, side_options in named]
    return tokenisers[0], tokenisers[-1]


def load_tokeniser(folder: Path, name: str, options: TokeniserOptions) -> Tokeniser:
    """Load the tokeniser of one side, stored in a model folder under this name."""
    paths = [folder / file for file in _file_names(name, options)]
    return _tokeniser_of([_contents(path) for path in paths], list(map(str, paths)), options)


def _file_names(name: str, options: TokeniserOptions) -> list[str]:
    return [f"{name}.{suffix}" for suffix in _SUFFIXES.get(options.kind, ("model",))]


def _tokeniser_of(contents: Sequence[bytes], names: Sequence[str], options: TokeniserOptions) -> Tokeniser:
    try:
        tokeniser = _made_of(contents, options)
    except (ValueError, RecursionError) as error:
        raise Fault(f"The tokeniser {' or '.join(names)} is damaged: {error}.") from None
    return CaselessTokeniser(tokeniser) if options.ignore_case else tokeniser


def _made_of(contents: Sequence[bytes], options: TokeniserOptions) -> Tokeniser:
    match options.kind:
        case "bytes":
            return ByteTokeniser()
        case "words":
            return WordTokeniser(read_words(contents[0]))
        case "spaces":
            return SpaceTokeniser(read_words(contents[0]))
        case "features":
            return FeatureTokeniser(read_words(contents[0]))
        case "wordpiece" | "gpt2" | "marian":  # each has its own parser, imported only when needed
            tokeniser: Tokeniser = find_place(_READERS[options.kind])(*contents)
            return tokeniser
    return SubwordTokeniser(contents[0], options.kind, options.sampling)


def _contents(path: Path) -> bytes:
    try:
        if path.stat().st_size > MOST_LISTED:
            raise Fault(f"The tokeniser {path} has {path.stat().st_size:,} bytes, which is too large.")
        content = path.read_bytes()
    except FileNotFoundError:
        raise Fault(f"The tokeniser {path} is missing; the model folder is incomplete.") from None
    except OSError as error:
        raise Fault(f"The tokeniser {path} cannot be read: {error.strerror}.") from None
    if path.suffix == ".json":
        check_json_size(content, f"The tokeniser {path}", MOST_LISTED)
    return content
