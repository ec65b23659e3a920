"""WordPiece vocabularies in Hugging Face folders: vocab.txt, or tokenizer.json with everything in it."""

from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from regard.base.faults import Fault
from regard.data.tokenisers.wordpiece import (
    CLASS,
    INSIDE,
    LONGEST_WORD,
    MASK,
    PAD,
    SEPARATOR,
    UNKNOWN,
    WordPieceOptions,
    WordPieceTokeniser,
)
from regard.engines.hugging_face.files import TOKENISER, read_json, read_listed, to_json

VOCABULARY, WHOLE = "vocab.txt", "tokenizer.json"


class _Spelling(BaseModel):
    """Text normalisation in `tokenizer_config.json`; the defaults are BertTokenizer's."""

    model_config = ConfigDict(extra="ignore")

    do_lower_case: bool = True
    strip_accents: bool | None = None
    tokenize_chinese_chars: bool = True

    def options(self) -> WordPieceOptions:
        return WordPieceOptions(
            lower_case=self.do_lower_case,
            strip_accents=self.strip_accents,
            part_ideographs=self.tokenize_chinese_chars,
        )


class _Normalizer(BaseModel):
    model_config = ConfigDict(extra="ignore")

    lowercase: bool = True
    strip_accents: bool | None = None
    handle_chinese_chars: bool = True


class _WordPiece(BaseModel):
    model_config = ConfigDict(extra="ignore")

    type: str = "WordPiece"
    vocab: dict[str, int]
    continuing_subword_prefix: str = INSIDE
    max_input_chars_per_word: int = LONGEST_WORD


class _Whole(BaseModel):
    """The normaliser and pieces of `tokenizer.json`."""

    model_config = ConfigDict(extra="ignore")

    normalizer: _Normalizer = Field(default_factory=_Normalizer)
    model: _WordPiece


def read_vocabulary(folder: Path, tokens: int) -> WordPieceTokeniser:
    """Read the tokeniser of a model with this many tokens; refuse the vocabulary of another model."""
    if (folder / VOCABULARY).is_file():
        path = folder / VOCABULARY
        pieces, options = read_listed(path), _spelling_of(folder)
    elif (folder / WHOLE).is_file():
        path = folder / WHOLE
        pieces, options = _read_whole(path)
    else:
        raise Fault(f"{folder} has neither {VOCABULARY} nor {WHOLE}, so its word pieces are unknown.")
    if len(pieces) != tokens:
        raise Fault(f"{path} has {len(pieces):,} pieces, but config.json says {tokens:,}; it belongs to another model.")
    try:
        return WordPieceTokeniser(pieces, options)
    except ValueError as error:
        raise Fault(f"{path} is not a vocabulary of a BERT: {error}.") from None


def _spelling_of(folder: Path) -> WordPieceOptions:
    path = folder / TOKENISER
    table: dict[str, Any] = read_json(path) if path.is_file() else {}
    try:
        return _Spelling.model_validate(table).options()
    except ValidationError:
        raise Fault(f"{path} does not say how text is normalised.") from None


def _read_whole(path: Path) -> tuple[list[str], WordPieceOptions]:
    try:
        whole = _Whole.model_validate(read_json(path))
    except ValidationError:
        raise Fault(f"{path} holds no WordPiece tokeniser of a BERT.") from None
    pieces = whole.model
    if (pieces.type, pieces.continuing_subword_prefix, pieces.max_input_chars_per_word) != (
        "WordPiece",
        INSIDE,
        LONGEST_WORD,
    ):
        raise Fault(f"{path} holds a tokeniser that splits words differently from BERT's.")
    if sorted(pieces.vocab.values()) != list(range(len(pieces.vocab))):
        raise Fault(f"{path} is damaged: its pieces are not numbered from 0.")
    normal = whole.normalizer
    options = WordPieceOptions(
        lower_case=normal.lowercase,
        strip_accents=normal.strip_accents,
        part_ideographs=normal.handle_chinese_chars,
    )
    return sorted(pieces.vocab, key=pieces.vocab.__getitem__), options


def vocabulary_files(tokeniser: WordPieceTokeniser, longest: int) -> dict[str, bytes]:
    """Return the files of a tokeniser, as BertTokenizer reads them."""
    pieces = tokeniser.pieces(range(tokeniser.size))
    if broken := [piece for piece in pieces if "\n" in piece or piece.endswith("\r")]:
        raise Fault(f"The piece {broken[0]!r} cannot be a line of {VOCABULARY}.")
    table = {
        "tokenizer_class": "BertTokenizer",
        "do_lower_case": tokeniser.options.lower_case,
        "strip_accents": tokeniser.options.strip_accents,
        "tokenize_chinese_chars": tokeniser.options.part_ideographs,
        "model_max_length": longest,
        "pad_token": PAD,
        "unk_token": UNKNOWN,
        "cls_token": CLASS,
        "sep_token": SEPARATOR,
        "mask_token": MASK,
    }
    return {VOCABULARY: "".join(f"{piece}\n" for piece in pieces).encode(), TOKENISER: to_json(table)}
