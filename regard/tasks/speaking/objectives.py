"""What is minimised: the distance of the frames before and after the post-net, the surprise at the stops, a guide."""

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor

from regard.attention.masks import real_places
from regard.models.tacotron import Speech

GUIDE_WIDTH = 0.2  # share of a text by which a look may stray before it costs much (Tachibana et al. 2018: g)


def distances(
    speech: Speech, frames: Float[Tensor, "batch frame band"], lengths: Int[Tensor, " batch"]
) -> tuple[Float[Tensor, " batch"], Float[Tensor, " batch"]]:
    """Σ over frames of the mean |ŷ − y| over bands, before and after the post-net (Wang et al. 2017, section 4.2)."""
    real = real_places(lengths, frames.shape[1])
    found = [((spoken - frames).abs().mean(-1) * real).sum(-1) for spoken in (speech.before, speech.after)]
    return found[0], found[1]


def stop_surprise(stops: Float[Tensor, "batch step"], steps: Int[Tensor, " batch"]) -> Float[Tensor, " batch"]:
    """−Σ log p of whether each step is the last one (Shen et al. 2018, section 2.2)."""
    is_last = torch.arange(stops.shape[1], device=stops.device) == steps.unsqueeze(1) - 1
    surprise = F.binary_cross_entropy_with_logits(stops, is_last.to(stops.dtype), reduction="none")
    return (surprise * real_places(steps, stops.shape[1])).sum(-1)


def straying(
    looks: Float[Tensor, "batch step symbol"], steps: Int[Tensor, " batch"], symbols: Int[Tensor, " batch"]
) -> Float[Tensor, " batch"]:
    """Σ_ti a_ti (1 − exp(−(i/I − t/T)² / 2g²)): looks far from the diagonal (Tachibana et al. 2018, equation 4)."""
    step, symbol = (torch.arange(size, device=looks.device) for size in looks.shape[1:])
    along_sound, along_text = step / steps.unsqueeze(1), symbol / symbols.unsqueeze(1)
    apart = along_text.unsqueeze(1) - along_sound.unsqueeze(2)
    cost = 1 - (-apart.square() / (2 * GUIDE_WIDTH**2)).exp()
    return (looks * cost).sum(-1).mul(real_places(steps, looks.shape[1])).sum(-1)
