"""Read wav and flac files as one channel at a requested rate."""

from io import BytesIO
from math import ceil, gcd
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from regard.base.extras import importing
from regard.base.faults import Fault
from regard.base.pauses import between_steps

if TYPE_CHECKING:
    import soundfile

FORMATS = ("WAV", "WAVEX", "FLAC")
LONGEST = 600  # seconds of a sound
LOWEST_RATE, HIGHEST_RATE = 1000, 384_000  # samples per second
MOST_SAMPLES = LONGEST * 48_000  # per channel
MOST_CHANNELS = 64
FULL_SCALE = 2**15  # divisor of 16-bit samples
_BLOCK = 2**16


def read_sound(source: Path | bytes, rate: int, name: str | None = None) -> np.ndarray:
    """Return the samples of a file, or of content named `name`, from −1 to 1; channels are averaged."""
    between_steps()
    name = name or str(source)
    if isinstance(source, Path) and not source.is_file():
        raise Fault(f"{source} is a folder; name a sound file." if source.is_dir() else f"There is no file {source}.")
    with importing("sound", "Reading sound files"):
        import soundfile
    try:
        with soundfile.SoundFile(BytesIO(source) if isinstance(source, bytes) else str(source)) as file:
            _check_head(name, file)
            samples, file_rate = _mean_of_channels(file), file.samplerate
    except soundfile.LibsndfileError as error:
        raise Fault(f"{name} cannot be read as a wav or flac file: {error.error_string}") from None
    if not len(samples):
        raise Fault(f"{name} is empty: it has no samples.")
    if not np.isfinite(samples).all():
        raise Fault(f"{name} is a damaged sound: it holds samples that are not numbers.")
    return resample(samples, file_rate, rate)


def _mean_of_channels(file: "soundfile.SoundFile") -> np.ndarray:
    """Read all samples into one array; memory is used only for samples that exist."""
    samples, end = np.empty(file.frames, np.float32), 0
    for block in file.blocks(_BLOCK, dtype="float32", always_2d=True):
        samples[end : end + len(block)] = block.mean(axis=1)
        end += len(block)
    return samples[:end]


def _check_head(name: str, file: "soundfile.SoundFile") -> None:
    if file.format not in FORMATS:
        raise Fault(f"{name} is a sound in the format {file.format}; wav and flac can be read.")
    if not LOWEST_RATE <= file.samplerate <= HIGHEST_RATE or file.channels > MOST_CHANNELS:
        raise Fault(
            f"{name} has {file.samplerate:,} samples per second and {file.channels} channels; only "
            f"{LOWEST_RATE:,} to {HIGHEST_RATE:,} samples and at most {MOST_CHANNELS} channels can be read."
        )
    if file.frames > LONGEST * file.samplerate:
        raise Fault(f"{name} lasts {file.frames / file.samplerate:,.0f} seconds; at most {LONGEST} can be read.")
    if file.frames > MOST_SAMPLES:
        raise Fault(
            f"{name} has {file.frames:,} samples, {file.samplerate:,} per second; at most {MOST_SAMPLES:,} "
            "can be read. Save it at a lower rate, such as 16,000."
        )


def sound_file(samples: np.ndarray, rate: int) -> bytes:
    """Return the content of a 16-bit wav file with these samples, clipped at −1 and 1."""
    with importing("sound", "Writing sound files"):
        import soundfile
    content = BytesIO()
    soundfile.write(content, to_16_bits(samples), rate, format="WAV", subtype="PCM_16")
    return content.getvalue()


def to_16_bits(samples: np.ndarray) -> np.ndarray:
    """Convert samples from −1 to 1 to 16-bit integers."""
    return np.clip(np.rint(samples * FULL_SCALE), -FULL_SCALE, FULL_SCALE - 1).astype(np.int16)


def from_16_bits(samples: np.ndarray) -> np.ndarray:
    """Convert 16-bit integers to samples from −1 to 1."""
    return samples.astype(np.float32) / FULL_SCALE


CROSSINGS = 16  # zeros of the sinc on either side; more are sharper at high frequencies, and slower
ROLL_OFF = 0.95  # share of the highest frequency that both rates can hold; above it, sound fades out


def resample(samples: np.ndarray, rate: int, new_rate: int) -> np.ndarray:
    """Resample from `rate` to `new_rate` samples per second, rounding their number up and removing high frequencies.

        y(n) = Σ_k x(k) h(n·rate/new_rate − k),   h(t) = c·sinc(c·t)·w(t),   c = ROLL_OFF · min(1, new_rate/rate)

    with a Hann window w. As n grows, the fraction of n·rate/new_rate takes only a few values, each with its own taps.
    The taps of a fraction are divided by their sum, so that a constant sound stays constant.
    """
    if rate == new_rate or not len(samples):
        return samples
    up, down = new_rate // gcd(rate, new_rate), rate // gcd(rate, new_rate)
    cutoff = ROLL_OFF * min(1.0, up / down)
    half = ceil(CROSSINGS / cutoff)
    count = -(-len(samples) * up // down)
    resampled = np.empty(count, samples.dtype)
    # The last sample of the first phase may lie one step of `down` before the end; pad by half a filter more.
    windows = sliding_window_view(np.pad(samples, (half, half + down)), 2 * half + 1)
    for phase in range(min(up, count)):
        between_steps()
        first, fraction = divmod(phase * down, up)
        times = fraction / up - np.arange(-half, half + 1)
        taps = np.sinc(cutoff * times) * np.cos(np.clip(times / (half + 1), -1, 1) * np.pi / 2) ** 2
        places = len(range(phase, count, up))
        resampled[phase::up] = windows[first::down][:places] @ (taps / taps.sum()).astype(samples.dtype)
    return resampled
