"""Skip-gram and CBOW on a CPU, compiled by numba: word after word, each an update of the rows that it concerns.

    h = the mean of the rows of W that the input is made of
    negative       −log σ(u_o · h) − Σ over drawn n ≠ o of log σ(−u_n · h)      (Mikolov et al. 2013, equation 4)
    hierarchical   −Σ over the nodes on the way to o of log σ(sign · u_node · h)  (equation 3)
    softmax        −u_o · h + log Σ_w exp(u_w · h)                               (equation 2)

The functions hold the interpreter's lock no longer than it takes to call them, so threads learn side by side, on the
same rows and without locks (Recht et al. 2011, Hogwild!). Without numba's compiler each is the same function in
Python, which is how tests hold them to autograd in float64.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numba.extending import register_jitable

from regard.kernels.prefetching import ask_for_row

NEGATIVE, HIERARCHICAL, SOFTMAX = range(3)
_TOLD_EVERY = 16  # pairs, of which the loss of one is taken down: a logarithm costs as much as a tenth of an update
_BITS = np.uint64(31)
_ONES = np.float64(1 << 31)
_LEAST = 1e-300  # a probability whose logarithm can be taken


class Tables(NamedTuple):
    """Tables that are learnt, W and U, and the rows of W that make up each word."""

    centres: np.ndarray
    contexts: np.ndarray
    part_starts: np.ndarray
    part_rows: np.ndarray


class Chances(NamedTuple):
    """Probability of keeping each word, and the alias table for drawing negatives."""

    keep: np.ndarray
    own: np.ndarray
    alias: np.ndarray


class Branches(NamedTuple):
    """The way to each word in the tree of hierarchical softmax."""

    starts: np.ndarray
    nodes: np.ndarray
    signs: np.ndarray


class Settings(NamedTuple):
    """Settings from the model's options."""

    is_cbow: bool
    window: int
    loss: int
    negatives: int
    divide_mean: bool


class Room(NamedTuple):
    """Where a thread computes: h, what it is to move by after a word, and after all words around a place."""

    hidden: np.ndarray
    error: np.ndarray
    total: np.ndarray
    number: np.ndarray
    drawn: np.ndarray
    scores: np.ndarray


@register_jitable
def _rounded(number, room):
    """A number in the precision of the rows; without it every product with it would be one of float64."""
    room.number[0] = number
    return room.number[0]


@register_jitable
def _draw(chance):
    """The next of the random numbers: 31 bits of xorshift64 (Marsaglia 2003), whose state `chance` holds."""
    state = chance[0]
    state ^= state << np.uint64(13)
    state ^= state >> np.uint64(7)
    state ^= state << np.uint64(17)
    chance[0] = state
    return state >> np.uint64(33)


@register_jitable
def _draw_below(chance, size):
    """A whole number from 0 to size − 1."""
    return np.int64((_draw(chance) * np.uint64(size)) >> _BITS)


@register_jitable
def _draw_word(chance, chances):
    """A word of the noise."""
    place = _draw_below(chance, len(chances.own))
    return place if _draw(chance) / _ONES < chances.own[place] else np.int64(chances.alias[place])


@register_jitable
def _dot(row, hidden):
    total = row[0] * hidden[0]
    for each in range(1, len(hidden)):
        total += row[each] * hidden[each]
    return total


@register_jitable
def _learn_turn(row, label, rate, room):
    """One yes or no: move the row of U, and add to the error what h is to move by; gives its probability."""
    hidden, error = room.hidden, room.error
    score = _dot(row, hidden)
    probability = 1 / (1 + math.exp(-score))
    step = _rounded((label - probability) * rate, room)
    for each in range(len(hidden)):
        error[each] += step * row[each]
        row[each] += step * hidden[each]
    return probability if label else 1 - probability


@register_jitable
def _learn_negative(word, tables, rate, settings, chances, chance, room):
    """Against words that are drawn; gives the product of the probabilities."""
    # All are drawn first, so that their rows are on the way while others are learnt from.
    for number in range(settings.negatives):
        room.drawn[number] = _draw_word(chance, chances)
        ask_for_row(tables.contexts, room.drawn[number])
    likelihood = _learn_turn(tables.contexts[word], 1, rate, room)
    for number in range(settings.negatives):
        if room.drawn[number] != word:
            likelihood *= _learn_turn(tables.contexts[room.drawn[number]], 0, rate, room)
    return likelihood


@register_jitable
def _learn_path(word, tables, rate, branches, room):
    """Along the branches of the tree; gives the probability of the word."""
    likelihood = 1.0
    for turn in range(branches.starts[word], branches.starts[word + 1]):
        row = tables.contexts[branches.nodes[turn]]
        likelihood *= _learn_turn(row, 1 if branches.signs[turn] > 0 else 0, rate, room)
    return likelihood


@register_jitable
def _learn_all(word, tables, rate, room):
    """Against all words; gives the probability of the word."""
    contexts, hidden, error, scores = tables.contexts, room.hidden, room.error, room.scores
    highest = -np.inf
    for other in range(len(contexts)):
        scores[other] = _dot(contexts[other], hidden)
        highest = max(highest, scores[other])
    total = 0.0
    for other in range(len(contexts)):
        scores[other] = math.exp(scores[other] - highest)
        total += scores[other]
    likelihood = scores[word] / total
    for other in range(len(contexts)):
        row = contexts[other]
        step = _rounded(((1 if other == word else 0) - scores[other] / total) * rate, room)
        for each in range(len(hidden)):
            error[each] += step * row[each]
            row[each] += step * hidden[each]
    return likelihood


@register_jitable
def _gather(kept, low, high, without, tables, room):
    """Make h the mean of the rows of some words, all but the one at a place; gives how many rows they are."""
    hidden, count = room.hidden, 0
    hidden[:] = 0
    room.total[:] = 0
    for place in range(low, high):
        if place == without:
            continue
        first, last = tables.part_starts[kept[place]], tables.part_starts[kept[place] + 1]
        count += last - first
        for part in range(first, last):
            row = tables.centres[tables.part_rows[part]]
            for each in range(len(hidden)):
                hidden[each] += row[each]
    share = _rounded(1 / count, room)
    for each in range(len(hidden)):
        hidden[each] *= share
    return count


@register_jitable
def _move_hidden(room, count):
    """Let h go where the mean of its rows will, when each of them moves by the error, or by its share of it."""
    share = _rounded(1 / count, room)
    for each in range(len(room.hidden)):
        step = room.error[each] * share
        room.hidden[each] += step
        room.total[each] += step


@register_jitable
def _move(kept, low, high, without, tables, room):
    """Move the rows that h was the mean of by all that they are to move."""
    for place in range(low, high):
        if place == without:
            continue
        word = kept[place]
        for part in range(tables.part_starts[word], tables.part_starts[word + 1]):
            row = tables.centres[tables.part_rows[part]]
            for each in range(len(row)):
                row[each] += room.total[each]


@register_jitable
def _keep_words(words, first, last, kept, chances, chance):
    """Put the words that are not left out into `kept`; gives how many they are."""
    length = 0
    for place in range(first, last):
        word = words[place]
        if chances.keep[word] >= 1 or _draw(chance) / _ONES < chances.keep[word]:
            kept[length] = word
            length += 1
    return length


@register_jitable
def _learn_word(word, tables, rate, settings, chances, branches, chance, room):
    """Learn to predict a word from h; gives its probability, and leaves what h is to move by in `room.error`."""
    room.error[:] = 0
    if settings.loss == NEGATIVE:
        return _learn_negative(word, tables, rate, settings, chances, chance, room)
    if settings.loss == HIERARCHICAL:
        return _learn_path(word, tables, rate, branches, room)
    return _learn_all(word, tables, rate, room)


@njit(
    nogil=True,
    cache=True,
    error_model="numpy",
    # Sums may be taken in any order, so that several numbers are added at once; numbers that are none stay so.
    fastmath={"reassoc", "contract", "arcp", "nsz"},
)
def learn_text(words, starts, first, last, rates, tables, settings, chances, branches, key):
    """Learn from the sentences `first` to `last` of a batch, at a rate that goes from `rates[0]` to `rates[1]`.

    Sentence s has the words `words[starts[s] : starts[s + 1]]`. Gives the sum of some of the losses, and of how many.
    """
    kind, width = tables.centres.dtype, tables.centres.shape[1]
    scores = np.zeros(len(tables.contexts) if settings.loss == SOFTMAX else 0)
    drawn = np.zeros(settings.negatives, np.int64)
    room = Room(np.zeros(width, kind), np.zeros(width, kind), np.zeros(width, kind), np.zeros(1, kind), drawn, scores)
    kept = np.zeros(np.max(starts[first + 1 : last + 1] - starts[first:last]), np.int64)
    chance = np.array([key], np.uint64)
    loss, told, pairs = 0.0, 0, 0
    for sentence in range(first, last):
        length = _keep_words(words, starts[sentence], starts[sentence + 1], kept, chances, chance)
        passed = (starts[sentence] - starts[first]) / max(starts[last] - starts[first], 1)
        rate = rates[0] + (rates[1] - rates[0]) * passed
        for place in range(length):
            reach = settings.window - _draw_below(chance, settings.window)
            low, high = max(0, place - reach), min(length, place + reach + 1)
            if high - low < 2:
                continue
            # Skip-gram predicts every word around the place, CBOW the word at the place and nothing else.
            if settings.is_cbow:
                count = _gather(kept, low, high, place, tables, room)
                aims = (place, place + 1)
            else:
                count = _gather(kept, place, place + 1, -1, tables, room)
                aims = (low, high)
            for aim in range(aims[0], aims[1]):
                if not settings.is_cbow and aim == place:
                    continue
                if settings.loss == NEGATIVE:
                    ask_for_row(tables.contexts, kept[min(aim + 1, length - 1)])
                likelihood = _learn_word(kept[aim], tables, rate, settings, chances, branches, chance, room)
                if pairs % _TOLD_EVERY == 0:
                    loss -= math.log(max(likelihood, _LEAST))
                    told += 1
                pairs += 1
                _move_hidden(room, count if settings.divide_mean else 1)
            if settings.is_cbow:
                _move(kept, low, high, place, tables, room)
            else:
                _move(kept, place, place + 1, -1, tables, room)
    return loss, told
