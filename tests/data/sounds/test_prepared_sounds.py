"""Recordings are prepared once, split by speakers and numbers, and joined to strings by their key alone."""

import tarfile
from pathlib import Path

import numpy as np
import pytest
from pydantic import ValidationError
from sound_files import SPEAKERS, TONES, tone, write_tones

from regard.base.faults import Fault
from regard.base.progress import silent
from regard.data.sounds.options import SoundData, Strings
from regard.data.sounds.prepare import check_sounds_there, open_alphabet, prepare_sounds
from regard.data.sounds.strings import by_speaker, join_recordings

RATE = 4000
QUIET = Strings(shortest=2, longest=4, gap=[0.05, 0.1], noise=[100.0, 100.0])


def options(folder, **more):
    named = {"recordings": str(folder)}
    parts = {
        "train": {**named, "without": ["bob"], "numbers": [1, 2]},
        "valid": {**named, "without": ["bob"], "numbers": [0, 0]},
        "test": [{**named, "speakers": ["bob"], "part": "bob"}],
    }
    return SoundData.model_validate(parts | {"rate": RATE} | more)


@pytest.fixture
def prepared(tmp_path):
    return prepare_sounds(options(write_tones(tmp_path / "tones")), tmp_path / "ready", silent)


def test_each_part_holds_the_recordings_of_its_speakers_and_numbers(prepared):
    sizes = {split: {name: len(rows) for name, rows in parts.items()} for split, parts in prepared.parts.items()}
    assert [list(sizes[split].values()) for split in ("train", "valid")] == [[6], [3]]
    assert sizes["test"] == {"bob": 9}
    recordings = prepared.recordings
    assert {recordings.speakers[row] for row in prepared.parts["test"]["bob"]} == {"bob"}
    assert len(recordings) == len(TONES) * len(SPEAKERS) * 3
    row = next(row for row in range(len(recordings)) if recordings.numbers[row] == 1)
    np.testing.assert_allclose(recordings.sound(row), tone(TONES["a"], 0.11, RATE), atol=2**-15)


def test_what_was_prepared_opens_without_its_files(tmp_path, prepared):
    named = options(tmp_path / "tones")
    for path in (tmp_path / "tones").iterdir():
        path.unlink()
    (tmp_path / "tones").rmdir()
    check_sounds_there(named, tmp_path / "ready")
    again = prepare_sounds(named, tmp_path / "ready", silent)
    np.testing.assert_array_equal(again.recordings.samples, prepared.recordings.samples)
    with pytest.raises(Fault, match="There is no file"):
        check_sounds_there(named, None)


def test_an_archive_is_as_good_as_its_folder(tmp_path, prepared):
    with tarfile.open(tmp_path / "tones.tar.xz", "w:xz") as archive:
        archive.add(tmp_path / "tones", "tones")
    packed = prepare_sounds(options(tmp_path / "tones.tar.xz"), tmp_path / "packed", silent)
    np.testing.assert_array_equal(packed.recordings.samples, prepared.recordings.samples)
    assert packed.recordings.texts == prepared.recordings.texts


def test_a_listing_names_files_texts_and_speakers(tmp_path):
    write_tones(tmp_path)
    lines = ["a_ann_0.wav\tYES\tann", "b_ann_0.wav\tNO"]
    (tmp_path / "train.tsv").write_text("\n".join(lines) + "\n")
    (tmp_path / "valid.tsv").write_text("c_ann_0.wav\tNO NO\n")
    named = {"train": str(tmp_path / "train.tsv"), "valid": str(tmp_path / "valid.tsv"), "rate": RATE}
    words = prepare_sounds(SoundData.model_validate(named | {"units": "words"}), tmp_path / "words", silent)
    assert words.alphabet.symbols == ["NO", "YES"]
    assert words.alphabet.join(words.alphabet.cut(" NO  NO ")) == "NO NO"
    assert words.recordings.speakers == ["ann", "", ""]
    assert open_alphabet(words.files()) == words.alphabet
    with pytest.raises(
        Fault, match=r"c_ann_0\.wav, of the valid data, has the label ' ', which is not in the alphabet"
    ):
        prepare_sounds(SoundData.model_validate(named), tmp_path / "letters", silent)


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ({"train": {"speakers": ["eve"]}}, "No speaker in .* is named 'eve'; there are ann, bob"),
        (
            {"valid": {"recordings": str(Path(__file__).parent)}},
            "holds no sound named LABEL_SPEAKER_NUMBER.wav or .flac",
        ),
        ({"train": {"numbers": [7, 9]}}, "holds no sound of these speakers and numbers"),
        ({"valid": {"numbers": [1, 2]}}, "6 sounds of the valid data are also in the training data"),
        ({"test": [{"speakers": ["bob"]}] * 2}, "Two parts of the test data are named"),
    ],
)
def test_parts_that_make_no_sense_are_refused(tmp_path, more, sentence):
    named = {"recordings": str(write_tones(tmp_path / "tones"))}
    whole = {
        split: [named | part for part in parts] if isinstance(parts, list) else named | parts
        for split, parts in more.items()
    }
    with pytest.raises(Fault, match=sentence):
        prepare_sounds(options(tmp_path / "tones", **whole), tmp_path / "ready", silent)


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("a_ann_0.wav", "line 2: a line must hold a sound's file, a tab, and its text"),
        ("a_ann_0.wav\tYES\tann\tloud", "line 2: there are 4 fields, but a line holds a sound's file, its text"),
        ("none.wav\tYES", r"list.tsv, line 2: There is no file .*none\.wav"),
    ],
)
def test_a_listing_with_a_bad_line_is_refused_by_its_number(tmp_path, line, sentence):
    write_tones(tmp_path)
    (tmp_path / "list.tsv").write_text(f"a_ann_0.wav\tYES\n{line}\n")
    named = {"train": str(tmp_path / "list.tsv"), "valid": str(tmp_path / "list.tsv"), "rate": RATE}
    with pytest.raises(Fault, match=sentence):
        prepare_sounds(SoundData.model_validate(named), tmp_path / "ready", silent)


@pytest.mark.parametrize(
    "given",
    [
        {"gap": [0.2, 0.1]},
        {"gap": [-1.0, 0.0]},
        {"shortest": 5, "longest": 2},
        {"noise": [0.0, 500.0]},
        {"speed": [0.0, 1.0]},
        {"loudness": [0.5, 2.0]},
    ],
)
def test_strings_that_cannot_be_made_are_refused(given):
    with pytest.raises(ValidationError):
        Strings.model_validate(given)


# --- strings


def strings_of(prepared, key, numbers, manner=QUIET):
    rows = [row for parts in prepared.parts.values() for of_part in parts.values() for row in of_part]
    voices = by_speaker(prepared.recordings, rows)
    return [join_recordings(prepared.recordings, voices, RATE, manner, key, number) for number in numbers]


def test_a_string_is_a_function_of_its_key_and_number_alone(prepared):
    forwards, backwards = strings_of(prepared, ("train", 1, 2), range(8)), strings_of(prepared, ("train", 1, 2), (5, 2))
    for number, string in zip((5, 2), backwards, strict=True):
        np.testing.assert_array_equal(string.samples, forwards[number].samples)
        assert string.rows == forwards[number].rows
    others = strings_of(prepared, ("train", 1, 3), range(8))
    assert [string.rows for string in others] != [string.rows for string in forwards]


def test_a_string_is_recordings_of_one_speaker_with_gaps_around_each(prepared):
    lengths = set()
    for string in strings_of(prepared, ("train", 1, 1), range(20)):
        assert len({prepared.recordings.speakers[row] for row in string.rows}) == 1
        lengths.add(len(string.rows))
        borders = [0, *(place for span in string.spans for place in span), len(string.samples)]
        gaps = [end - first for first, end in zip(borders[::2], borders[1::2], strict=True)]
        assert all(0.05 * RATE - 1 <= gap <= 0.1 * RATE for gap in gaps)
        for row, (first, end) in zip(string.rows, string.spans, strict=True):
            sound, segment = prepared.recordings.sound(row), string.samples[first:end]
            assert np.corrcoef(sound, segment)[0, 1] > 0.999
    assert lengths == {2, 3, 4}


def test_what_is_played_twice_as_fast_takes_half_the_time(prepared):
    manner = QUIET.model_copy(update={"speed": [2.0, 2.0]})
    slow, fast = (strings_of(prepared, ("speed",), range(3), way) for way in (QUIET, manner))
    for one, other in zip(slow, fast, strict=True):
        assert one.rows == other.rows
        for (first, end), (first_fast, end_fast) in zip(one.spans, other.spans, strict=True):
            assert end_fast - first_fast == pytest.approx((end - first) / 2, abs=1)


def test_noise_lies_as_far_below_the_sound_as_it_should(prepared):
    manner = Strings(shortest=3, longest=3, gap=[0.5, 0.5], noise=[10.0, 10.0])
    for string in strings_of(prepared, ("noise",), range(3), manner):
        power = np.mean(np.concatenate([np.square(string.samples[first:end]) for first, end in string.spans]))
        gap = np.mean(np.square(string.samples[: string.spans[0][0]]))
        assert 10 * np.log10((power - gap) / gap) == pytest.approx(10, abs=0.5)
