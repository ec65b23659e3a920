"""The file of a reader's progress: kept in one step, never overwritten when it is not ours, shared by several pages."""

import json
import multiprocessing
from pathlib import Path

import pytest

from regard.base.faults import Fault
from regard.course.progress import LessonProgress, Progress, ProgressFile


def test_what_was_kept_is_read_again(tmp_path: Path) -> None:
    file = ProgressFile(tmp_path / "runs" / "course")
    assert file.read() == Progress()
    assert not file.folder.exists()
    file.keep_step(5, "sampling", {"temperature": 0.5, "way": "beam"})
    file.keep_step(5, "sampling", {"temperature": 1.5, "way": "beam"})
    file.keep_answer(5, "weight", "0,67")
    file.keep_answer(7, "heads", ["a", "c"])
    file.keep_language("ru")
    progress = ProgressFile(file.folder).read()
    assert progress.language == "ru"
    assert progress.lesson(5).steps == {"sampling": {"temperature": 1.5, "way": "beam"}}
    assert progress.lesson(5).solved == {"weight": "0,67"}
    assert progress.lesson(7).solved == {"heads": ["a", "c"]}
    assert progress.lesson(12) == LessonProgress()
    assert [path.name for path in file.folder.iterdir()] == ["progress.json"]


def test_a_skipped_step_counts_as_run_only_once_it_ran(tmp_path: Path) -> None:
    file = ProgressFile(tmp_path)
    file.keep_skipped(10, "reviews")
    file.keep_skipped(10, "reviews")
    file.keep_skipped(10, "digits")
    assert (file.read().lesson(10).steps, file.read().lesson(10).skipped) == ({}, ["reviews", "digits"])
    file.keep_step(10, "reviews", {"width": 3})
    assert (file.read().lesson(10).steps, file.read().lesson(10).skipped) == ({"reviews": {"width": 3}}, ["digits"])
    file.keep_skipped(10, "reviews")  # its data was removed after it ran
    assert file.read().lesson(10).skipped == ["digits"]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b'{"language": "pt", "less',
        b"[1, 2]",
        b'{"scores": [1, 2]}',
        b'{"language": "de"}',
        b'{"lessons": {"5": {"steps": {"a": [1]}}}}',
        b"\xff\xfe\x00",
        b"[" * 100_000,
        b" " * 1_000_001,
    ],
    ids=["empty", "cut", "list", "other", "language", "steps", "binary", "deep", "large"],
)
def test_a_damaged_or_foreign_file_is_refused_in_one_sentence_and_stays(tmp_path: Path, content: bytes) -> None:
    file = ProgressFile(tmp_path)
    file.path.write_bytes(content)
    for act in (file.read, lambda: file.keep_language("pt"), lambda: file.keep_step(1, "a", {})):
        with pytest.raises(Fault) as fault:
            act()
        assert fault.value.sentences == (
            f"{file.path} is damaged, or is no progress of `regard course`; move it away to begin again.",
        )
    assert file.path.read_bytes() == content


def test_a_folder_that_cannot_be_one_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(Fault, match="file cannot be the folder of the course: File exists"):
        ProgressFile(tmp_path / "file").keep_language("pt")


def keep_many(folder: Path, first: int) -> None:
    for number in range(first, first + 20):
        ProgressFile(folder).keep_answer(1, f"answer{number}", str(number))


def test_two_pages_that_write_at_once_lose_nothing(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    others = [context.Process(target=keep_many, args=(tmp_path, first)) for first in (0, 20)]
    for other in others:
        other.start()
    keep_many(tmp_path, 40)
    for other in others:
        other.join(60)
    assert [other.exitcode for other in others] == [0, 0]
    assert ProgressFile(tmp_path).read().lesson(1).solved == {f"answer{n}": str(n) for n in range(60)}


def test_what_changes_nothing_writes_nothing(tmp_path: Path) -> None:
    file = ProgressFile(tmp_path)
    file.keep_language("pt")
    before = file.path.stat().st_ino
    file.keep_language("pt")
    assert file.path.stat().st_ino == before
    assert json.loads(file.path.read_bytes())["language"] == "pt"
