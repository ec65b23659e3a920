"""Checksums: no flipped bit in a prepared corpus goes unnoticed, finished or not."""

import os
import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from regard.base import checksums
from regard.base.checksums import Vouched, are_whole, check_changed_files, read_record, write_record, write_vouched
from regard.base.faults import Fault
from regard.base.recipe import check
from regard.data.corpora import prepare as preparing
from regard.data.corpora.options import PairData
from regard.data.corpora.prepare import prepare
from regard.data.corpora.prepared import are_learnt, read_valid
from regard.data.demo.corpus import pairs


@pytest.fixture
def options(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PairData:
    """Return a corpus of three resampled shards, which therefore hold text too."""
    monkeypatch.setattr(preparing, "_SMALLEST_SHARD", 40)
    text = "".join(f"{source}\t{target}\n" for source, target in pairs("train", count=120))
    (tmp_path / "text.tsv").write_text(text, encoding="utf-8")
    tokeniser = {"kind": "bpe", "vocabulary": 300, "sampling": 0.1}
    return check(PairData, {"train": str(tmp_path / "text.tsv"), "hold_out": 6, "tokeniser": tokeniser})


def files_of(folder: Path) -> list[Path]:
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and path.stat().st_size]
    return [path for path in files if not path.name.startswith(".")]  # a damaged verification note counts as none


@contextmanager
def flipped(path: Path, chance: random.Random) -> Iterator[None]:
    """Flip one bit of the file in this block."""
    good = path.read_bytes()
    bad = bytearray(good)
    bad[chance.randrange(len(bad))] ^= 1 << chance.randrange(8)
    path.write_bytes(bytes(bad))
    yield
    path.write_bytes(good)


@pytest.mark.parametrize("flips", [40, pytest.param(240, marks=pytest.mark.long)])
def test_a_flipped_bit_anywhere_in_a_prepared_corpus_is_refused(options: PairData, tmp_path: Path, flips: int) -> None:
    folder = tmp_path / "prepared"
    prepare(options, folder)
    paths = files_of(folder)
    assert {path.suffix for path in paths} == {".bin", ".json", ".lengths", ".model", ".npy"}
    chance = random.Random(flips)
    for path in [*paths, *chance.choices(paths, k=flips - len(paths))]:
        with flipped(path, chance), pytest.raises(Fault, match=rf"{path} is missing, damaged"):
            prepare(options, folder)
    assert len(prepare(options, folder).train) == 114


def test_what_is_read_of_a_corpus_for_scoring_is_checked_too(options: PairData, tmp_path: Path) -> None:
    folder, chance = tmp_path / "prepared", random.Random(1)
    prepare(options, folder)
    with flipped(folder / "valid.json", chance), pytest.raises(Fault, match=r"valid\.json is missing, damaged"):
        read_valid(folder)
    with flipped(folder / "sources.npy", chance), pytest.raises(Fault, match=r"sources\.npy is missing, damaged"):
        are_learnt(folder, ["I love books."])
    with flipped(next(folder.glob("shards/*.bin")), chance):
        assert len(read_valid(folder)) == 6  # the shards are not read for it


def test_a_bit_flipped_in_an_unfinished_preparation_is_mended_or_refused(options: PairData, tmp_path: Path) -> None:
    folder, chance = tmp_path / "prepared", random.Random(2)
    prepare(options, folder)
    whole = {path: path.read_bytes() for path in files_of(folder)}
    for path in whole:
        (folder / "finished.json").unlink(missing_ok=True)
        if path.name == "finished.json":
            continue
        with flipped(path, chance):
            if path.name == "purpose.json":
                with pytest.raises(Fault, match=r"purpose\.json is missing, damaged"):
                    prepare(options, folder)
            else:
                prepare(options, folder)
                assert {file: file.read_bytes() for file in whole} == whole, path


def test_files_are_vouched_for_by_a_record_that_is_itself(tmp_path: Path) -> None:
    record = tmp_path / "record.json"
    assert not are_whole(record)
    write_vouched(record, {"a": b"one", "b": b"two"})
    assert are_whole(record)
    (tmp_path / "a").write_bytes(b"One")
    assert not are_whole(record)
    (tmp_path / "a").write_bytes(b"one")
    assert are_whole(record)
    (tmp_path / "b").unlink()
    assert not are_whole(record)


def test_a_record_without_its_checksum_is_refused(tmp_path: Path) -> None:
    record = tmp_path / "record.json"
    write_record(record, Vouched(files={"é": "1"}))
    assert read_record(Vouched, record).files == {"é": "1"}
    record.write_text(Vouched(files={"é": "1"}).model_dump_json(indent=1), encoding="utf-8")
    with pytest.raises(Fault, match=r"record\.json is missing, damaged or of another version"):
        read_record(Vouched, record)


def test_only_what_has_changed_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def note(path: Path) -> str:
        read.append(path.name)
        return file_checksum(path)

    file_checksum = checksums.file_checksum
    monkeypatch.setattr(checksums, "file_checksum", note)
    monkeypatch.setattr(checksums, "_SETTLED", 0)
    for name in ("a", "b"):
        (tmp_path / name).write_text(name)
    files = {name: file_checksum(tmp_path / name) for name in ("a", "b")}
    for names in (["a", "b"], []):
        check_changed_files(tmp_path, files)
        assert sorted(read) == names
        read.clear()
    about = (tmp_path / "b").stat()
    (tmp_path / "b").write_text("c")
    os.utime(tmp_path / "b", ns=(about.st_atime_ns, about.st_mtime_ns))  # its date is forged, and its size is the same
    with pytest.raises(Fault, match=r"b is missing, damaged"):
        check_changed_files(tmp_path, files)
    assert read == ["b"]
    (tmp_path / "b").write_text("b")
    (tmp_path / ".verified.json").write_text("{}")
    read.clear()
    check_changed_files(tmp_path, files)
    assert sorted(read) == ["a", "b"]  # the note was damaged, so nothing is known
    (tmp_path / "a").unlink()
    with pytest.raises(Fault, match=r"a is missing, damaged"):
        check_changed_files(tmp_path, files)


def test_a_file_that_was_written_just_now_is_not_taken_as_known(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a")
    check_changed_files(tmp_path, {"a": checksums.file_checksum(tmp_path / "a")})
    assert not (tmp_path / ".verified.json").exists()
