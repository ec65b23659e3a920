"""The byte tokeniser: every byte of the UTF-8 text is a token, so it needs no training."""

from collections.abc import Sequence

from regard.data.tokenisers.symbols import (
    BEGIN,
    END,
    NAMES,
    PAD,
    UNKNOWN,
    UNKNOWN_TEXT,
    clean,
    join_fragments,
    word_numbers,
)

_FIRST = len(NAMES)
_FRAGMENTS = [b"", UNKNOWN_TEXT.encode(), b"", b"", *(bytes([value]) for value in range(256))]


def _piece(value: int) -> str:
    if value == ord(" "):
        return "▁"
    return chr(value) if ord("!") <= value <= ord("~") else f"<0x{value:02X}>"


_PIECES = [*NAMES, *map(_piece, range(256))]


class ByteTokeniser:
    """Tokens 4 to 259 are the bytes 0 to 255; nothing is lost and nothing is ever unknown."""

    pad, unknown, begin, end = PAD, UNKNOWN, BEGIN, END
    spells = False
    size = len(_FRAGMENTS)

    def encode(self, text: str) -> list[int]:
        return [_FIRST + value for value in clean(text).encode()]

    def encode_all(self, texts: list[str]) -> list[list[int]]:
        return [self.encode(text) for text in texts]

    def decode(self, tokens: Sequence[int]) -> str:
        return join_fragments(_FRAGMENTS[token] for token in tokens)

    def pieces(self, tokens: Sequence[int]) -> list[str]:
        """Return printable ASCII unchanged, a space as '▁', any other byte as <0xC3>."""
        return [_PIECES[token] for token in tokens]

    def words(self, tokens: Sequence[int]) -> list[int]:
        return word_numbers(tokens, (_FRAGMENTS[token] for token in tokens))

    def sample(self, text: str, key: tuple[int, ...]) -> list[int]:
        """Return what `encode` does: there is only one way to split a text into bytes."""
        return self.encode(text)

    def files(self, name: str) -> dict[str, bytes]:
        return {}
