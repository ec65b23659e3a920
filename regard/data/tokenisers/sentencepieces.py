"""SentencePiece models of strangers, looked at before the library opens one.

A model is a message of protocol buffers. The library builds a tree of all pieces, which takes minutes and gigabytes for
pieces that nobody learnt, and it trusts the table by which text is normalised: a place outside of it ends the process.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

MOST_BYTES = 2**23  # of a model; those of 256,000 pieces have 5 MB
MOST_PIECES = 300_000
_PIECES, _NORMALISER, _TABLE = 1, 3, 2  # numbers of fields: of the model, and of its normaliser


def open_model(model: bytes) -> Any:
    """Return the SentencePiece processor of a model; a ValueError says what is wrong with it."""
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
        raise ValueError(f"it has {len(model):,} bytes, and SentencePiece models of at most {MOST_BYTES:,} are read")
    pieces = 0
    for number, value in _fields(model):
        pieces += number == _PIECES
        if pieces > MOST_PIECES:
            raise ValueError(f"it has more than {MOST_PIECES:,} pieces")
        if number == _NORMALISER and isinstance(value, bytes):
            for inner, table in _fields(value):
                if inner == _TABLE and isinstance(table, bytes) and table:
                    _check_table(table)


def _fields(message: bytes) -> Iterator[tuple[int, bytes | int]]:
    """Yield the fields of a message: their numbers and what they hold."""
    place = 0
    while place < len(message):
        tag, place = _number(message, place)
        kind = tag & 7
        if kind == 0:
            value, place = _number(message, place)
            yield tag >> 3, value
            continue
        size, place = _number(message, place) if kind == 2 else ({1: 8, 5: 4}.get(kind, len(message)), place)
        if place + size > len(message):
            raise ValueError("SentencePiece cannot read it")
        yield tag >> 3, message[place : place + size]
        place += size


def _number(message: bytes, place: int) -> tuple[int, int]:
    """Read a number of seven bits a byte, the lowest first; return it and the place behind it."""
    value = shift = 0
    while place < len(message) and shift < 70:
        byte = message[place]
        value, shift, place = value | (byte & 0x7F) << shift, shift + 7, place + 1
        if byte < 0x80:
            return value, place
    raise ValueError("SentencePiece cannot read it")


def _check_table(table: bytes) -> None:
    """Refuse a table of normal forms in which a step leads outside.

    It is the length of a tree in bytes, the tree as an array of words of 32 bits (a "double array"), and texts that end
    in a zero each. From the word at i, the letter c leads to i ^ offset ^ c; a word with a value has it at i ^ offset.
    """
    size = int.from_bytes(table[:4], "little")
    texts = table[4 + size :]
    if size % 4 or not 0 < size <= len(table) - 4 or not texts.endswith(b"\0"):
        raise ValueError("its table of normal forms is damaged")
    words = np.frombuffer(table, "<u4", size // 4, 4).astype(np.int64)
    targets = np.arange(len(words)) ^ ((words >> 10) << ((words & (1 << 9)) >> 6))
    is_value = words >> 31 == 1
    has_value = (words >> 8 & 1 == 1) & ~is_value
    if (targets[~is_value] | 0xFF).max(initial=0) >= len(words):
        raise ValueError("its table of normal forms leads outside of itself")
    if (words[targets[has_value]] & 0x7FFFFFFF).max(initial=0) >= len(texts):
        raise ValueError("its table of normal forms names a text that it does not have")
