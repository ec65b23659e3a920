"""The tokenisers of Marian models as Hugging Face stores them: SentencePiece cuts, and a vocabulary of its own numbers.

A model that writes several languages is told which by a code before the text, such as `>>por<<`, which is one token.
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
    """The pieces by their numbers ("" where a number has none), and which of them are no text."""

    pieces: list[str]
    pad: int
    unknown: int
    begin: int
    end: int
    code: str = ""  # put before every text that has none of its own

    def __post_init__(self) -> None:
        """A ValueError says what is wrong with it."""
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
                raise ValueError(f"its {name} is {number!r}, which is none of its {len(self.pieces)} pieces")
        if not isinstance(self.code, str) or (self.code and self.code not in self.codes):
            raise ValueError(f"it has no language code {self.code!r}")

    @property
    def silent(self) -> frozenset[int]:
        """The numbers that stand for no text."""
        return frozenset({self.pad, self.begin, self.end})

    @cached_property
    def tokens(self) -> dict[str, int]:
        """The number of each piece that text may have."""
        silent = self.silent
        return {piece: token for token, piece in enumerate(self.pieces) if piece and token not in silent}

    @cached_property
    def codes(self) -> dict[str, int]:
        """The codes of the languages that a text may be asked to be translated into."""
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
            raise ValueError("it holds no vocabulary of a Marian model")
        return cls(**stored)


class MarianTokeniser:
    """SentencePiece cuts the text; a piece that the vocabulary does not have is unknown.

    SentencePiece also normalises the text as the model was trained with (NFKC, as a rule), so what comes back is not
    always what went in: width, ligatures and runs of spaces are lost. A code that the vocabulary does not have is text.
    """

    spells = False

    def __init__(self, model: bytes, vocabulary: MarianVocabulary) -> None:
        """`model` as SentencePiece serialises it; a ValueError says what is wrong with it."""
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
        cut: list[list[str]] = self._processor.encode([text for _, text in coded], out_type=str, num_threads=1)
        # A run of unknown characters comes as it is and might read </s>: what is no text is not among these tokens.
        tokens = self.vocabulary.tokens
        return [
            [*code, *(tokens.get(piece, self.unknown) for piece in pieces)]
            for (code, _), pieces in zip(coded, cut, strict=True)
        ]

    def _split_code(self, text: str) -> tuple[list[int], str]:
        """The token of the code that a text begins with, or is given, and the text behind it."""
        codes, given = self.vocabulary.codes, self.vocabulary.code
        if text.startswith(_OPENING):
            code, closing, rest = text.partition(_CLOSING)
            if code + closing in codes:
                return [codes[code + closing]], rest
        return ([codes[given]] if given else []), text

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
        """An imported tokeniser cuts a text in one way only, whatever the key."""
        return self.encode(text)

    def files(self, name: str) -> dict[str, bytes]:
        return {f"{name}.model": self.model, f"{name}.json": self.vocabulary.to_json()}

    def _token_texts(self, tokens: Sequence[int]) -> list[bytes]:
        """The text of each token, without the spaces before the first word and behind the last."""
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
    """Read a tokeniser from the files of a model folder: a ValueError says what is wrong with them."""
    return MarianTokeniser(model, MarianVocabulary.from_json(vocabulary))
