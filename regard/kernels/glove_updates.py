"""GloVe on a CPU, compiled by numba: pair by pair, each an AdaGrad step on its two rows."""

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numba.extending import register_jitable

from regard.kernels.prefetching import ask_for_row

_AHEAD = 2  # pairs after the current one, whose rows are prefetched


class GloVeTables(NamedTuple):
    """The learnt tables, and the sums of their squared gradients."""

    centres: np.ndarray
    contexts: np.ndarray
    centre_biases: np.ndarray
    context_biases: np.ndarray
    centres_sums: np.ndarray
    contexts_sums: np.ndarray
    centre_biases_sums: np.ndarray
    context_biases_sums: np.ndarray


@register_jitable
def _step(values, sums, place, gradient, rate):
    """AdaGrad: update the sum of squared gradients, then take a step divided by its root (Duchi et al. 2011)."""
    sums[place] += gradient * gradient
    values[place] -= rate * gradient / math.sqrt(sums[place])


@njit(nogil=True, cache=True, error_model="numpy", fastmath={"reassoc", "contract", "arcp", "nsz"})
def learn_pairs(rows, columns, logarithms, shares, tables, rate):
    """Learn from word pairs with the logarithms of their counts, weighted by their shares; return the total loss."""
    scratch = np.zeros(2, tables.centres.dtype)
    scratch[1] = rate
    rate = scratch[1]
    total = 0.0
    for pair in range(len(rows)):
        row, column = rows[pair], columns[pair]
        coming = min(pair + _AHEAD, len(rows) - 1)
        ask_for_row(tables.centres, rows[coming])
        ask_for_row(tables.centres_sums, rows[coming])
        ask_for_row(tables.contexts, columns[coming])
        ask_for_row(tables.contexts_sums, columns[coming])
        centre, context = tables.centres[row], tables.contexts[column]
        centre_sums, context_sums = tables.centres_sums[row], tables.contexts_sums[column]
        error = tables.centre_biases[row] + tables.context_biases[column] - logarithms[pair]
        for unit in range(len(centre)):
            error += centre[unit] * context[unit]
        total += 0.5 * shares[pair] * error * error
        scratch[0] = shares[pair] * error
        slope = scratch[0]
        for unit in range(len(centre)):
            of_centre, of_context = slope * context[unit], slope * centre[unit]
            _step(centre, centre_sums, unit, of_centre, rate)
            _step(context, context_sums, unit, of_context, rate)
        _step(tables.centre_biases, tables.centre_biases_sums, row, slope, rate)
        _step(tables.context_biases, tables.context_biases_sums, column, slope, rate)
    return total
