"""Split text at spaces in a loop compiled by numba: each word is found once, in a hash table over the bytes."""

from secrets import randbits
from typing import NamedTuple

import numpy as np
from numba import njit

_PRIME = 0x100000001B3
_SEED = randbits(62)  # random, so that no text can be made whose words all collide
_POSITIVE, _SEVEN_BYTES = 2**62 - 1, 2**56 - 1
_FIRST_SIZE = 1 << 14  # initial table size; it is never more than half full
_ZERO, _TAB, _LINE, _RETURN, _SPACE = 0, 9, 10, 13, 32


class Words(NamedTuple):
    """Distinct words of some lines in order of occurrence, the number of each word of the text, and words per line."""

    distinct: list[str]
    numbers: np.ndarray
    lengths: np.ndarray


def words_of(text: str, lines: int) -> Words:
    """Return the words of `lines` lines, which line feeds separate."""
    content = np.frombuffer(text.encode(), np.uint8)
    numbers, lengths = np.empty(len(content) // 2 + 1, np.int32), np.zeros(max(lines, 1), np.int64)
    table, entries = np.full(_FIRST_SIZE, -1, np.int32), np.empty((4, _FIRST_SIZE // 2), np.int64)
    place = line = count = distinct = 0
    while place < len(content):
        place, line, count, distinct = _number_words(
            content, _SEED, place, line, count, distinct, numbers, lengths, table, *entries
        )
        if distinct == entries.shape[1]:
            entries = np.concatenate([entries, np.empty_like(entries)], axis=1)
            table = _table_of(entries[2, :distinct], 2 * entries.shape[1])
    joined = _join(content, entries[0, :distinct], entries[1, :distinct]).tobytes().decode()
    return Words(joined.split("\n")[:-1], numbers[:count], lengths[:lines])


@njit(cache=True, nogil=True)
def _is_space(byte):
    return _TAB <= byte <= _RETURN or byte in (_SPACE, _ZERO)


@njit(cache=True, nogil=True)
def _table_of(hashes, size):
    """Return a hash table of this size with all words found so far."""
    table = np.full(size, -1, np.int32)
    for word in range(len(hashes)):
        slot = hashes[word] & (size - 1)
        while table[slot] >= 0:
            slot = (slot + 1) & (size - 1)
        table[slot] = word
    return table


@njit(cache=True, nogil=True)
def _number_words(content, seed, place, line, count, distinct, numbers, lengths, table, starts, ends, hashes, tails):
    """Number the words from a place on, to the end or until the table is full; return how far it came.

    A word is identified by its length, its last seven bytes and, if it is longer, the others. The search is inside the
    loop, since numba counts references to the arrays of every call, which takes longer than the search.
    """
    mask, room = len(table) - 1, len(starts)
    while place < len(content) and distinct < room:
        if _is_space(content[place]):
            line += content[place] == _LINE
            place += 1
            continue
        start, code, tail = place, seed, 0
        while place < len(content) and not _is_space(content[place]):
            byte = int(content[place])
            code = ((code ^ byte) * _PRIME) & _POSITIVE
            tail = (tail << 8 | byte) & _SEVEN_BYTES
            place += 1
        code ^= code >> 29
        slot = code & mask
        word = np.int64(table[slot])
        while word >= 0:
            if tails[word] == tail and ends[word] - starts[word] == place - start:
                rest = place - start - 7
                while rest > 0 and content[starts[word] + rest - 1] == content[start + rest - 1]:
                    rest -= 1
                if rest <= 0:
                    break
            slot = (slot + 1) & mask
            word = np.int64(table[slot])
        if word < 0:
            word, table[slot] = distinct, distinct
            starts[word], ends[word], hashes[word], tails[word] = start, place, code, tail
            distinct += 1
        numbers[count] = word
        count += 1
        lengths[line] += 1
    return place, line, count, distinct


@njit(cache=True, nogil=True)
def _join(content, starts, ends):
    """Return the bytes of some words, with a line feed after each."""
    joined = np.empty((ends - starts).sum() + len(starts), np.uint8)
    at = 0
    for word in range(len(starts)):
        for place in range(starts[word], ends[word]):
            joined[at] = content[place]
            at += 1
        joined[at] = _LINE
        at += 1
    return joined
