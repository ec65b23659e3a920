"""Examples of the two jobs that are drawn, as pure functions of a key: the adding problem and copying after a delay."""

from collections.abc import Sequence

import numpy as np

from regard.data.sequences.options import SequenceData

Drawn = tuple[np.ndarray, np.ndarray]  # what is read and what is wanted


def draw_examples(options: SequenceData, count: int, key: Sequence[int]) -> Drawn:
    """So many examples; the same key gives the same ones."""
    chance = np.random.default_rng(list(key))
    return draw_sums(options.length, count, chance) if options.job == "adding" else draw_copies(options, count, chance)


def draw_sums(length: int, count: int, chance: np.random.Generator) -> Drawn:
    """Numbers from 0 to 1, one of each half of which is marked by a 1 beside it; wanted is the sum of those two.

    Hochreiter and Schmidhuber 1997, experiment 4, as Le et al. 2015 and Arjovsky et al. 2016 have it: always `length`
    numbers. Whoever answers 1 is wrong by 1/6 in the mean of squares.
    """
    read = np.zeros((count, length, 2), np.float32)
    read[:, :, 0] = chance.random((count, length), np.float32)
    rows, half = np.arange(count), length // 2
    marked = [chance.integers(0, half, count), chance.integers(half, length, count)]
    for places in marked:
        read[rows, places, 1] = 1.0
    return read, read[rows, marked[0], 0] + read[rows, marked[1], 0]


def draw_copies(options: SequenceData, count: int, chance: np.random.Generator) -> Drawn:
    """Symbols to remember, `length` steps of nothing, the last of which asks for them, and as many to write them.

    Arjovsky et al. 2016, section 5.1: with n symbols of k kinds to remember, T + 2n steps; symbols are 1 to k, nothing
    is 0, and k + 1 asks. Wanted is nothing, and at the last n steps the symbols. Whoever has forgotten them and answers
    any of the k has a loss of n log k / (T + 2n).
    """
    return frame_copies(options, chance.integers(1, options.symbols + 1, (count, options.remembered)))


def frame_copies(options: SequenceData, shown: np.ndarray) -> Drawn:
    """Rows of symbols with all that comes behind them, and what is wanted."""
    count, remembered = shown.shape
    read = np.zeros((count, options.length + 2 * remembered), np.int64)
    wanted = np.zeros_like(read)
    read[:, :remembered] = shown
    read[:, -remembered - 1] = options.symbols + 1
    wanted[:, -remembered:] = shown
    return read, wanted
