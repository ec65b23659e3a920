"""Lines of ARPA files, assembled by loops that numba compiles.

Numbers are written with nine digits, which restore the same float32, as Python's `.9g` does. A number is m · 2^q with
an integer m below 2^24, so its digits are those of m · 10^p, which fits into 64 bits, shifted by q and rounded half to
even.

The loops call no functions with arrays: numba counts references to them at each call, which takes longer than the work.
"""

import numpy as np
from numba import njit

LEAST, MOST = 1e-4, 1e5  # only numbers between them, and 0, are written here
LONGEST_NUMBER = 16  # bytes
_DIGITS = 9
_TRIPLES = np.frombuffer("".join(f"{number:03}" for number in range(1000)).encode(), np.uint8)
_POWERS = 10 ** np.arange(13).astype(np.uint64)
_ONE = np.uint64(1)
_ZERO, _POINT, _MINUS, _TAB, _SPACE, _LINE = (ord(character) for character in "0.-\t \n")


@njit(cache=True, nogil=True, error_model="numpy")
def write_numbers(values, bits, texts, lengths):
    """Write numbers as text, a row each, and their lengths in bytes; the length is 0 for numbers out of bounds."""
    for row in range(len(values)):
        size, lengths[row] = abs(np.float64(values[row])), 0  # the bounds are not exact in float32
        if size != 0 and not LEAST <= size < MOST:
            continue
        at = np.int64(bits[row] >> 31)
        texts[row, 0] = _MINUS
        if size == 0:
            texts[row, at] = _ZERO
            lengths[row] = at + 1
            continue
        leading, power = -4, 1e-3  # the first digit stands for 10^leading
        while size >= power:
            leading, power = leading + 1, power * 10
        shift = np.uint64(150 - ((bits[row] >> 23) & 255))
        scaled = np.uint64(bits[row] & 0x7FFFFF | 0x800000) * _POWERS[_DIGITS - 1 - leading]
        rest, half = scaled & ((_ONE << shift) - _ONE), _ONE << (shift - _ONE)
        rounded = scaled >> shift
        if rest > half or (rest == half and rounded & _ONE):
            rounded += _ONE
        digits = np.int64(rounded)
        if leading < 0:
            texts[row, at] = _ZERO
            texts[row, at + 1] = _POINT
            for place in range(at + 2, at + 1 - leading):
                texts[row, place] = _ZERO
            at -= leading
        millions, thousands = digits // 1_000_000, digits // 1000
        for place in range(3):
            texts[row, at + 1 + place] = _TRIPLES[3 * millions + place]
            texts[row, at + 4 + place] = _TRIPLES[3 * (thousands - 1000 * millions) + place]
            texts[row, at + 7 + place] = _TRIPLES[3 * (digits - 1000 * thousands) + place]
        if leading >= 0:  # move the whole part to make room for the point
            for place in range(at, at + leading + 1):
                texts[row, place] = texts[row, place + 1]
            texts[row, at + leading + 1] = _POINT
        end = at + _DIGITS
        while texts[row, end] == _ZERO:
            end -= 1
        lengths[row] = end + (texts[row, end] != _POINT)


@njit(cache=True, nogil=True, error_model="numpy")
def go_up(keys, rows, size, words):
    """Write the last words of some n-grams, and replace their rows by those of the words before."""
    for index in range(len(rows)):
        key = keys[rows[index]]
        parent = key // size
        words[index], rows[index] = key - parent * size, parent


@njit(cache=True, nogil=True, error_model="numpy")
def write_lines(out, words, names, name_ends, scores, score_lengths, backoffs, backoff_lengths):
    """Write a line for each n-gram and return the number of bytes; empty back-off weights are left out."""
    order, at = words.shape[0], 0
    for row in range(words.shape[1]):
        for place in range(score_lengths[row]):
            out[at + place] = scores[row, place]
        at += score_lengths[row]
        for level in range(order):
            out[at] = _SPACE if level else _TAB
            at += 1
            start, end = name_ends[words[level, row]], name_ends[words[level, row] + 1]
            for place in range(end - start):
                out[at + place] = names[start + place]
            at += end - start
        if backoff_lengths[row]:
            out[at] = _TAB
            at += 1
            for place in range(backoff_lengths[row]):
                out[at + place] = backoffs[row, place]
            at += backoff_lengths[row]
        out[at] = _LINE
        at += 1
    return at
