"""Log-mel features: tones fall into their bands, and silence around a sound changes nothing."""

import math

import torch

from regard.models.log_mel import SOFTEST, LogMel, mel_filters, standardise

RATE = 8000


def tone(hertz: float, samples: int = 4000) -> torch.Tensor:
    return torch.sin(2 * math.pi * hertz * torch.arange(samples) / RATE)[None]


def test_filters_are_triangles_that_reach_to_the_middles_of_their_neighbours() -> None:
    filters = mel_filters(RATE, 256, 10)
    assert filters.shape == (10, 129)
    assert (filters.amax(1) > 0.5).all()
    inner = filters[:, filters[0].argmax() + 1 : filters[-1].argmax()].sum(0)
    torch.testing.assert_close(inner, torch.ones_like(inner))  # one band's loss is its neighbour's gain


def test_a_higher_tone_is_loudest_in_a_higher_band() -> None:
    features = LogMel(RATE, 256, 80, 20)
    loudest = [int(features(tone(hertz))[0].mean(0).argmax()) for hertz in (200, 500, 1000, 2000, 3500)]
    assert loudest == sorted(set(loudest))


def test_silence_is_the_logarithm_of_what_is_added() -> None:
    torch.testing.assert_close(LogMel(RATE, 256, 80, 8)(torch.zeros(1, 800)), torch.full((1, 11, 8), math.log(SOFTEST)))


def test_silence_behind_a_sound_changes_none_of_its_frames() -> None:
    features = LogMel(RATE, 256, 80, 20)
    sound = tone(440, 1000)
    counts = features.frame_counts(torch.tensor([1000]))
    padded = features(torch.cat([sound, torch.zeros(1, 500)], dim=1))
    torch.testing.assert_close(padded[:, : int(counts)], features(sound))


def test_features_are_those_of_float32_whatever_the_precision_of_the_network() -> None:
    features = LogMel(RATE, 256, 80, 20)
    expected = features(tone(440))
    assert features.to(torch.bfloat16)(tone(440)).dtype == expected.dtype


def test_standardised_bands_have_mean_zero_and_deviation_one_over_their_own_frames() -> None:
    frames = torch.randn(2, 9, 3, generator=torch.Generator().manual_seed(0)) * 5 + 2
    features = standardise(frames, torch.tensor([9, 4]))
    for row, count in ((0, 9), (1, 4)):
        real_frames = features[row, :count]
        torch.testing.assert_close(real_frames.mean(0), torch.zeros(3), atol=1e-5, rtol=0)
        torch.testing.assert_close(real_frames.std(0, correction=0), torch.ones(3), atol=1e-3, rtol=0)
    assert not features[1, 4:].any()
