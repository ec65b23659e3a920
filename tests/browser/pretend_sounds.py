"""Fake models for speech and transcription.

A text is spoken as a tone of a tenth of a second per letter. A sound is transcribed as *a*, once per byte, each for a
tenth of a second. A letter is attended to while it is spoken.
"""

from base64 import b64decode, b64encode
from typing import Any

import numpy as np

from regard.data.sounds.files import sound_file
from regard.viewing.frames import FrameLooks, frames_data
from regard.viewing.seen import Block

RATE, SECONDS = 8000, 0.1  # of a letter


def speak(question: dict[str, Any]) -> dict[str, Any]:
    """Return the answer of /v1/speak; a text that ends in dots has no end."""
    text = question["text"]
    speech = {"text": text, "speaker": question["speaker"], "seconds": SECONDS * len(text)}
    sound = {**speech, "ended": not text.endswith("…"), "wav": b64encode(sound_file(_tone(len(text)), RATE)).decode()}
    return {"model": question["model"], "seconds": 0.02, "sounds": [sound]}


def transcribe(question: dict[str, Any]) -> dict[str, Any]:
    """Return the answer of /v1/transcribe."""
    (sound,) = question["sounds"]
    count = len(b64decode(sound["sound"]))
    alignment = [["a", round(SECONDS * place, 4), round(SECONDS * (place + 1), 4)] for place in range(count)]
    transcript = {"text": "a" * count, "score": -0.5, "alignment": alignment}
    return {"model": question["model"], "seconds": 0.02, "transcripts": [transcript]}


def look_over_time(given: Any) -> dict[str, Any]:
    """Return the answer of /v1/look for a spoken text or a sound."""
    rows = [*given] if isinstance(given, str) else ["a"] * len(b64decode(given["sound"]))
    block = Block("decoder.look", np.eye(len(rows))[None])
    looks = FrameLooks("The sound", _tone(len(rows)), RATE, SECONDS, rows, [block])
    return {"view": "frames", "looks": frames_data(looks)}


def _tone(letters: int) -> np.ndarray:
    return np.sin(np.arange(int(letters * SECONDS * RATE)) / 5).astype(np.float32) / 2
