"""Log-mel features: the loudness of a sound over time, in bands that are narrow where ears distinguish pitches."""

import math

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from regard.attention.masks import real_places

SOFTEST = 1e-6  # power added to each band, so that silence has a logarithm


class LogMel(nn.Module):
    """log(F · |STFT(x)|² + ε): the power of a sound in bands of the mel scale, frame t around sample t·hop.

    `window` and `hop` are in samples. A sound is surrounded by silence, so that nothing of it is lost and padding
    changes nothing. `filters` (band, bin) are triangles of height 1 over bins of the spectrum.
    """

    window: Tensor
    filters: Tensor

    def __init__(self, rate: int, window: int, hop: int, bands: int) -> None:
        super().__init__()
        self.rate, self.hop, self.bands = rate, hop, bands
        # They follow from the sizes, so they are not saved with the model.
        self.register_buffer("window", torch.hann_window(window), persistent=False)
        self.register_buffer("filters", mel_filters(rate, window, bands), persistent=False)

    def forward(self, sounds: Float[Tensor, "batch sample"]) -> Float[Tensor, "batch frame band"]:
        """Compute the features in at least float32, whatever the precision of the network that reads them."""
        precision = torch.promote_types(self.window.dtype, torch.float32)
        window, filters = self.window.to(precision), self.filters.to(precision)
        with torch.autocast(sounds.device.type, enabled=False):
            spectra = torch.stft(
                sounds.to(precision), len(window), self.hop, window=window, pad_mode="constant", return_complex=True
            )
            power = spectra.real.square() + spectra.imag.square()
            return (filters @ power + SOFTEST).log().transpose(1, 2)

    def frame_counts(self, lengths: Int[Tensor, " batch"]) -> Int[Tensor, " batch"]:
        """Return the number of frames of sounds with these numbers of samples."""
        return 1 + lengths // self.hop


def mel_filters(rate: int, window: int, bands: int) -> Float[Tensor, "band bin"]:
    """Return triangles whose corners are evenly spaced on mel(f) = 2595·log10(1 + f/700), from 0 to half the rate."""
    highest = 2595 * math.log10(1 + rate / 2 / 700)
    corners = 700 * (10 ** (torch.linspace(0, highest, bands + 2, dtype=torch.float64) / 2595) - 1)
    bins = torch.linspace(0, rate / 2, window // 2 + 1, dtype=torch.float64)
    below, middle, above = corners[:-2, None], corners[1:-1, None], corners[2:, None]
    rising, falling = (bins - below) / (middle - below), (above - bins) / (above - middle)
    return torch.minimum(rising, falling).clamp(min=0).float()


def standardise(
    frames: Float[Tensor, "batch frame band"], counts: Int[Tensor, " batch"]
) -> Float[Tensor, "batch frame band"]:
    """Scale each band of each row to mean 0 and deviation 1 over its real frames; padding becomes 0.

    This removes the loudness of a recording and the coloration of its microphone.
    """
    real = real_places(counts, frames.shape[1])[..., None]
    count = counts[:, None, None].to(frames.dtype)
    centred = (frames - (frames * real).sum(1, keepdim=True) / count) * real
    return centred / ((centred.square().sum(1, keepdim=True) / count).sqrt() + 1e-3)
