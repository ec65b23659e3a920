"""Hiding bands and frames of a sound while training, where draws that came with the batch say."""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from regard.tasks.transcription.options import MaskOptions


def hide(
    frames: Float[Tensor, "batch frame band"],
    counts: Int[Tensor, " batch"],
    draws: Float[Tensor, "batch mask 4"],
    masks: MaskOptions,
) -> Float[Tensor, "batch frame band"]:
    """Frames with zeros, the mean of standardised ones, in some bands and over some time (Park et al. 2019).

    A draw from 0 to 1 is a share: of the widest mask there may be, and of the places where it may begin. No more than a
    fifth of a sound is hidden by one mask over frames, so that short ones are not lost.
    """
    bands, long = frames.shape[2], counts[:, None].to(draws.dtype)
    widest, longest = min(masks.bands, bands), (long / 5).clamp(max=masks.frames)
    in_bands = _within(draws[..., 0], (draws[..., 1] * (widest + 1)).floor(), bands, bands)
    in_time = _within(draws[..., 2], (draws[..., 3] * (longest + 1)).floor(), long, frames.shape[1])
    return frames * ~in_bands[:, None, :] * ~in_time[:, :, None]


def _within(
    share: Float[Tensor, "batch mask"], width: Float[Tensor, "batch mask"], extent: Tensor | int, places: int
) -> Bool[Tensor, "batch place"]:
    """Which of so many places lie in any of the masks, each so wide and at a share of where it may begin."""
    first = (share * (extent - width + 1).clamp(min=1)).floor()[..., None]
    each = torch.arange(places, device=share.device)
    return ((each >= first) & (each < first + width[..., None])).any(dim=1)
