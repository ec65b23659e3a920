"""Pictures: idx and picture files read and refused, held-out examples, and prepared data."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from picture_files import write_idx, write_listing, write_set
from PIL import Image

from regard.base.faults import Fault
from regard.base.progress import silent
from regard.base.recipe import check
from regard.data.pictures.binary import BinaryData
from regard.data.pictures.files import read_picture_file
from regard.data.pictures.idx import read_labels, read_pictures
from regard.data.pictures.options import PictureData
from regard.data.pictures.prepare import LABELS_FILE, open_labels, prepare_pictures

PICTURES = np.arange(10 * 3 * 4, dtype=np.uint8).reshape(10, 3, 4)
LABELS = [0, 1] * 5


def options(**table: Any) -> PictureData:
    return check(PictureData, table, "data")


@pytest.mark.parametrize("name", ["pictures", "pictures.gz"])
def test_idx_files_are_read_plain_and_packed(tmp_path: Path, name: str) -> None:
    write_idx(tmp_path / name, PICTURES)
    assert np.array_equal(read_pictures(tmp_path / name), PICTURES)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is not an idx file of pictures: it begins with nothing"),
        (b"\0\0\x08\x01\0\0\0\x01\x07", "is not an idx file of pictures: it begins with 00 00 08 01"),
        (b"\0\0\x08\x03\0\0\0\x02\0", "ends within its head"),
        (b"\0\0\x08\x03" + b"\0\0\0\x02" * 3 + b"1234567", "claims to hold 8 bytes of pictures, but it ends after 7"),
        (b"\0\0\x08\x03" + b"\0\0\0\x02" * 3 + b"123456789", "but more follow"),
        (b"\0\0\x08\x03" + b"\xff\xff\xff\xff" * 3, "can be read"),
        (b"\0\0\x08\x03\0\0\0\x01\0\0\x10\0\0\0\0\x01" + b"\0" * 4096, "a side must have 1 to 1024"),
    ],
)
def test_an_idx_file_that_is_not_what_it_promises_is_refused(tmp_path: Path, content: bytes, words: str) -> None:
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(Fault, match=words):
        read_pictures(tmp_path / "file")


def test_a_packed_file_that_was_cut_off_is_refused(tmp_path: Path) -> None:
    path = Path(write_idx(tmp_path / "labels.gz", np.arange(200)))
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(Fault, match=r"labels\.gz is damaged"):
        read_labels(path)


def test_pictures_and_labels_of_different_counts_are_refused(tmp_path: Path) -> None:
    data = options(train=write_set(tmp_path, PICTURES, LABELS[:9]))
    with pytest.raises(Fault, match=r"train-pictures\.gz holds 10 pictures, but .*train-labels holds 9 labels"):
        prepare_pictures(data, tmp_path / "prepared", silent)


def test_labels_may_be_lines_of_text(tmp_path: Path) -> None:
    named = {"pictures": write_idx(tmp_path / "pictures", PICTURES[:3]), "labels": str(tmp_path / "labels.txt")}
    (tmp_path / "labels.txt").write_text("oak\nash\noak\n", encoding="utf-8")
    prepared = prepare_pictures(options(train=named, valid=named), tmp_path / "prepared", silent)
    assert prepared.labels.classes == ["ash", "oak"]
    assert prepared.splits["train"].labels.tolist() == [1, 0, 1]
    (tmp_path / "labels.txt").write_text("oak\n \noak\n", encoding="utf-8")
    with pytest.raises(Fault, match=r"labels\.txt, line 2: there is no label"):
        prepare_pictures(options(train=named, valid=named), tmp_path / "again", silent)


def test_what_is_held_out_is_not_learnt_from_and_the_same_every_time(tmp_path: Path) -> None:
    data = options(train=write_set(tmp_path, PICTURES, LABELS), hold_out=2)
    prepared = prepare_pictures(data, tmp_path / "prepared", silent)
    train, valid = prepared.splits["train"], prepared.splits["valid"]
    assert sorted([*train.rows, *valid.rows]) == list(range(10))
    assert len(valid.rows) == 2
    assert np.array_equal(train.pictures, PICTURES)
    assert train.labels.tolist() == LABELS
    assert isinstance(train.pictures, np.memmap)
    assert prepared.report == ["8 train, 2 valid pictures, 2 classes"]
    again = prepare_pictures(data, tmp_path / "elsewhere", silent)
    assert np.array_equal(again.splits["valid"].rows, valid.rows)


def test_what_was_prepared_is_opened_again_and_made_anew_for_other_options(tmp_path: Path) -> None:
    train = write_set(tmp_path, PICTURES, LABELS)
    prepare_pictures(options(train=train), tmp_path / "prepared", silent)
    Path(train["pictures"]).unlink()
    assert len(prepare_pictures(options(train=train), tmp_path / "prepared", silent).splits["train"].rows) == 8
    with pytest.raises(FileNotFoundError):
        prepare_pictures(options(train=train, hold_out=1), tmp_path / "prepared", silent)


def test_an_array_that_was_damaged_is_refused(tmp_path: Path) -> None:
    data = options(train=write_set(tmp_path, PICTURES, LABELS))
    prepare_pictures(data, tmp_path / "prepared", silent)
    array = tmp_path / "prepared" / "train-pictures.npy"
    array.write_bytes(array.read_bytes()[:-1] + b"!")
    with pytest.raises(Fault, match=r"train-pictures\.npy is missing, damaged"):
        prepare_pictures(data, tmp_path / "prepared", silent)


def test_ones_own_pictures_are_named_in_a_listing(tmp_path: Path) -> None:
    listing = write_listing(tmp_path, PICTURES, ["cat", "dog"] * 5)
    prepared = prepare_pictures(options(train=listing, test=listing), tmp_path / "prepared", silent)
    assert np.array_equal(prepared.splits["test"].pictures, PICTURES)
    assert prepared.labels.classes == ["cat", "dog"]
    assert open_labels(prepared.files()) == prepared.labels
    assert (prepared.labels.height, prepared.labels.width) == (3, 4)


def test_numbers_are_classes_in_the_order_of_their_size(tmp_path: Path) -> None:
    listing = write_listing(tmp_path, PICTURES, ["10", "9", "b", "a", "9"] * 2)
    assert prepare_pictures(options(train=listing), tmp_path / "p", silent).labels.classes == ["9", "10", "a", "b"]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("small.png\tcat\n", r"small\.png has 2 × 4 pixels, expected 3 × 4"),
        ("text.png\tcat\n", r"text\.png is not in a picture format that can be read: PNG"),
        ("cut.png\tcat\n", r"cut\.png is a damaged picture"),
        ("0.png cat\n", r"listing\.tsv, line 11: a line must hold a picture's file, a tab, its label"),
    ],
)
def test_a_line_that_names_no_picture_of_the_size_is_refused(tmp_path: Path, line: str, words: str) -> None:
    listing = Path(write_listing(tmp_path, PICTURES, ["cat", "dog"] * 5))
    Image.fromarray(PICTURES[0, :2]).save(tmp_path / "small.png")
    (tmp_path / "text.png").write_text("no picture")
    noise = np.random.default_rng(1).integers(0, 256, (3, 4), np.uint8)
    Image.fromarray(noise).save(tmp_path / "cut.png")
    (tmp_path / "cut.png").write_bytes((tmp_path / "cut.png").read_bytes()[:50])
    listing.write_text(listing.read_text() + line)
    with pytest.raises(Fault, match=words):
        prepare_pictures(options(train=str(listing)), tmp_path / "prepared", silent)


def test_colours_become_grey(tmp_path: Path) -> None:
    Image.new("RGB", (2, 1), "white").save(tmp_path / "white.png")
    assert read_picture_file(tmp_path / "white.png").tolist() == [[255, 255]]


def test_a_picture_that_would_fill_the_memory_is_refused(tmp_path: Path) -> None:
    Image.new("1", (40_000, 2)).save(tmp_path / "wide.png")
    with pytest.raises(Fault, match=r"wide\.png has 2 × 40000 pixels \(height × width\); a side has at most 1024"):
        read_picture_file(tmp_path / "wide.png")


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"valid": {"listing": "other.tsv"}}, "has the label 'bird', which no training picture has"),
        ({"scene": {"side": 3}}, r"data\.scene\.side is 3, but the pictures of .* have 3 × 4 pixels"),
        ({"scene": {"side": 9, "clutter": 1}}, r"data\.scene\.clutter needs pictures of 8 pixels per side"),
    ],
)
def test_sets_that_do_not_fit_together_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, table: dict[str, Any], words: str
) -> None:
    listing = write_listing(tmp_path, PICTURES, ["cat", "dog"] * 5)
    (tmp_path / "other.tsv").write_text("0.png\tbird\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(Fault, match=words):
        prepare_pictures(options(train=listing, **table), tmp_path / "prepared", silent)


def test_one_class_and_too_few_pictures_are_refused(tmp_path: Path) -> None:
    with pytest.raises(Fault, match="has 1 classes; a classifier needs 2 to 10,000"):
        prepare_pictures(options(train=write_set(tmp_path, PICTURES, [1] * 10)), tmp_path / "a", silent)
    with pytest.raises(Fault, match=r"has 4 pictures; with fewer than 5, name others as data\.valid"):
        prepare_pictures(options(train=write_set(tmp_path, PICTURES[:4], [0, 1] * 2)), tmp_path / "b", silent)


def test_a_set_in_two_forms_and_in_none_is_refused() -> None:
    for train in ({"pictures": "a"}, {"pictures": "a", "labels": "b", "listing": "c"}, {}):
        with pytest.raises(Fault, match="need either 'pictures' and 'labels', or a 'listing'"):
            options(train=train)


def test_where_labels_are_not_asked_for_they_may_be_missing(tmp_path: Path) -> None:
    write_idx(tmp_path / "idx", PICTURES)
    Image.fromarray(PICTURES[0]).save(tmp_path / "0.png")
    (tmp_path / "listing").write_text("0.png\n0.png\tcat\n", encoding="utf-8")
    data = check(BinaryData, {"train": {"pictures": str(tmp_path / "idx")}, "test": str(tmp_path / "listing")}, "data")
    prepared = prepare_pictures(data.grey, tmp_path / "prepared", silent)
    assert prepared.report == ["8 train, 2 valid, 2 test pictures"]
    assert (prepared.labels.height, prepared.labels.width) == (3, 4)
    assert np.array_equal(prepared.splits["test"].pictures, PICTURES[[0, 0]])
    record = (tmp_path / "prepared" / "finished.json").stat().st_mtime_ns
    prepare_pictures(data.grey, tmp_path / "prepared", silent)
    assert (tmp_path / "prepared" / "finished.json").stat().st_mtime_ns == record


def test_labels_of_a_model_folder_need_not_be_trusted() -> None:
    for files in ({}, {LABELS_FILE: b"{}"}, {LABELS_FILE: b'{"classes": ["a", "b"], "height": 0, "width": 3}'}):
        with pytest.raises(Fault, match=r"labels\.json of the model folder is missing or damaged"):
            open_labels(files)
