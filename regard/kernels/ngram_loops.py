"""Loops over n-grams that numba compiles: counting, adding up counts, finding suffixes, and scoring text.

Each gives the same numbers, to the bit, as the numpy code next to its caller in `regard.models.ngram`, which runs for
small inputs, without numba, and in the tests that compare both.

The loops call no functions with arrays, and give no array a second name: numba would count references, which takes
longer than the work. A row that does not exist is -1.
"""

import numpy as np
from numba import njit

LAST = np.iinfo(np.int64).max  # larger than every key
_MOST_BITS = 14  # most bits of a token that one pass of the sort looks at


def sorted_places(tokens, starts, order, size):
    """Return all places of a text, sorted by the `order` tokens that begin there, and the tokens left in each sentence.

    This is a radix sort from the last token to the first; what is beyond the end of a sentence comes before all tokens.
    """
    left = _tokens_left(starts, order)
    places, others = np.arange(len(tokens), dtype=np.int32), np.empty(len(tokens), np.int32)
    bits = int(size).bit_length()
    passes = -(-bits // _MOST_BITS)
    width = -(-bits // passes)
    for ahead in range(order - 1, -1, -1):
        for shift in range(0, bits, width):
            _sort(tokens, left, ahead, shift, (1 << width) - 1, places, others)
            places, others = others, places
    return places, left


@njit(cache=True, nogil=True)
def _tokens_left(starts, order):
    """Return the number of tokens from each place to the end of its sentence, at most `order`."""
    left = np.empty(len(starts), np.int8)
    length = 0
    for place in range(len(starts) - 1, -1, -1):
        length = min(length + 1, order)
        left[place] = length
        if starts[place]:
            length = 0
    return left


@njit(cache=True, nogil=True)
def _sort(tokens, left, ahead, shift, mask, places, others):
    """Write places in the order of some bits of the token `ahead` of each; equal ones keep their order."""
    ends = np.zeros(mask + 2, np.int64)
    for place in range(len(tokens)):
        digit = ((tokens[place + ahead] + 1) >> shift) & mask if left[place] > ahead else 0
        ends[digit + 1] += 1
    for digit in range(mask + 1):
        ends[digit + 1] += ends[digit]
    for index in range(len(places)):
        place = places[index]
        digit = ((tokens[place + ahead] + 1) >> shift) & mask if left[place] > ahead else 0
        others[ends[digit]] = place
        ends[digit] += 1


@njit(cache=True, nogil=True)
def shared_lengths(tokens, places, left, order):
    """Return how many tokens each sorted n-gram shares with the one before, and the number of n-grams of each order."""
    shared, numbers = np.zeros(len(places), np.int8), np.zeros(order + 1, np.int64)
    before = 0
    for index in range(len(places)):
        place = places[index]
        length = 0
        if index:
            most = min(left[before], left[place])
            while length < most and tokens[before + length] == tokens[place + length]:
                length += 1
        shared[index] = length
        for longer in range(length + 1, left[place] + 1):
            numbers[longer] += 1
        before = place
    return shared, numbers


@njit(cache=True, nogil=True)
def fill_counts(tokens, places, left, shared, size, firsts, keys, counts):
    """Write the key and the count of every n-gram; those of an order are together, from the place in `firsts` on."""
    rows = np.full(len(firsts), -1, np.int64)
    for index in range(len(places)):
        place = places[index]
        rows[1] = tokens[place]
        for order in range(2, left[place] + 1):
            if order > shared[index]:
                rows[order] += 1
                keys[firsts[order] + rows[order]] = rows[order - 1] * size + tokens[place + order - 1]
                counts[firsts[order] + rows[order]] = 0
            counts[firsts[order] + rows[order]] += 1


@njit(cache=True, nogil=True)
def merge(mine, theirs, my_counts, their_counts, my_parents, their_parents, size, my_rows, their_rows, keys, counts):
    """Add up the counts of an order, write the row of the sum that each row has become, and return the number of rows.

    `mine` and `theirs` are keys; the parents hold the row of the sum that each row of the order below has become.
    """
    row = me = they = 0
    while me < len(mine) or they < len(theirs):
        my_key = their_key = LAST
        if me < len(mine):
            parent = mine[me] // size
            my_key = (my_parents[parent] - parent) * size + mine[me]
        if they < len(theirs):
            parent = theirs[they] // size
            their_key = (their_parents[parent] - parent) * size + theirs[they]
        keys[row], counts[row] = min(my_key, their_key), 0
        if my_key <= their_key:
            counts[row] += my_counts[me]
            my_rows[me] = row
            me += 1
        if their_key <= my_key:
            counts[row] += their_counts[they]
            their_rows[they] = row
            they += 1
        row += 1
    return row


@njit(cache=True, nogil=True)
def fill_firsts(keys, size, firsts):
    """Write at which key the children of each row of the order below begin, and the number of keys at the end."""
    parent = 0
    firsts[0] = 0
    for row in range(len(keys)):
        parent_of_row = keys[row] // size
        while parent < parent_of_row:
            parent += 1
            firsts[parent] = row
    firsts[parent + 1 :] = len(keys)


@njit(cache=True, nogil=True)
def fill_suffixes(keys, shorter_keys, firsts, parent_suffixes, size, suffixes):
    """Write, for each n-gram, the row of all its words but the first among the n-grams of the order below.

    `firsts` belongs to `shorter_keys`, and `parent_suffixes` are the suffixes of the order below.
    """
    before, reached = -1, 0
    for row in range(len(keys)):
        parent = keys[row] // size
        suffix = parent_suffixes[parent]
        suffixes[row] = -1
        if suffix < 0:
            continue
        if parent != before:
            before, reached = parent, firsts[suffix]
        wanted = keys[row] + (suffix - parent) * size
        low, high = reached, firsts[suffix + 1]
        end = high
        while low < high:
            middle = (low + high) >> 1
            if shorter_keys[middle] < wanted:
                low = middle + 1
            else:
                high = middle
        if low < end and shorter_keys[low] == wanted:
            suffixes[row] = low
        reached = low


@njit(cache=True, nogil=True)
def find_rows(keys, firsts, size, parents, tokens, rows):
    """Write the row of each n-gram, given the row of its first words and its last word.

    Whatever `firsts` and `keys` hold, nothing outside them is read.
    """
    for place in range(len(tokens)):
        rows[place] = -1
        parent = parents[place]
        if parent < 0 or parent + 1 >= len(firsts):
            continue
        wanted = parent * size + tokens[place]
        low = max(firsts[parent], 0)
        number = min(firsts[parent + 1] - low, len(keys) - low, tokens[place] + 1)
        while number > 1:
            half = number >> 1
            low += half * (keys[low + half] <= wanted)
            number -= half
        if number == 1 and keys[low] == wanted:
            rows[place] = low


@njit(cache=True, nogil=True)
def score_order(keys, firsts, size, tokens, starts, shorter, backoffs, log_probabilities, rows, scores):
    """Update the scores of all places from one order to the next, and write the rows of the n-grams that end there.

    An n-gram in the model has its own score. Otherwise the back-off weight of its first words is added, which are
    `shorter` at the place before, if they are in the model. Whatever the arrays of the model hold, nothing outside them
    is read.
    """
    most_parents = min(len(firsts) - 1, len(backoffs))
    for place in range(len(tokens)):
        rows[place] = -1
        parent = shorter[place - 1] if place and not starts[place] else -1
        if not 0 <= parent < most_parents:
            continue
        wanted = parent * size + tokens[place]
        low = max(firsts[parent], 0)
        # A word has at most as many others before it as its number, which is small for a frequent word.
        number = min(firsts[parent + 1] - low, len(keys) - low, tokens[place] + 1)
        while number > 1:
            half = number >> 1
            low += half * (keys[low + half] <= wanted)
            number -= half
        if number == 1 and keys[low] == wanted:
            rows[place] = low
            scores[place] = log_probabilities[low]
        else:
            scores[place] += backoffs[parent]
