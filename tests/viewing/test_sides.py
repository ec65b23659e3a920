"""Sides: mismatched parts are refused on construction."""

import numpy as np
import pytest

from regard.viewing.sides import Cells, Nodes, Words


def test_every_token_has_a_word() -> None:
    Words(["a", "b", "c"], ["ab", "c"], [0, 0, 1])
    with pytest.raises(ValueError, match="2 places do not lead from 3 tokens"):
        Words(["a", "b", "c"], ["ab", "c"], [0, 1])
    with pytest.raises(ValueError, match="do not lead"):
        Words(["a"], ["a"], [1])


def test_a_picture_is_grey_or_has_three_colours() -> None:
    Cells(np.zeros((4, 6))), Cells(np.zeros((4, 6, 3)), (2, 3))
    for shape in [(4,), (4, 6, 4), (4, 6, 3, 1), (0, 4)]:
        with pytest.raises(ValueError, match="a picture is"):
            Cells(np.zeros(shape))


def test_every_node_has_a_class_or_none_has() -> None:
    Nodes(["a", "b"], [0], ["x", "y"])
    with pytest.raises(ValueError, match="1 classes do not fit 2 nodes"):
        Nodes(["a", "b"], [0], labels=["x"])
