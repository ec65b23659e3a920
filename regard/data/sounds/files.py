"""Read wav and flac files as one channel at a requested rate."""

from io import BytesIO
from math import ceil, gcd
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from regard.base.extras import importing
from regard.base.faults import Fault
from regard.base.figures import quantity
from regard.base.pauses import between_steps

if TYPE_CHECKING:
    import soundfile

FORMATS = ("WAV", "WAVEX", "FLAC")
LONGEST = 600  # seconds of a sound
LOWEST_RATE, HIGHEST_RATE = 1000, 384_000  # samples per second
MOST_SAMPLES = LONGEST * 48_000  # per channel
MOST_CHANNELS = 64
FULL_SCALE = 2**15  # divisor of 16-bit samples
LOUDEST = 4.0  # largest sample of a float file; a mix may exceed 1 a little, which is clipped
_BLOCK = 2**16
_ENDLESS = 2**31 - 2**16  # bytes that programs promise in a wav header if they cannot know how many will follow
_MOST_CHUNKS = 1000  # of a wav file, before its samples
_SPARE = 64  # bytes; some programs count the header among the samples


def read_sound(source: Path | bytes, rate: int, name: str | None = None) -> np.ndarray:
    """Return the samples of a file, or of content named `name`, from −1 to 1; channels are averaged.

    Float files may exceed 1 a little and resampling may too: both are clipped, in training as in use.
    """
    between_steps()
    name = name or str(source)
    if isinstance(source, Path):
        _check_file(source)
    if not (source.stat().st_size if isinstance(source, Path) else len(source)):
        raise Fault(f"{name} is empty: it has no bytes.")
    with importing("sound", "Reading sound files"):
        import soundfile
    try:
        with soundfile.SoundFile(BytesIO(source) if isinstance(source, bytes) else str(source)) as file:
            _check_head(name, file)
            _refuse_cut(name, source)
            samples, file_rate = _mean_of_channels(name, file), file.samplerate
    except soundfile.LibsndfileError as error:
        reason = error.error_string or "it is damaged or cut short."
        raise Fault(f"{name} cannot be read as a wav or flac file: {reason}") from None
    if not len(samples):
        raise Fault(f"{name} is empty: it has no samples.")
    return np.clip(resample(samples, file_rate, rate), -1, 1)


def _check_file(path: Path) -> None:
    if path.is_dir():
        raise Fault(f"{path} is a folder; name a sound file.")
    if not path.exists():
        raise Fault(f"There is no file {path}.")
    if not path.is_file():
        raise Fault(f"{path} is a pipe or a device, not an ordinary file; save the sound as a file first.")


def _mean_of_channels(name: str, file: "soundfile.SoundFile") -> np.ndarray:
    """Read all samples into one array; memory is used only for samples that exist."""
    samples, end = np.empty(file.frames, np.float32), 0
    for block in file.blocks(_BLOCK, dtype="float32", always_2d=True):
        _check_samples(name, block)
        samples[end : end + len(block)] = block.mean(axis=1)
        end += len(block)
    if end < file.frames:
        raise _cut(name, f"{file.frames:,} samples", f"{end:,}")
    return samples


def _check_samples(name: str, samples: np.ndarray) -> None:
    if not np.isfinite(samples).all():
        raise Fault(f"{name} is a damaged sound: it holds samples that are not numbers.")
    largest = float(np.abs(samples).max(initial=0))
    if largest > LOUDEST:
        raise Fault(f"{name} has samples as large as {largest:.6g}; scale them to lie between −1 and 1.")


def _refuse_cut(name: str, source: Path | bytes) -> None:
    """Refuse a wav file that ends before the samples which its header promises; libsndfile reads what is there."""
    with BytesIO(source) if isinstance(source, bytes) else source.open("rb") as stream:
        promised = _promised_bytes(stream)
        place = stream.tell()
        there = stream.seek(0, 2) - place
    if there + _SPARE < promised < _ENDLESS:
        raise _cut(name, f"{promised:,} bytes of samples", f"{there:,}")


def _cut(name: str, promised: str, there: str) -> Fault:
    return Fault(f"{name} is cut short: its header promises {promised}, but it holds {there}. Copy or save it again.")


def _promised_bytes(stream: BinaryIO) -> int:
    """Return the bytes of samples that a wav header promises, with the stream at the first; 0 for other files."""
    form = stream.read(12)
    if form[:4] not in (b"RIFF", b"RIFX"):
        return 0
    for _ in range(_MOST_CHUNKS):
        head = stream.read(8)
        size = int.from_bytes(head[4:], "little" if form[:4] == b"RIFF" else "big")
        if len(head) < 8 or head[:4] == b"data":
            return size
        stream.seek(size + size % 2, 1)
    return 0


def _check_head(name: str, file: "soundfile.SoundFile") -> None:
    if file.format not in FORMATS:
        raise Fault(f"{name} is a sound in the format {file.format}; wav and flac can be read.")
    if not LOWEST_RATE <= file.samplerate <= HIGHEST_RATE or file.channels > MOST_CHANNELS:
        found = f"{quantity(file.samplerate, 'sample')} per second and {quantity(file.channels, 'channel')}"
        raise Fault(
            f"{name} has {found}; only "
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
