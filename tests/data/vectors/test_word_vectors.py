"""Words with vectors: lookup, similarity, and refusals."""

import numpy as np
import pytest

from regard.base.faults import Fault
from regard.data.vectors.word_vectors import WordVectors


def vectors(words: str, rows: list[list[float]]) -> WordVectors:
    return WordVectors(words.split(), np.array(rows, dtype=np.float32))


def test_words_are_looked_up_by_name():
    small = vectors("rei rainha", [[1, 2, 3], [4, 5, 6]])
    assert len(small) == 2
    assert small.width == 3
    assert "rei" in small
    assert "rainho" not in small
    assert small["rainha"].tolist() == [4, 5, 6]
    with pytest.raises(KeyError):
        small["rainho"]


def test_cosines_are_those_on_paper():
    small = vectors("east north northeast nowhere", [[2, 0], [0, 3], [5, 5], [0, 0]])
    cosines = small.cosines(np.array([[7, 0], [0, 0]]))
    np.testing.assert_allclose(cosines, [[1, 0, 0.5**0.5, 0], [0, 0, 0, 0]], atol=1e-7)
    np.testing.assert_allclose(small.units(slice(1, 3)), [[0, 1], [0.5**0.5, 0.5**0.5]], atol=1e-7)
    assert small.units(np.array([3])).tolist() == [[0, 0]]


def test_what_does_not_fit_is_refused():
    with pytest.raises(Fault, match="The word 'a' has two vectors"):
        vectors("a b a", [[1], [2], [3]])
    with pytest.raises(Fault, match="There are no word vectors"):
        WordVectors([], np.zeros((0, 5), dtype=np.float32))
    with pytest.raises(ValueError, match="Every word needs one vector: there are 1 words and 2 vectors"):
        vectors("a", [[1], [2]])
    with pytest.raises(ValueError, match="float32"):
        WordVectors(["a"], np.zeros((1, 5)))
