"""Heads that form a convolution: built from one, their distance from it, and the heads that a model learnt."""

import torch
from torch import nn

from regard.attention.quadratic import QuadraticHeads, as_heads
from regard.base.faults import Fault
from regard.loading import Loaded
from regard.viewing.head_places import ConvolutionLesson, HeadPlaces

SHARPNESS = (1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0)
_CHANNELS, _SIDE = 3, 9  # of the test picture


def convolution_lesson(kernel: int, seed: int, model: Loaded | None) -> ConvolutionLesson:
    """Return the K² heads that form a K × K convolution, and the heads of each block of `model`, if given."""
    torch.manual_seed(seed)
    convolution = nn.Conv2d(_CHANNELS, _CHANNELS, kernel, padding=kernel // 2).double()
    built = _places("built from a convolution", as_heads(convolution))
    learnt = [] if model is None else _learnt(model)
    return ConvolutionLesson(
        kernel, [built, *learnt], [(alpha, _difference(convolution, alpha)) for alpha in SHARPNESS]
    )


@torch.no_grad()
def _difference(convolution: nn.Conv2d, sharpness: float) -> float:
    """Return the largest difference between a convolution and its heads on a random picture, in float64."""
    picture = torch.randn(1, _CHANNELS, _SIDE, _SIDE, dtype=torch.float64)
    attended = as_heads(convolution, sharpness)(picture.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)
    return float((attended - convolution(picture)).abs().max())


def _learnt(model: Loaded) -> list[HeadPlaces]:
    blocks = [part for part in model.task.modules() if isinstance(part, QuadraticHeads)]
    if not blocks:
        raise Fault(
            "The heads of this model do not attend by position alone; the recipe patches-mnist-places trains a model"
            " whose heads do."
        )
    return [_places(f"learnt, block {number}", block) for number, block in enumerate(blocks, 1)]


@torch.no_grad()
def _places(title: str, heads: QuadraticHeads) -> HeadPlaces:
    spreads = (2 * heads.log_sharpness.double().exp()).rsqrt()
    return HeadPlaces(title, heads.centres.double().cpu().numpy(), spreads.cpu().numpy())
