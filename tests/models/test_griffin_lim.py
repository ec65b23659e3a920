"""Sounds from magnitudes alone: what stays unchanged, what never grows, and what is recovered."""

import math
from itertools import pairwise

import torch

from regard.models.griffin_lim import griffin_lim, sound_of, spectrum, unmix_bands, with_phases_of

WINDOW, HOP, RATE = torch.hann_window(256, dtype=torch.float64), 64, 8000


def noise(count: int) -> torch.Tensor:
    return torch.randn(count, dtype=torch.float64, generator=torch.Generator().manual_seed(1))


def test_magnitudes_of_a_sound_with_its_own_phases_are_a_fixed_point() -> None:
    sound = noise(64 * 30)
    spectra = spectrum(sound, WINDOW, HOP)
    torch.testing.assert_close(with_phases_of(spectra.abs(), spectra), spectra)
    torch.testing.assert_close(sound_of(spectra, WINDOW, HOP), sound)


def test_the_distance_to_what_is_wanted_never_grows() -> None:
    magnitudes = noise(129 * 12).abs().reshape(129, 12)  # no sound has these
    sounds = [griffin_lim(magnitudes, WINDOW, HOP, rounds) for rounds in range(8)]
    distances = [float((spectrum(sound, WINDOW, HOP).abs() - magnitudes).square().sum()) for sound in sounds]
    assert all(after < before for before, after in pairwise(distances))


def test_a_sine_comes_back_at_its_frequency_and_as_loud() -> None:
    time = torch.arange(RATE, dtype=torch.float64) / RATE
    tone = 0.5 * (2 * math.pi * 1000 * time).sin()
    back = griffin_lim(spectrum(tone, WINDOW, HOP).abs(), WINDOW, HOP, rounds=20)
    assert len(back) == RATE
    assert int(torch.fft.rfft(back).abs().argmax()) == 1000  # hertz, for a sound of one second
    assert math.isclose(float(back.square().mean()), float(tone.square().mean()), rel_tol=0.02)


def test_the_same_magnitudes_give_the_same_sound() -> None:
    magnitudes = noise(129 * 5).abs().reshape(129, 5)
    assert torch.equal(griffin_lim(magnitudes, WINDOW, HOP, 3), griffin_lim(magnitudes, WINDOW, HOP, 3))


def test_bins_that_bands_determine_are_found_and_others_are_shared_evenly() -> None:
    alone = torch.tensor([[1.0, 0.0], [0.0, 2.0]])
    torch.testing.assert_close(unmix_bands(torch.tensor([[3.0], [4.0]]), alone, 1), torch.tensor([[3.0], [2.0]]))
    both = torch.tensor([[1.0, 1.0]])
    torch.testing.assert_close(unmix_bands(torch.tensor([[3.0]]), both, 5), torch.tensor([[1.5], [1.5]]))


def test_unmixed_bins_are_never_negative_and_come_nearer_to_the_bands() -> None:
    filters, bands = noise(5 * 17).abs().reshape(5, 17), noise(5 * 3).abs().reshape(5, 3)
    estimates = [unmix_bands(bands, filters, rounds) for rounds in (0, 1, 10, 100)]
    distances = [float((filters @ bins - bands).norm()) for bins in estimates]
    assert distances == sorted(distances, reverse=True)
    assert all(bool((bins >= 0).all()) for bins in estimates)
