"""Principal components of features: their effect on new features, and refusals."""

import io
from typing import Any

import numpy as np
import pytest

from regard.base.faults import Fault
from regard.data.captions.components import open_components


def packed(**arrays: Any) -> bytes:
    content = io.BytesIO()
    np.savez(content, **arrays)
    return content.getvalue()


GOOD = {"mean": np.array([1.0, 0.0, 0.0]), "proj": np.eye(3)[:, :2], "step": 0.5}


def test_features_lose_their_mean_and_become_whole_steps() -> None:
    components = open_components(packed(**GOOD), "components.npz")
    reduced = components.reduce(np.array([[2.3, -0.6, 9.0], [1.0, 1000.0, 0.0]]))
    assert reduced.tolist() == [[1.5, -0.5], [0.0, 63.5]]  # eight bits hold at most 127 steps


def test_features_of_another_network_are_refused() -> None:
    with pytest.raises(Fault, match="components of this model reduce 3 numbers per place, but there are 4"):
        open_components(packed(**GOOD), "components.npz").reduce(np.zeros((49, 4)))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"no archive", "is not an .npz file with the arrays 'mean', 'proj' and 'step' in it"),
        (packed(mean=GOOD["mean"], step=1.0), "is not an .npz file with the arrays"),
        (packed(**GOOD | {"proj": np.array([{"code": 1}], dtype=object)}), "is not an .npz file with the arrays"),
        (packed(**GOOD | {"mean": np.zeros(4)}), "do not fit each other"),
        (packed(**GOOD | {"step": 0.0}), "a step that is not above 0"),
        (packed(**GOOD | {"mean": np.array([np.nan, 0, 0])}), "numbers that are not finite"),
    ],
)
def test_files_that_hold_no_components_are_refused(content: bytes, words: str) -> None:
    with pytest.raises(Fault, match=rf"components\.npz .*{words}|components\.npz {words}"):
        open_components(content, "components.npz")
