"""Transcripts of recordings: spelled-out words and their speakers."""

from pathlib import Path
from typing import Any

import pytest
from sound_files import write_tones

from regard.base.faults import Fault
from regard.base.progress import silent
from regard.base.recipe import check
from regard.data.sounds.options import SoundData
from regard.data.sounds.prepare import PreparedSounds, prepare_sounds


def prepared(folder: Path, **options: Any) -> PreparedSounds:
    tones = {"recordings": str(write_tones(folder / "tones"))}
    data = {"train": [tones | {"numbers": [0, 1]}], "valid": [tones | {"numbers": [2, 2]}], "rate": 4000}
    return prepare_sounds(check(SoundData, data | options), folder / "prepared", silent)


def test_who_speaks_stands_behind_what_is_said_and_is_told_in_words(tmp_path: Path) -> None:
    result = prepared(tmp_path, who=True, units="words", spelling={"a": "alpha"})
    assert result.alphabet.symbols == ["alpha", "ann", "b", "bob", "c"]
    assert result.alphabet.speakers == ["ann", "bob"]
    assert {*result.recordings.texts} == {f"{word} {name}" for word in ("alpha", "b", "c") for name in ("ann", "bob")}
    assert result.alphabet.join(["alpha", "ann"]) == "alpha, said by ann"
    assert result.alphabet.join(["ann", "alpha", "ann", "bob"]) == "alpha, said by ann and bob"
    assert result.alphabet.join(["alpha"]) == "alpha"


def test_words_are_spelled_out_in_letters_too(tmp_path: Path) -> None:
    assert prepared(tmp_path, spelling={"a": "ad"}).alphabet.symbols == ["a", "b", "c", "d"]


@pytest.mark.parametrize("options", [{"units": "letters"}, {"units": "words", "strings": {}}])
def test_who_speaks_is_a_word_behind_single_recordings(tmp_path: Path, options: dict[str, Any]) -> None:
    with pytest.raises(
        Fault, match="who writes the speaker as a word after the text: it needs units = 'words', and no strings"
    ):
        prepared(tmp_path, who=True, **options)


def test_a_speaker_who_is_called_like_a_word_is_refused(tmp_path: Path) -> None:
    (tmp_path / "tones").mkdir()
    write_tones(tmp_path / "tones")
    for path in list((tmp_path / "tones").glob("*_ann_*")):
        path.rename(path.with_name(path.name.replace("_ann_", "_b_")))
    tones = {"recordings": str(tmp_path / "tones")}
    data = {"train": [tones | {"numbers": [0, 1]}], "valid": [tones | {"numbers": [2, 2]}], "rate": 4000}
    with pytest.raises(
        Fault, match=r"'b' cannot be written after the text: data\.who needs speakers' names of one word each"
    ):
        prepare_sounds(check(SoundData, data | {"who": True, "units": "words"}), tmp_path / "prepared", silent)
