"""Getting sets from folders without touching files that others wrote."""

import fcntl
import gzip
import hashlib
import lzma
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from toy_sets import TEXT, a_file, archive_of, catalogue_of, contents, fault_of, sounds_file

from regard.base.progress import silent
from regard.data.catalogue.entries import Entry
from regard.data.catalogue.get import get, unverified


@pytest.fixture
def declare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Entry]:
    """Declare a catalogue with one set, `toy`, of these files, and an empty data folder."""
    monkeypatch.setenv("REGARD_DATA", str(tmp_path / "data"))
    return partial(catalogue_of, monkeypatch)


# --- from a folder


@pytest.mark.parametrize("below", ["", "toy", "playthings"])
@pytest.mark.parametrize("suffix", ["", ".gz", ".xz"])
def test_a_folder_may_be_the_sets_own_or_its_parent_and_its_files_packed_or_not(declare, tmp_path, below, suffix):
    entry = declare(a_file("raw/a.txt.gz", TEXT, derived="Somehow."))
    packed = {"": TEXT, ".gz": gzip.compress(TEXT), ".xz": lzma.compress(TEXT, preset=0)}[suffix]
    place = tmp_path / "elsewhere" / below / f"raw/a.txt{suffix}"
    place.parent.mkdir(parents=True)
    place.write_bytes(packed)
    reports: list[tuple[str, int, int | None]] = []
    get("toy", tmp_path / "elsewhere", lambda *report: reports.append(report))
    assert contents(entry.folder) == {f"raw/a.txt{suffix}": packed}
    assert reports[-1] == (f"toy: bytes of a.txt{suffix}", len(packed), len(packed))
    assert place.read_bytes() == packed


def test_a_file_without_a_checksum_is_taken_as_it_is_and_the_one_it_has_is_known(declare, tmp_path):
    entry = declare({"path": "a.txt", "size": 1_000_000, "derived": "Somehow."})
    (tmp_path / "a.txt").write_bytes(TEXT)
    assert unverified(entry) == {}
    get("toy", tmp_path, silent)
    assert contents(entry.folder) == {"a.txt": TEXT}
    assert unverified(entry) == {"a.txt": hashlib.sha256(TEXT).hexdigest()}
    (entry.folder / "a.txt").write_bytes(b"mine\n")
    get("toy", tmp_path, silent)
    assert contents(entry.folder) == {"a.txt": b"mine\n"}


def test_a_folder_in_a_folder_is_taken_as_an_archive_or_unpacked(declare, tmp_path):
    entry = declare(sounds_file(derived="Recorded."))
    (tmp_path / "sounds.tar.gz").write_bytes(archive_of(("sounds/one.wav", b"beep")))
    get("toy", tmp_path, silent)
    assert contents(entry.folder) == {"sounds/one.wav": b"beep"}
    again = tmp_path / "again"
    entry.folder.rename(again)
    get("toy", again, silent)
    assert contents(entry.folder) == {"sounds/one.wav": b"beep"}


def test_a_folder_that_lacks_files_is_refused_before_anything_is_copied(declare, tmp_path):
    entry = declare(*(a_file(f"{name}.txt", TEXT, derived="x.") for name in "abcde"))
    (tmp_path / "a.txt").write_bytes(TEXT)
    sentence = fault_of(lambda: get("toy", tmp_path, silent))
    assert f"b.txt, c.txt, d.txt and 1 more of toy is not in {tmp_path}" in sentence
    assert not entry.folder.exists()


def test_a_folder_with_another_content_is_refused_with_both_sums(declare, tmp_path):
    entry = declare(a_file("a.txt", TEXT, derived="x."))
    (tmp_path / "a.txt").write_bytes(b"something else\n")
    sentence = fault_of(lambda: get("toy", tmp_path, silent))
    assert str(tmp_path / "a.txt") in sentence
    assert hashlib.sha256(b"something else\n").hexdigest() in sentence
    assert hashlib.sha256(TEXT).hexdigest() in sentence
    assert not entry.folder.exists()
    assert (tmp_path / "a.txt").read_bytes() == b"something else\n"


def test_a_folder_that_is_none_is_refused(declare, tmp_path):
    declare(a_file("a.txt", TEXT, derived="x."))
    assert "is not a folder" in fault_of(lambda: get("toy", tmp_path / "missing", silent))


# --- files that others wrote


@pytest.mark.parametrize("name", ["a.txt", "a.txt.gz"])
def test_a_file_of_someone_else_is_left_untouched(declare, tmp_path, name):
    entry = declare(a_file("a.txt", TEXT, derived="x."))
    (tmp_path / "a.txt").write_bytes(TEXT)
    entry.folder.mkdir(parents=True)
    (entry.folder / name).write_bytes(b"my own notes")
    sentence = fault_of(lambda: get("toy", tmp_path, silent))
    assert f"{entry.folder / name} is not what the data catalogue describes" in sentence
    assert "It is left untouched" in sentence
    assert contents(entry.folder) == {name: b"my own notes"}


def test_a_broken_link_and_a_folder_of_someone_else_are_left_untouched(declare, tmp_path):
    entry = declare(a_file("a.txt", TEXT, derived="x."))
    entry.folder.mkdir(parents=True)
    place = entry.folder / "a.txt"
    place.symlink_to("nowhere")
    assert "left untouched" in fault_of(lambda: get("toy", tmp_path, silent))
    assert place.is_symlink()
    place.unlink()
    place.mkdir()
    assert "left untouched" in fault_of(lambda: get("toy", tmp_path, silent))


def test_other_files_in_the_folder_stay(declare, tmp_path):
    entry = declare(a_file("a.txt", TEXT, derived="x."))
    (tmp_path / "a.txt").write_bytes(TEXT)
    entry.folder.mkdir(parents=True)
    (entry.folder / "notes.txt").write_bytes(b"mine")
    get("toy", tmp_path, silent)
    assert contents(entry.folder) == {"a.txt": TEXT, "notes.txt": b"mine"}


def test_what_we_wrote_is_replaced_when_the_catalogue_changes_but_not_after_someone_changed_it(declare, tmp_path):
    old, new = tmp_path / "old", tmp_path / "new"
    for folder, content in {old: TEXT, new: b"corrected\n"}.items():
        folder.mkdir()
        (folder / "a.txt").write_bytes(content)
    declare(a_file("a.txt.gz", TEXT, derived="x."))
    get("toy", old, silent)
    entry = declare(a_file("a.txt.gz", b"corrected\n", derived="x."))
    get("toy", new, silent)
    assert contents(entry.folder) == {"a.txt": b"corrected\n"}
    (entry.folder / "a.txt").write_bytes(b"edited by hand\n")
    assert "left untouched" in fault_of(lambda: get("toy", new, silent))
    assert contents(entry.folder) == {"a.txt": b"edited by hand\n"}


@pytest.mark.parametrize("record", ["not json", "[]", '{"written": 3}'])
def test_a_damaged_record_makes_nothing_ours(declare, tmp_path, record):
    entry = declare(a_file("a.txt", TEXT, derived="x."))
    entry.folder.mkdir(parents=True)
    (entry.folder / ".regard.json").write_text(record)
    (entry.folder / "a.txt").write_bytes(b"whose?")
    assert "left untouched" in fault_of(lambda: get("toy", tmp_path, silent))


def test_two_at_once_do_not_meet(declare, tmp_path):
    entry = declare(a_file("a.txt", TEXT, derived="x."))
    (tmp_path / "a.txt").write_bytes(TEXT)
    entry.folder.mkdir(parents=True)
    other = os.open(entry.folder, os.O_RDONLY)
    fcntl.flock(other, fcntl.LOCK_EX)
    assert "Another `regard data get toy` is running" in fault_of(lambda: get("toy", tmp_path, silent))
    os.close(other)
    get("toy", tmp_path, silent)
    assert contents(entry.folder) == {"a.txt": TEXT}
