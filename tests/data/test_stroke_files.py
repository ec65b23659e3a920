"""Files of drawings: reading of each kind, and refusals with their messages."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
from stroke_files import rings, write_archive, write_drawings

from regard.base.faults import Fault
from regard.data.strokes.archives import read_archive
from regard.data.strokes.drawings import moves_of, read_drawings, read_strokes, simplify, strokes_of

CROSS = [[[5, 5], [7, 5]], [[6, 4], [6, 6], [6, 7]]]
MOVES = [[2, 0, 1], [-1, -1, 0], [0, 2, 0], [0, 1, 1]]  # the same, from its start


def as_lists(strokes: list[np.ndarray]) -> list[list[list[float]]]:
    return [stroke.tolist() for stroke in strokes]


def test_a_drawing_is_what_the_pen_does_after_it_was_put_down() -> None:
    moves = moves_of([np.array(stroke, float) for stroke in CROSS])
    assert moves.tolist() == MOVES
    shifted = [[[x - 5, y - 5] for x, y in stroke] for stroke in CROSS]
    assert as_lists(strokes_of(moves)) == shifted


def test_coordinates_are_rounded_to_units() -> None:
    assert moves_of([np.array([[0.0, 0.0], [1.2, 2.6]])], unit=0.5).tolist() == [[2, 5, 1]]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.json", json.dumps(CROSS)),
        ("a.jsonl", "\n" + json.dumps({"strokes": CROSS}) + "\n"),
        ("drawn.json", json.dumps({"drawings": [{"strokes": CROSS, "begun": 0}]})),
        ("a.svg", '<svg><polyline points="5,5 7,5"/><polyline class="b" points="6 4, 6 6 6,7" /></svg>'),
    ],
)
def test_own_drawings_are_json_or_polylines(tmp_path: Path, name: str, content: str) -> None:
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    assert [moves.tolist() for moves in read_drawings(path, "train")] == [MOVES]
    assert as_lists(read_strokes(path)) == CROSS


def test_an_archive_has_a_part_for_each_split_and_may_begin_without_a_move(tmp_path: Path) -> None:
    drawings = [np.array([[0, 0, 0], *MOVES], np.int16), np.array([[3, 4, 0]], np.int16)]
    path = write_archive(tmp_path / "set.npz", train=drawings, valid=drawings[:1])
    assert [moves.tolist() for moves in read_drawings(path, "train")] == [MOVES, [[3, 4, 1]]]
    assert len(read_drawings(path, "valid")) == 1
    with pytest.raises(Fault, match="has no part 'test'"):
        read_drawings(path, "test")


class Malice:
    """Runs a command when unpickled."""

    def __init__(self, place: Path) -> None:
        self.place = place

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.system, (f"touch {self.place}",)


def test_a_pickle_that_asks_for_more_is_refused_and_runs_nothing(tmp_path: Path) -> None:
    proof = tmp_path / "ran"
    path = write_archive(tmp_path / "set.npz", train=[Malice(proof)])
    with pytest.raises(Fault, match=r"not an archive of drawings.*it asks for posix\.system, which is not admitted"):
        read_archive(path, "train")
    assert not proof.exists()


@pytest.mark.parametrize(
    ("members", "words"),
    [
        ({"train": ["text"]}, "not a list of moves"),
        ({"train": [np.zeros((4, 2))]}, "not a list of moves"),
        ({"train": [{"a": 1}]}, "not a list of moves"),
        ({"train": [np.array([[np.nan, 0, 1]])]}, "a move in it is not a pair of numbers of at most 1,000,000"),
        ({"train": [np.array([[1e300, 0, 1]])]}, "a move in it is not a pair of numbers of at most 1,000,000"),
        ({"train": [np.array([[1, 2, 7]])]}, "a pen value in it is neither 0 nor 1"),
    ],
)
def test_an_archive_of_other_things_is_refused(tmp_path: Path, members: dict, words: str) -> None:
    with pytest.raises(Fault, match=words):
        read_archive(write_archive(tmp_path / "set.npz", **members), "train")


def test_an_archive_without_drawings_is_refused(tmp_path: Path) -> None:
    path = write_archive(tmp_path / "set.npz", test=[np.zeros((0, 3), np.int16)])
    for read in (read_strokes, lambda file: read_drawings(file, "test")):
        with pytest.raises(Fault, match=r"set\.npz holds no drawing in its part 'test'"):
            read(path)


def test_what_is_no_archive_is_refused(tmp_path: Path) -> None:
    (tmp_path / "set.npz").write_bytes(b"no archive")
    with pytest.raises(Fault, match="not an archive of drawings, or it is damaged"):
        read_archive(tmp_path / "set.npz", "train")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("a word", "line 1 is damaged: it is not JSON"),
        ("", "holds no drawing"),
        ("[]", "line 1: the drawing is empty"),
        ("[[]]", "line 1: the drawing is empty"),
        ("[[[1, 2, 3]]]", r"a drawing must be a list of strokes, each a list of points \[x, y\]"),
        ("[[[1, true]]]", "each a list of points"),
        ('{"lines": []}', "a drawing must be a list of strokes"),
        ("[[[1, NaN]]]", "is not JSON"),
        ("[[[1, 1e999]]]", "a coordinate must be a number of at most 1,000,000"),
        ("[[[1, 2]]]\n[[[3]]]", "line 2: a drawing must be"),
    ],
)
def test_what_is_no_drawing_is_refused_with_its_line(tmp_path: Path, content: str, words: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(Fault, match=words):
        read_drawings(path, "train")


@pytest.mark.parametrize(
    ("content", "words"),
    [("<svg/>", "has no polyline"), ('<polyline points="1,2,3"/>', "not pairs of numbers")],
)
def test_an_svg_without_lines_is_refused(tmp_path: Path, content: str, words: str) -> None:
    (tmp_path / "a.svg").write_text(content, encoding="utf-8")
    with pytest.raises(Fault, match=words):
        read_drawings(tmp_path / "a.svg", "train")


def test_small_files_are_what_they_say(tmp_path: Path) -> None:
    drawings = read_drawings(write_drawings(tmp_path / "a.jsonl", 3), "train")
    assert len(drawings) == len(rings(3))
    assert [int(moves[:, 2].sum()) for moves in drawings] == [2, 2, 2]


def test_a_simplified_stroke_keeps_its_ends_and_what_lies_far_off() -> None:
    stroke = np.array([[0, 0], [2, 0.5], [4, 0], [4, 2], [4.5, 3], [4, 4], [0, 0]], float)
    assert simplify(stroke, 0.6).tolist() == [[0, 0], [4, 0], [4, 4], [0, 0]]  # a ring, which ends where it begins
    assert simplify(stroke, 0.4).tolist() == [[0, 0], [2, 0.5], [4, 0], [4.5, 3], [4, 4], [0, 0]]
    assert simplify(stroke[:1], 9).tolist() == [[0, 0]]


def test_drawings_of_files_and_archives_are_simplified_alike(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("[[[0, 0], [5, 1], [10, 0]], [[3, 3], [3, 9]]]", encoding="utf-8")
    moves = read_drawings(tmp_path / "a.json", "train")
    archive = write_archive(tmp_path / "a.npz", train=moves)
    for path in (tmp_path / "a.json", archive):
        assert read_drawings(path, "train", finest=2)[0].tolist() == [[10, 0, 1], [-7, 3, 0], [0, 6, 1]]
