"""Strings of recordings with gaps and noise, each a pure function of a key and its number."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np

from regard.data.sounds.options import Strings
from regard.data.sounds.recordings import Recordings

_SILENCE = 1e-8  # mean square below which noise has nothing to be compared with


@dataclass(frozen=True)
class JoinedString:
    """A string: its samples, the recordings in it, and where each begins and ends, in samples."""

    samples: np.ndarray
    rows: list[int]
    spans: list[tuple[int, int]]


def by_speaker(recordings: Recordings, rows: Sequence[int]) -> dict[str, list[int]]:
    """Group the rows by speaker."""
    groups: dict[str, list[int]] = {}
    for row in rows:
        groups.setdefault(recordings.speakers[row], []).append(row)
    return groups


def join_recordings(
    recordings: Recordings,
    voices: Mapping[str, Sequence[int]],
    rate: int,
    strings: Strings,
    key: tuple[int | str, ...],
    number: int,
) -> JoinedString:
    """Return string `number` of those that `key` names, from rows of one speaker; all speakers are equally likely.

    `voices` are the rows of each speaker, as `by_speaker` returns them; `rate` is that of the recordings.
    """
    chance = _generator(key, number)
    speaker_rows = voices[sorted(voices)[chance.integers(len(voices))]]
    length = int(chance.integers(strings.shortest, strings.longest + 1))
    chosen = [speaker_rows[place] for place in chance.integers(len(speaker_rows), size=length)]
    slowest, fastest = strings.speed
    speed = chance.uniform(slowest, fastest) if slowest < fastest else slowest
    gaps = (chance.uniform(*_ends(strings.gap), size=length + 1) * rate).astype(int)
    pieces, spans, place = [np.zeros(gaps[0], np.float32)], [], int(gaps[0])
    for row, gap in zip(chosen, gaps[1:], strict=True):
        sound = _played(recordings.sound(row), speed)
        loudness = chance.uniform(*_ends(strings.loudness)) / max(float(np.abs(sound).max()), 1e-4)
        spans.append((place, place + len(sound)))
        pieces += [sound * np.float32(loudness), np.zeros(gap, np.float32)]
        place += len(sound) + int(gap)
    samples = np.concatenate(pieces)
    decibels = chance.uniform(*_ends(strings.noise))
    return JoinedString(_with_noise(samples, spans, decibels, chance), chosen, spans)


def _ends(range_: Sequence[float]) -> tuple[float, float]:
    least, most = range_
    return least, most


def _played(sound: np.ndarray, speed: float) -> np.ndarray:
    """Return a sound played `speed` times as fast, by linear interpolation."""
    if speed == 1 or len(sound) < 2:
        return sound
    return np.interp(np.arange(0, len(sound) - 1, speed), np.arange(len(sound)), sound).astype(sound.dtype)


def _generator(key: tuple[int | str, ...], number: int) -> np.random.Generator:
    digest = blake2b(",".join(map(str, (*key, number))).encode(), digest_size=16).digest()
    return np.random.default_rng(int.from_bytes(digest, "little"))


def _with_noise(
    samples: np.ndarray, spans: list[tuple[int, int]], decibels: float, chance: np.random.Generator
) -> np.ndarray:
    """Add white noise `decibels` below the speech: 10·log10(power of the speech / power of the noise)."""
    spoken = float(np.mean(np.concatenate([np.square(samples[first:end]) for first, end in spans])))
    deviation = np.float32(np.sqrt(max(spoken, _SILENCE) / 10 ** (decibels / 10)))
    return samples + deviation * chance.standard_normal(len(samples), np.float32)
