"""Tokenisers of Marian models as stored by Hugging Face: SentencePiece splits text, a separate vocabulary numbers it.

A model that writes several languages selects one by a code before the text, such as `>>por<<`, which is one token.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from typing import Self

from regard.data.tokenisers.sentencepieces import open_model
from regard.data.tokenisers.symbols import UNKNOWN_TEXT, clean, join_fragments

_SPACE = "▁"
_OPENING, _CLOSING = ">>", "<<"


@dataclass(frozen=True)
class MarianVocabulary:
    """Pieces by number ("" for an unused number), and which of them are special tokens."""

    pieces: list[str]
    pad: int
    unknown: int
    begin: int
    end: int
    code: str = ""  # added to texts without a code

    def __post_init__(self) -> None:
        """Raise ValueError if something is wrong with it."""
        if not isinstance(self.pieces, list) or not all(isinstance(piece, str) for piece in self.pieces):
            raise ValueError("it holds no list of pieces")
        if any("\ud800" <= character <= "\udfff" for character in set("".join(self.pieces))):
            raise ValueError("it holds a piece that is not a text")
        named = [piece for piece in self.pieces if piece]
        if len(set(named)) != len(named):
            raise ValueError("it holds a piece twice")
        for name in ("pad", "unknown", "begin", "end"):
            number = getattr(self, name)
            if not isinstance(number, int) or not 0 <= number < len(self.pieces):
                raise ValueError(f"its {name} is {number!r}, which is not among its {len(self.pieces)} pieces")
        if not isinstance(self.code, str) or (self.code and self.code not in self.codes):
            raise ValueError(f"it has no language code {self.code!r}")

    @property
    def silent(self) -> frozenset[int]:
        """Numbers that stand for no text."""
        return frozenset({self.pad, self.begin, self.end})

    @cached_property
    def tokens(self) -> dict[str, int]:
        """Number of each piece that may occur in text."""
        silent = self.silent
        return {piece: token for token, piece in enumerate(self.pieces) if piece and token not in silent}

    @cached_property
    def codes(self) -> dict[str, int]:
        """Codes of the languages that a text can be translated into."""
        return {
            piece: token
            for piece, token in self.tokens.items()
            if piece.startswith(_OPENING) and piece.endswith(_CLOSING)
        }

    def to_json(self) -> bytes:
        return json.dumps(asdict(self), ensure_ascii=False, indent=0).encode()

    @classmethod
    def from_json(cls, contents: bytes) -> Self:
        """Read what `to_json` stored; raise ValueError for anything else."""
        stored = json.loads(contents.decode())
        if not isinstance(stored, dict) or stored.keys() != {field.name for field in fields(cls)}:
            raise ValueError("it does not hold a vocabulary of a Marian model")
        return cls(**stored)


class MarianTokeniser:
    """SentencePiece splits the text; a piece that is not in the vocabulary is unknown.

    SentencePiece also normalises the text as in training (usually NFKC), so decoding may not restore it: width,
    ligatures and runs of spaces are lost. A code that is not in the vocabulary is treated as text.
    """

    spells = False

    def __init__(self, model: bytes, vocabulary: MarianVocabulary) -> None:
        """Open `model` as SentencePiece serialises it; raise ValueError if something is wrong with it."""
        self.model, self.vocabulary = model, vocabulary
        self._processor = open_model(model)
        self.size = len(vocabulary.pieces)
        self.pad, self.unknown = vocabulary.pad, vocabulary.unknown
        self.begin, self.end = vocabulary.begin, vocabulary.end
        self._fragments = [piece.replace(_SPACE, " ").encode() for piece in vocabulary.pieces]
        is_byte = self._processor.is_byte(self._processor.piece_to_id(vocabulary.pieces))
        for token, piece in enumerate(vocabulary.pieces):
            if is_byte[token]:
                self._fragments[token] = bytes([int(piece[3:5], 16)])
        self._fragments[self.unknown] = UNKNOWN_TEXT.encode()
        for token in vocabulary.silent:
            self._fragments[token] = b""

    def __reduce__(self) -> tuple[type["MarianTokeniser"], tuple[bytes, MarianVocabulary]]:
        """Pickle for worker processes."""
        return MarianTokeniser, (self.model, self.vocabulary)

    def encode(self, text: str) -> list[int]:
        return self.encode_all([text])[0]

    def encode_all(self, texts: list[str]) -> list[list[int]]:
        coded = [self._split_code(clean(text)) for text in texts]
        split_texts: list[list[str]] = self._processor.encode([text for _, text in coded], out_type=str, num_threads=1)
        # A run of unknown characters comes unchanged and might read </s>: special tokens are not among these.
        tokens = self.vocabulary.tokens
        return [
            [*code, *(tokens.get(piece, self.unknown) for piece in pieces)]
            for (code, _), pieces in zip(coded, split_texts, strict=True)
        ]

    def _split_code(self, text: str) -> tuple[list[int], str]:
        """Return the token of a text's own or default code, and the text after it."""
        codes, default = self.vocabulary.codes, self.vocabulary.code
        if text.startswith(_OPENING):
            code, closing, rest = text.partition(_CLOSING)
            if code + closing in codes:
                return [codes[code + closing]], rest
        return ([codes[default]] if default else []), text

    def decode(self, tokens: Sequence[int]) -> str:
        return join_fragments(self._token_texts(tokens))

    def pieces(self, tokens: Sequence[int]) -> list[str]:
        return [self.vocabulary.pieces[token] for token in tokens]

    def words(self, tokens: Sequence[int]) -> list[int]:
        numbers, spaces = [], 0
        for token, fragment in zip(tokens, self._token_texts(tokens), strict=True):
            spaces += fragment.count(b" ")
            numbers.append(-1 if token in self.vocabulary.silent else spaces)
        return numbers

    def sample(self, text: str, key: tuple[int, ...]) -> list[int]:
        """Return what `encode` does: an imported tokeniser has only one way to split a text."""
        return self.encode(text)

    def files(self, name: str) -> dict[str, bytes]:
        return {f"{name}.model": self.model, f"{name}.json": self.vocabulary.to_json()}

    def _token_texts(self, tokens: Sequence[int]) -> list[bytes]:
        """Return the text of each token, without spaces before the first word and after the last."""
        fragments = [self._fragments[token] for token in tokens]
        for place, fragment in enumerate(fragments):
            fragments[place] = fragment.lstrip(b" ")
            if fragments[place]:
                break
        for place in reversed(range(len(fragments))):
            fragments[place] = fragments[place].rstrip(b" ")
            if fragments[place]:
                break
        return fragments


def read_marian(model: bytes, vocabulary: bytes) -> MarianTokeniser:
    """Read a tokeniser from the files of a model folder; raise ValueError if something is wrong with them."""
    return MarianTokeniser(model, MarianVocabulary.from_json(vocabulary))
