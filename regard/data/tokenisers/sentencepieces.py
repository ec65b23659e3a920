"""Check untrusted SentencePiece models before the library opens them.

A model is a protocol buffers message. The library builds a tree of all pieces, which can take minutes and gigabytes for
a hostile model.
"""

from collections.abc import Iterator
from typing import Any

MOST_BYTES = 2**23  # most bytes of a model; one with 256,000 pieces has 5 MB
MOST_PIECES = 300_000
_PIECES = 1  # field number of pieces


def open_model(model: bytes) -> Any:
    """Return the SentencePiece processor of a model; raise ValueError if something is wrong with it."""
    from sentencepiece import SentencePieceProcessor

    _check(model)
    processor = SentencePieceProcessor()
    try:
        processor.LoadFromSerializedProto(model)
    except RuntimeError as error:
        raise ValueError("SentencePiece cannot read it") from error
    return processor


def _check(model: bytes) -> None:
    if len(model) > MOST_BYTES:
        raise ValueError(f"it has {len(model):,} bytes, but SentencePiece models may have at most {MOST_BYTES:,}")
    if sum(1 for number in _fields(model) if number == _PIECES) > MOST_PIECES:
        raise ValueError(f"it has more than {MOST_PIECES:,} pieces")


def _fields(message: bytes) -> Iterator[int]:
    """Yield the numbers of the fields of a message."""
    place = 0
    while place < len(message):
        tag, place = _number(message, place)
        yield tag >> 3
        match tag & 7:
            case 0:
                _, place = _number(message, place)
            case 1:
                place += 8
            case 2:
                size, place = _number(message, place)
                place += size
            case 5:
                place += 4
            case _:
                raise ValueError("SentencePiece cannot read it")


def _number(message: bytes, place: int) -> tuple[int, int]:
    """Read a number with seven bits per byte, lowest first; return it and the place after it."""
    value = shift = 0
    while place < len(message) and shift < 70:
        byte = message[place]
        value, shift, place = value | (byte & 0x7F) << shift, shift + 7, place + 1
        if byte < 0x80:
            return value, place
    raise ValueError("SentencePiece cannot read it")
