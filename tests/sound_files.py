"""Small sound files for tests: tones in place of words."""

from pathlib import Path

import numpy as np
import soundfile

TONES = {"a": 400.0, "b": 900.0, "c": 1600.0}  # hertz, by label
SPEAKERS = {"ann": 1.0, "bob": 1.15}  # factor by which a speaker's tones are higher


def tone(hertz: float, seconds: float, rate: int) -> np.ndarray:
    """Return a tone that begins at zero."""
    return 0.5 * np.sin(2 * np.pi * hertz * np.arange(round(seconds * rate)) / rate)


def write_tones(folder: Path, numbers: int = 3, rate: int = 4000) -> Path:
    """Write a folder of recordings called LABEL_SPEAKER_NUMBER.wav, each a little longer than the one before."""
    folder.mkdir(parents=True, exist_ok=True)
    for label, hertz in TONES.items():
        for speaker, factor in SPEAKERS.items():
            for number in range(numbers):
                sound = tone(hertz * factor, 0.1 + 0.01 * number, rate)
                soundfile.write(folder / f"{label}_{speaker}_{number}.wav", sound, rate, subtype="PCM_16")
    return folder
