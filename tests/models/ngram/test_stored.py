"""Counts and models in files: read back bit for bit, and nothing inconsistent accepted."""

from collections.abc import Callable

import numpy as np
import pytest
from counted import BEGIN, PAD, counts_of, possible

from regard.base.faults import Fault
from regard.models.ngram import NgramOptions
from regard.models.ngram.smoothing import estimate
from regard.models.ngram.stored import counts_as_arrays, counts_of_arrays, model_as_arrays, model_of_arrays

Arrays = dict[str, np.ndarray]
LINES = ["a b a", "b a c", "c a b a"]
ORDER = 3


def stored() -> tuple[Arrays, np.ndarray]:
    counts = counts_of(LINES, ORDER)
    can_be = possible(counts.trie.size)
    model = estimate(NgramOptions(order=ORDER, smoothing="add-k"), counts, BEGIN, can_be)
    return {name: array.copy() for name, array in model_as_arrays(model).items()}, can_be


def test_counts_come_back_to_the_bit() -> None:
    counts = counts_of(LINES, ORDER)
    again = counts_of_arrays(counts_as_arrays(counts), ORDER, counts.trie.size)
    for before, after in zip([*counts.counts, *counts.trie.keys], [*again.counts, *again.trie.keys], strict=True):
        np.testing.assert_array_equal(before, after)


def test_a_model_comes_back_to_the_bit() -> None:
    arrays, can_be = stored()
    again = model_as_arrays(model_of_arrays(arrays, ORDER, can_be))
    assert again.keys() == arrays.keys()
    for name, array in arrays.items():
        np.testing.assert_array_equal(array, again[name])


def remove(arrays: Arrays) -> None:
    del arrays["backoffs.2"]


def shorten(arrays: Arrays) -> None:
    arrays["log_probabilities.3"] = arrays["log_probabilities.3"][:-1]


def widen(arrays: Arrays) -> None:
    arrays["log_probabilities.2"] = arrays["log_probabilities.2"].astype(np.float64)


def disorder(arrays: Arrays) -> None:
    arrays["keys.2"] = arrays["keys.2"][::-1].copy()


def lead_out(arrays: Arrays) -> None:
    arrays["keys.3"][-1] = 10**9


def go_negative(arrays: Arrays) -> None:
    arrays["keys.2"][0] = -1


def exceed_one(arrays: Arrays) -> None:
    arrays["log_probabilities.2"][0] = 0.5


def be_no_number(arrays: Arrays) -> None:
    arrays["log_probabilities.3"][0] = np.nan


def weigh_infinitely(arrays: Arrays) -> None:
    arrays["backoffs.1"][0] = np.inf


def predict_padding(arrays: Arrays) -> None:
    arrays["log_probabilities.1"][PAD] = -1


def add_another(arrays: Arrays) -> None:
    arrays["keys.4"] = arrays["keys.3"]


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (remove, "'backoffs.2' is missing or has the wrong size or type"),
        (shorten, "'log_probabilities.3' is missing or has the wrong size or type"),
        (widen, "'log_probabilities.2' is missing or has the wrong size or type"),
        (disorder, "its 2-grams are not in order"),
        (lead_out, "its 3-grams are not in order, or do not belong to its vocabulary"),
        (go_negative, "its 2-grams are not in order, or do not belong to its vocabulary"),
        (exceed_one, "some of its probabilities are invalid"),
        (be_no_number, "some of its probabilities are invalid"),
        (weigh_infinitely, "some of its back-off weights are not numbers"),
        (predict_padding, "it predicts tokens that can never occur"),
        (add_another, "it has arrays that belong to none of its orders"),
    ],
)
def test_inconsistent_weights_are_refused(damage: Callable[[Arrays], None], sentence: str) -> None:
    arrays, can_be = stored()
    damage(arrays)
    with pytest.raises(Fault, match=f"^The weights are not those of this n-gram model: {sentence}"):
        model_of_arrays(arrays, ORDER, can_be)
