"""Sounds of any rate, channels and format are read; other files are refused."""

import os
from pathlib import Path

import numpy as np
import pytest
import soundfile
from sound_files import tone

from regard.base.faults import Fault
from regard.data.sounds.files import from_16_bits, read_sound, resample, sound_file, to_16_bits

RATE = 8000


@pytest.mark.parametrize(("rate", "new_rate"), [(44_100, 8000), (8000, 44_100), (16_000, 8000), (22_050, 16_000)])
def test_a_tone_stays_the_same_tone_at_another_rate(rate, new_rate):
    sound, expected = resample(tone(440, 0.5, rate), rate, new_rate), tone(440, 0.5, new_rate)
    assert len(sound) == len(expected)
    inner = slice(
        new_rate // 100, -new_rate // 100
    )  # the tone starts and stops at its ends, which no rate can represent
    np.testing.assert_allclose(sound[inner], expected[inner], atol=1e-3)


def test_what_the_new_rate_cannot_hold_vanishes_and_does_not_come_back_as_another_tone():
    sound = resample(tone(6000, 0.5, 44_100), 44_100, RATE)
    assert np.abs(sound[100:-100]).max() < 1e-3


def test_a_sound_that_stands_still_stays_where_it_is():
    np.testing.assert_allclose(resample(np.full(1000, 0.25), 44_100, RATE)[20:-20], 0.25, atol=1e-12)


@pytest.mark.parametrize("length", [1, 2, 7, 441, 442])
def test_the_number_of_samples_is_rounded_up(length):
    assert len(resample(np.ones(length), 44_100, RATE)) == -(-length * 80 // 441)


@pytest.mark.parametrize(("format", "subtype"), [("WAV", "PCM_16"), ("WAV", "FLOAT"), ("FLAC", "PCM_24")])
def test_stereo_at_44_kilohertz_becomes_one_channel_at_the_rate_that_is_asked_for(tmp_path, format, subtype):
    left = tone(440, 0.5, 44_100)
    path = tmp_path / "stereo"
    soundfile.write(path, np.stack([left, 0.5 * left], axis=1), 44_100, format=format, subtype=subtype)
    expected = 0.75 * tone(440, 0.5, RATE)
    np.testing.assert_allclose(read_sound(path, RATE)[80:-80], expected[80:-80], atol=2e-3)


def test_samples_of_16_bits_come_back_as_they_were():
    samples = np.array([-(2**15), -1, 0, 1, 2**15 - 1], np.int16)
    sound = read_sound(sound_file(from_16_bits(samples), RATE), RATE, "five samples")
    np.testing.assert_array_equal(to_16_bits(sound), samples)


@pytest.mark.parametrize("channels", [1, 2])
@pytest.mark.parametrize("factor", [1e30, 2.0**15, 10.0])
def test_float_samples_far_beyond_one_are_refused_by_name(tmp_path: Path, factor: float, channels: int):
    path, sound = tmp_path / "loud.wav", factor * tone(440, 0.1, RATE)
    soundfile.write(path, np.stack([sound, -sound][:channels], axis=1), RATE, subtype="FLOAT")
    for source in (path, path.read_bytes()):
        with pytest.raises(Fault, match=r"loud\.wav has samples as large as .*; scale them to lie between −1 and 1"):
            read_sound(source, RATE, None if source is path else "loud.wav")


def test_samples_a_little_beyond_one_are_clipped_as_in_training(tmp_path: Path):
    path, sound = tmp_path / "hot.wav", 3 * tone(440, 0.1, RATE)
    soundfile.write(path, sound, RATE, subtype="FLOAT")
    np.testing.assert_allclose(read_sound(path, RATE), np.clip(sound, -1, 1), atol=1e-6)
    np.testing.assert_allclose(read_sound(path, 5000), from_16_bits(to_16_bits(read_sound(path, 5000))), atol=1 / 2**15)


@pytest.mark.parametrize("start", [b"RIFF", b"RIFX"])
def test_a_wav_file_that_lost_its_end_is_refused(tmp_path: Path, start: bytes):
    path = tmp_path / "cut.wav"
    order = "LITTLE" if start == b"RIFF" else "BIG"
    soundfile.write(path, tone(440, 0.5, RATE), RATE, subtype="PCM_16", endian=order)
    whole = path.read_bytes()
    assert whole[:4] == start
    path.write_bytes(whole[:-4000])
    sentence = "cut.wav is cut short: its header promises 8,000 bytes of samples, but it holds 4,000"
    for source in (path, path.read_bytes()):
        with pytest.raises(Fault, match=sentence):
            read_sound(source, RATE, None if source is path else "cut.wav")
    path.write_bytes(whole[:-60])  # some programs count the header among the samples
    assert len(read_sound(path, RATE)) == 4000 - 30


@pytest.mark.parametrize("lost", [0.1, 0.4])
def test_a_flac_file_that_lost_its_end_is_refused(tmp_path: Path, lost: float):
    path = tmp_path / "cut.flac"
    soundfile.write(path, tone(440, 0.5, RATE), RATE)
    content = path.read_bytes()
    path.write_bytes(content[: -int(lost * len(content))])
    with pytest.raises(Fault, match=r"cut.flac cannot be read as a wav or flac file: .*(cut short|lost sync)\."):
        read_sound(path, RATE)


def test_a_pipe_is_no_file_to_read(tmp_path: Path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(Fault, match="pipe is a pipe or a device, not an ordinary file; save the sound as a file"):
        read_sound(tmp_path / "pipe", RATE)


def test_what_is_no_sound_is_refused(tmp_path: Path):
    names = ("a.txt", "a.ogg", "nothing.wav", "empty.wav", "broken.wav")
    text, ogg, nothing, empty, broken = (tmp_path / name for name in names)
    nothing.touch()
    text.write_text("no sound\n")
    soundfile.write(ogg, tone(440, 0.1, RATE), RATE)
    soundfile.write(empty, np.zeros(0), RATE, subtype="PCM_16")
    soundfile.write(broken, np.array([0.0, np.nan]), RATE, subtype="FLOAT")
    for path, sentence in (
        (text, "cannot be read as a wav or flac file"),
        (ogg, "is a sound in the format OGG; wav and flac can be read"),
        (nothing, "nothing.wav is empty: it has no bytes"),
        (empty, "is empty: it has no samples"),
        (broken, "holds samples that are not numbers"),
        (tmp_path, "is a folder; name a sound file"),
        (tmp_path / "none.wav", "There is no file"),
    ):
        with pytest.raises(Fault, match=sentence):
            read_sound(path, RATE)
    with pytest.raises(Fault, match="The sound is empty: it has no bytes"):
        read_sound(b"", RATE, "The sound")


def test_a_sound_without_end_and_rates_without_sense_are_refused_by_their_heads(tmp_path: Path):
    long = bytearray(sound_file(tone(440, 0.1, 1000), 1000))
    for endless in (2**31 - 64, 2**32 - 1):  # as programs promise that write into a pipe
        long[40:44] = endless.to_bytes(4, "little")
        assert len(read_sound(bytes(long), 1000, "promises")) == 100  # existing samples are read, and no more
    slow = bytearray(sound_file(tone(440, 0.1, RATE), RATE))
    slow[24:28] = (1).to_bytes(4, "little")
    with pytest.raises(Fault, match="has 1 sample per second and 1 channel;"):
        read_sound(bytes(slow), RATE, "slow")
