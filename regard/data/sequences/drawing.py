"""Generated examples of two tasks, as pure functions of a key: the adding problem and delayed copying."""

from collections.abc import Sequence

import numpy as np

from regard.data.sequences.options import SequenceData

Drawn = tuple[np.ndarray, np.ndarray]  # inputs and targets


def draw_examples(options: SequenceData, count: int, key: Sequence[int]) -> Drawn:
    """Draw `count` examples; the same key gives the same ones."""
    chance = np.random.default_rng(list(key))
    return draw_sums(options.length, count, chance) if options.job == "adding" else draw_copies(options, count, chance)


def draw_sums(length: int, count: int, chance: np.random.Generator) -> Drawn:
    """Draw random numbers from 0 to 1 with one marked in each half; the target is the sum of those two.

    Hochreiter and Schmidhuber 1997, experiment 4, in the form of Le et al. 2015 and Arjovsky et al. 2016: always
    `length` numbers. Always answering 1 has a mean squared error of 1/6.
    """
    inputs = np.zeros((count, length, 2), np.float32)
    inputs[:, :, 0] = chance.random((count, length), np.float32)
    rows, half = np.arange(count), length // 2
    marked = [chance.integers(0, half, count), chance.integers(half, length, count)]
    for places in marked:
        inputs[rows, places, 1] = 1.0
    return inputs, inputs[rows, marked[0], 0] + inputs[rows, marked[1], 0]


def draw_copies(options: SequenceData, count: int, chance: np.random.Generator) -> Drawn:
    """Draw symbols to remember, `length` empty steps, the last of which asks for them, and as many steps to write them.

    Arjovsky et al. 2016, section 5.1: with n symbols of k kinds to remember, there are T + 2n steps. Symbols are 1 to
    k, 0 is empty, and k + 1 asks. The target is empty, and the symbols at the last n steps. A model that has forgotten
    them and guesses any of the k has a loss of n log k / (T + 2n).
    """
    return frame_copies(options, chance.integers(1, options.symbols + 1, (count, options.remembered)))


def frame_copies(options: SequenceData, symbols: np.ndarray) -> Drawn:
    """Return the inputs and targets for rows of symbols to copy."""
    count, remembered = symbols.shape
    inputs = np.zeros((count, options.length + 2 * remembered), np.int64)
    targets = np.zeros_like(inputs)
    inputs[:, :remembered] = symbols
    inputs[:, -remembered - 1] = options.symbols + 1
    targets[:, -remembered:] = symbols
    return inputs, targets
