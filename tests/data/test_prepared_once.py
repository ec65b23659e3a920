"""Shared rules of preparations: a record written last, files that it verifies, and held-out examples."""

from pathlib import Path

import numpy as np
import pytest

from regard.base.faults import Fault
from regard.data.prepared import (
    FINISHED,
    FinishedRecord,
    draw_held_out,
    open_arrays,
    open_kept,
    prepare_once,
    refuse_missing,
    save_arrays,
    save_files,
)


class Counted(FinishedRecord):
    options: int
    files: dict[str, str]


def prepare(folder: Path, options: int) -> Counted:
    def make() -> Counted:
        assert not (folder / FINISHED).exists()
        files = save_arrays(folder, {"numbers.npy": np.arange(options)}) | save_files(folder, {"words.txt": b"a b"})
        return Counted(options=options, files=files)

    return prepare_once(Counted, folder, lambda record: record.options == options, make)


def test_data_are_prepared_once_for_the_same_options_and_again_for_others(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "folder"
    first = prepare(folder, 3)
    written = (folder / FINISHED).stat().st_mtime_ns
    assert prepare(folder, 3) == first
    assert (folder / FINISHED).stat().st_mtime_ns == written
    assert open_arrays(folder, "numbers")[0].tolist() == [0, 1, 2]
    assert prepare(folder, 4).options == 4
    assert open_arrays(folder, "numbers")[0].tolist() == [0, 1, 2, 3]


def test_what_has_changed_since_is_refused(tmp_path: Path) -> None:
    prepare(tmp_path, 3)
    (tmp_path / "words.txt").write_bytes(b"a c")
    with pytest.raises(Fault, match=r"words\.txt is missing, damaged"):
        prepare(tmp_path, 3)


def test_a_preparation_that_fails_leaves_no_record(tmp_path: Path) -> None:
    prepare(tmp_path, 3)

    def fail() -> Counted:
        raise Fault("There is nothing to read.")

    with pytest.raises(Fault, match="nothing to read"):
        prepare_once(Counted, tmp_path, lambda record: record.options == 4, fail)
    assert not (tmp_path / FINISHED).exists()


def test_missing_files_are_refused_unless_all_lies_prepared(tmp_path: Path) -> None:
    absent, folder = str(tmp_path / "absent"), str(tmp_path)
    for names, may_be_folders in (([absent], True), ([folder], False)):
        with pytest.raises(Fault, match="There is no file"):
            refuse_missing(names, None, may_be_folders)
    refuse_missing([folder], None, may_be_folders=True)
    prepare(tmp_path, 1)
    refuse_missing([absent], tmp_path)


@pytest.mark.parametrize("files", [{}, {"kept.json": b"{"}, {"kept.json": b'{"options": "many", "files": {}}'}])
def test_what_a_model_folder_keeps_need_not_be_trusted(files: dict[str, bytes]) -> None:
    with pytest.raises(Fault, match=r"kept\.json of the model folder is missing or damaged"):
        open_kept(Counted, files, "kept.json")


def test_the_same_examples_are_held_out_every_time() -> None:
    learnt, held_out = draw_held_out(10, 3)
    assert len(held_out) == 3
    assert sorted([*learnt, *held_out]) == list(range(10))
    assert all((part[1:] > part[:-1]).all() for part in (learnt, held_out))
    assert (draw_held_out(10, 3)[1] == held_out).all()
