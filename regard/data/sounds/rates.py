"""Sounds at another rate, by a windowed sinc filter for each phase of the new samples (polyphase resampling)."""

from math import ceil, gcd

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from regard.base.pauses import between_steps

CROSSINGS = 16  # zeros of the sinc on either side: more are sharper at the highest frequencies, and slower
ROLL_OFF = 0.95  # of the highest frequency that both rates can hold: what is above it fades away


def resample(samples: np.ndarray, rate: int, new_rate: int) -> np.ndarray:
    """Samples at `rate` a second as samples at `new_rate`, their number rounded up; frequencies too high for it go.

        y(n) = Σ_k x(k) h(n·rate/new_rate − k),   h(t) = c·sinc(c·t)·w(t),   c = ROLL_OFF · min(1, new_rate/rate)

    with a Hann window w. As n grows, the fraction of n·rate/new_rate takes few values only, each with its own taps.
    Those of a fraction are divided by their sum, so that a sound that stands still stays where it is.
    """
    if rate == new_rate or not len(samples):
        return samples
    up, down = new_rate // gcd(rate, new_rate), rate // gcd(rate, new_rate)
    cutoff = ROLL_OFF * min(1.0, up / down)
    half = ceil(CROSSINGS / cutoff)
    count = -(-len(samples) * up // down)
    resampled = np.empty(count, samples.dtype)
    # The last sample of the first phase may lie one step of `down` before the end; half a filter more stands behind it.
    windows = sliding_window_view(np.pad(samples, (half, half + down)), 2 * half + 1)
    for phase in range(min(up, count)):
        between_steps()
        first, fraction = divmod(phase * down, up)
        times = fraction / up - np.arange(-half, half + 1)
        taps = np.sinc(cutoff * times) * np.cos(np.clip(times / (half + 1), -1, 1) * np.pi / 2) ** 2
        places = len(range(phase, count, up))
        resampled[phase::up] = windows[first::down][:places] @ (taps / taps.sum()).astype(samples.dtype)
    return resampled
