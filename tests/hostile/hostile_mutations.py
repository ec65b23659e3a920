"""Random damage to files: bytes flipped, lost, doubled, cut off or turned into extreme numbers."""

import random
import struct
from collections.abc import Callable, Iterator

_EXTREMES = (0, 1, -1, 127, -128, 2**15 - 1, 2**16 - 1, 2**31 - 1, -(2**31), 2**32 - 1, 2**40, 2**62, 2**63 - 1)
_WORDS = (b"\0", b"\xff", b"\n", b"\t", b"[", b"{", b"-", b"9" * 20, b"1e999", b"NaN", b"\xed\xa0\x80", b"../")


def mutations(content: bytes, count: int, seed: int) -> Iterator[bytes]:
    """Yield this many damaged copies of a content, always the same for a seed."""
    chance = random.Random(seed)
    for _ in range(count):
        damaged = bytearray(content)
        for _ in range(chance.choice((1, 1, 1, 2, 4, 16))):
            chance.choice(_KINDS)(damaged, chance)
        yield bytes(damaged)


def _flip(content: bytearray, chance: random.Random) -> None:
    if content:
        content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)


def _replace(content: bytearray, chance: random.Random) -> None:
    if content:
        content[chance.randrange(len(content))] = chance.randrange(256)


def _write_number(content: bytearray, chance: random.Random) -> None:
    """Write an extreme number of one to eight bytes, in either byte order."""
    size, order = chance.choice((1, 2, 4, 8)), chance.choice("<>")
    number = chance.choice(_EXTREMES) % 256**size
    place = chance.randrange(len(content) + 1)
    content[place : place + size] = struct.pack(f"{order}{'xBHxIxxxQ'[size]}", number)


def _insert(content: bytearray, chance: random.Random) -> None:
    place = chance.randrange(len(content) + 1)
    content[place:place] = chance.choice(_WORDS)


def _cut_out(content: bytearray, chance: random.Random) -> None:
    place = chance.randrange(len(content) + 1)
    del content[place : place + chance.choice((1, 2, 16, 256))]


def _repeat(content: bytearray, chance: random.Random) -> None:
    place = chance.randrange(len(content) + 1)
    piece = content[place : place + chance.choice((1, 8, 64))]
    content[place:place] = piece * chance.choice((1, 2, 100))


def _cut_off(content: bytearray, chance: random.Random) -> None:
    del content[chance.randrange(len(content) + 1) :]


def _move(content: bytearray, chance: random.Random) -> None:
    """Move a piece to the place of another."""
    start, place = chance.randrange(len(content) + 1), chance.randrange(len(content) + 1)
    piece = content[start : start + chance.randrange(1, 64)]
    content[place : place + len(piece)] = piece


_KINDS: tuple[Callable[[bytearray, random.Random], None], ...] = (
    _flip, _flip, _replace, _replace, _write_number, _write_number, _insert, _cut_out, _repeat, _cut_off, _move,
)  # fmt: skip
