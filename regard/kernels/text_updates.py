"""Skip-gram and CBOW on a CPU, compiled by numba: word by word, each an update of the rows it concerns.

    h = the mean of the rows of W that the input is made of
    negative       −log σ(u_o · h) − Σ over sampled n ≠ o of log σ(−u_n · h)    (Mikolov et al. 2013, equation 4)
    hierarchical   −Σ over the nodes on the path to o of log σ(sign · u_node · h)  (equation 3)
    softmax        −u_o · h + log Σ_w exp(u_w · h)                               (equation 2)

The functions release the interpreter's lock, so threads learn in parallel, on the same rows and without locks (Recht et
al. 2011, Hogwild!). Without numba's compiler each is the same function in Python, which is how tests compare them with
autograd in float64.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numba.extending import register_jitable

from regard.kernels.prefetching import ask_for_row

NEGATIVE, HIERARCHICAL, SOFTMAX = range(3)
_TOLD_EVERY = 16  # pairs per recorded loss: a logarithm costs as much as a tenth of an update
_BITS = np.uint64(31)
_ONES = np.float64(1 << 31)
_LEAST = 1e-300  # smallest probability whose logarithm is taken


class Tables(NamedTuple):
    """The learnt tables, W and U, and the rows of W that make up each word."""

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
    """The path to each word in the tree of hierarchical softmax."""

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
    """Working memory of a thread: h, its movement after a word, and after all words around a place."""

    hidden: np.ndarray
    error: np.ndarray
    total: np.ndarray
    number: np.ndarray
    drawn: np.ndarray
    scores: np.ndarray


@register_jitable
def _rounded(number, room):
    """Return a number in the precision of the rows; otherwise every product with it would be in float64."""
    room.number[0] = number
    return room.number[0]


@register_jitable
def _draw(chance):
    """Return the next random number: 31 bits of xorshift64 (Marsaglia 2003), whose state is in `chance`."""
    state = chance[0]
    state ^= state << np.uint64(13)
    state ^= state >> np.uint64(7)
    state ^= state << np.uint64(17)
    chance[0] = state
    return state >> np.uint64(33)


@register_jitable
def _draw_below(chance, size):
    """Return a random integer from 0 to size − 1."""
    return np.int64((_draw(chance) * np.uint64(size)) >> _BITS)


@register_jitable
def _draw_word(chance, chances):
    """Return a random noise word."""
    place = _draw_below(chance, len(chances.own))
    return place if _draw(chance) / _ONES < chances.own[place] else np.int64(chances.alias[place])


@register_jitable
def _dot(row, hidden):
    total = row[0] * hidden[0]
    for unit in range(1, len(hidden)):
        total += row[unit] * hidden[unit]
    return total


@register_jitable
def _learn_turn(row, label, rate, room):
    """Learn one yes or no: move the row of U, add the movement of h to the error, and return the probability."""
    hidden, error = room.hidden, room.error
    score = _dot(row, hidden)
    probability = 1 / (1 + math.exp(-score))
    step = _rounded((label - probability) * rate, room)
    for unit in range(len(hidden)):
        error[unit] += step * row[unit]
        row[unit] += step * hidden[unit]
    return probability if label else 1 - probability


@register_jitable
def _learn_negative(word, tables, rate, settings, chances, chance, room):
    """Learn against sampled words; return the product of the probabilities."""
    # Draw all first, so that their rows are prefetched while others are learnt from.
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
    """Learn along the branches of the tree; return the probability of the word."""
    likelihood = 1.0
    for turn in range(branches.starts[word], branches.starts[word + 1]):
        row = tables.contexts[branches.nodes[turn]]
        likelihood *= _learn_turn(row, 1 if branches.signs[turn] > 0 else 0, rate, room)
    return likelihood


@register_jitable
def _learn_all(word, tables, rate, room):
    """Learn against all words; return the probability of the word."""
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
        for unit in range(len(hidden)):
            error[unit] += step * row[unit]
            row[unit] += step * hidden[unit]
    return likelihood


@register_jitable
def _gather(words, low, high, without, tables, room):
    """Set h to the mean of the rows of some words, except the one at a place; return the number of rows."""
    hidden, count = room.hidden, 0
    hidden[:] = 0
    room.total[:] = 0
    for place in range(low, high):
        if place == without:
            continue
        first, last = tables.part_starts[words[place]], tables.part_starts[words[place] + 1]
        count += last - first
        for part in range(first, last):
            row = tables.centres[tables.part_rows[part]]
            for unit in range(len(hidden)):
                hidden[unit] += row[unit]
    share = _rounded(1 / count, room)
    for unit in range(len(hidden)):
        hidden[unit] *= share
    return count


@register_jitable
def _move_hidden(room, count):
    """Move h like the mean of its rows, when each of them moves by the error or by its share of it."""
    share = _rounded(1 / count, room)
    for unit in range(len(room.hidden)):
        step = room.error[unit] * share
        room.hidden[unit] += step
        room.total[unit] += step


@register_jitable
def _move(words, low, high, without, tables, room):
    """Move the rows that h was the mean of by their total movement."""
    for place in range(low, high):
        if place == without:
            continue
        word = words[place]
        for part in range(tables.part_starts[word], tables.part_starts[word + 1]):
            row = tables.centres[tables.part_rows[part]]
            for unit in range(len(row)):
                row[unit] += room.total[unit]


@register_jitable
def _keep_words(words, first, last, kept, chances, chance):
    """Put the words that are not left out into `kept`; return their number."""
    length = 0
    for place in range(first, last):
        word = words[place]
        if chances.keep[word] >= 1 or _draw(chance) / _ONES < chances.keep[word]:
            kept[length] = word
            length += 1
    return length


@register_jitable
def _learn_word(word, tables, rate, settings, chances, branches, chance, room):
    """Learn to predict a word from h; return its probability, and leave the movement of h in `room.error`."""
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
    # Sums may be computed in any order, so that several numbers are added at once; NaN stays NaN.
    fastmath={"reassoc", "contract", "arcp", "nsz"},
)
def learn_text(words, starts, first, last, rates, tables, settings, chances, branches, key):
    """Learn from the sentences `first` to `last` of a batch, at a rate that goes from `rates[0]` to `rates[1]`.

    Sentence s has the words `words[starts[s] : starts[s + 1]]`. Return the sum of some of the losses, and their number.
    """
    kind, width = tables.centres.dtype, tables.centres.shape[1]
    scores = np.zeros(len(tables.contexts) if settings.loss == SOFTMAX else 0)
    negatives = np.zeros(settings.negatives, np.int64)
    room = Room(
        np.zeros(width, kind), np.zeros(width, kind), np.zeros(width, kind), np.zeros(1, kind), negatives, scores
    )
    kept = np.zeros(np.max(starts[first + 1 : last + 1] - starts[first:last]), np.int64)
    chance = np.array([key], np.uint64)
    loss, recorded, pairs = 0.0, 0, 0
    for sentence in range(first, last):
        length = _keep_words(words, starts[sentence], starts[sentence + 1], kept, chances, chance)
        passed = (starts[sentence] - starts[first]) / max(starts[last] - starts[first], 1)
        rate = rates[0] + (rates[1] - rates[0]) * passed
        for place in range(length):
            reach = settings.window - _draw_below(chance, settings.window)
            low, high = max(0, place - reach), min(length, place + reach + 1)
            if high - low < 2:
                continue
            # Skip-gram predicts every word around the place, CBOW only the word at the place.
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
                    recorded += 1
                pairs += 1
                _move_hidden(room, count if settings.divide_mean else 1)
            if settings.is_cbow:
                _move(kept, low, high, place, tables, room)
            else:
                _move(kept, place, place + 1, -1, tables, room)
    return loss, recorded
