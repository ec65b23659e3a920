"""Griffin and Lim 1984: reconstruct a sound from the magnitudes of its spectrogram, without the phases."""

import math

import torch
from jaxtyping import Complex, Float
from torch import Tensor

from regard.base.pauses import between_steps

Window = Float[Tensor, " window"]


def spectrum(sound: Float[Tensor, " sample"], window: Window, hop: int) -> Complex[Tensor, "bin frame"]:
    """Return the short-time spectrum of a sound, frame t around sample t·hop, with silence before and behind it."""
    return torch.stft(sound, len(window), hop, window=window, pad_mode="constant", return_complex=True)


def sound_of(spectra: Complex[Tensor, "bin frame"], window: Window, hop: int) -> Float[Tensor, " sample"]:
    """Return the sound whose spectrum is nearest by least squares (equation 6): Σ w·frame / Σ w²."""
    return torch.istft(spectra, len(window), hop, window=window)


def griffin_lim(
    magnitudes: Float[Tensor, "bin frame"], window: Window, hop: int, rounds: int
) -> Float[Tensor, " sample"]:
    """Return a sound with nearly these magnitudes, by repeatedly combining them with the phases of the result:

        x ← sound_of(S · Z / |Z|),   Z = spectrum(x)                                             (equation 9)

    ‖ S − |spectrum(x)| ‖² never grows, and the magnitudes of a real sound with its own phases stay unchanged. The
    initial phases are those of steady tones: a bin turns by 2π·bin·hop/window from one frame to the next. There is no
    randomness, so the same magnitudes always give the same sound.
    """
    bins, frames = magnitudes.shape
    turns = torch.outer(torch.arange(bins), torch.arange(frames)).to(magnitudes) * (2 * math.pi * hop / len(window))
    sound = sound_of(torch.polar(magnitudes, turns), window, hop)
    for _ in range(rounds):
        between_steps()
        sound = sound_of(with_phases_of(magnitudes, spectrum(sound, window, hop)), window, hop)
    return sound


def with_phases_of(
    magnitudes: Float[Tensor, "bin frame"], spectra: Complex[Tensor, "bin frame"]
) -> Complex[Tensor, "bin frame"]:
    """Combine these magnitudes with the phases of the spectra."""
    return torch.polar(magnitudes, spectra.angle())


def unmix_bands(
    bands: Float[Tensor, "band frame"], filters: Float[Tensor, "band bin"], rounds: int
) -> Float[Tensor, "bin frame"]:
    """Return x ≥ 0 for which filters · x is nearest to `bands` by least squares.

        x ← x · (Fᵀ b) / (Fᵀ F x)                                                (Lee and Seung 2001, theorem 1)

    There are fewer bands than bins, so many x are equally near; the search starts with each band spread evenly.
    """
    spread = filters / filters.sum(dim=1, keepdim=True).clamp(min=torch.finfo(filters.dtype).tiny)
    bins, target, mixing = spread.mT @ bands, filters.mT @ bands, filters.mT @ filters
    for _ in range(rounds):
        between_steps()
        bins = bins * target / (mixing @ bins).clamp(min=torch.finfo(bins.dtype).tiny)
    return bins
