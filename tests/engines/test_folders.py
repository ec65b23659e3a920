"""Folders are complete or absent: what is replaced, what stays, and what a killed process leaves."""

import subprocess
import sys
from pathlib import Path

import pytest

from regard.base.faults import Fault
from regard.engines.folders import FolderKind, whole_folder

KIND = FolderKind(("export.json", "*.onnx"), ("about.json",))


def made(out: Path, text: str = "new") -> None:
    with whole_folder(out, KIND) as beside:
        (beside / "export.json").write_text(text)


def broken(out: Path) -> None:
    with whole_folder(out, KIND) as beside:
        (beside / "export.json").write_text("half")
        raise ZeroDivisionError


def beside_of(out: Path) -> set[str]:
    return {path.name for path in out.parent.iterdir()} - {out.name}


def test_a_folder_of_the_same_kind_is_replaced_whatever_is_missing_of_it(tmp_path: Path) -> None:
    out = tmp_path / "deep" / "onnx"
    made(out, "first")
    (out / "step.onnx").touch()
    (out / "export.json").unlink()
    made(out, "second")
    assert {path.name: path.read_text() for path in out.iterdir()} == {"export.json": "second"}
    assert not beside_of(out)


@pytest.mark.parametrize(
    ("names", "obstacle"),
    [
        (["export.json", "thesis.tex"], "it has thesis.tex"),
        (["about.json"], "it has no export.json"),
        (["export.json", "sub"], "it has sub"),
    ],
)
def test_no_other_folder_is_replaced(tmp_path: Path, names: list[str], obstacle: str) -> None:
    out = tmp_path / "precious"
    out.mkdir()
    for name in names:
        (out / name).write_text("dear")
    with pytest.raises(Fault, match=f"precious holds other things \\({obstacle}\\) and is not replaced"):
        made(out)
    assert sorted(path.name for path in out.iterdir()) == sorted(names)
    assert not beside_of(out)


def test_what_was_there_stays_if_the_block_fails(tmp_path: Path) -> None:
    out = tmp_path / "onnx"
    made(out, "old")
    with pytest.raises(ZeroDivisionError):
        broken(out)
    assert (out / "export.json").read_text() == "old"
    assert not beside_of(out)


def test_a_link_to_a_folder_stays_a_link(tmp_path: Path) -> None:
    made(tmp_path / "behind", "old")
    (tmp_path / "link").symlink_to(tmp_path / "behind")
    made(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "behind" / "export.json").read_text() == "new"


def test_only_one_process_writes_a_folder(tmp_path: Path) -> None:
    out = tmp_path / "onnx"
    with whole_folder(out, KIND) as beside:
        (beside / "export.json").write_text("first")
        with pytest.raises(Fault, match="Another process is writing"):
            made(out)
        assert (beside / "export.json").is_file()
    assert (out / "export.json").read_text() == "first"


def test_what_a_killed_process_left_is_cleared_up(tmp_path: Path) -> None:
    out = tmp_path / "onnx"
    made(out, "old")
    script = f"""
import os, pathlib, signal
from regard.engines.folders import whole_folder
from test_folders import KIND
with whole_folder(pathlib.Path({str(out)!r}), KIND) as beside:
    (beside / "half").mkdir()
    os.kill(os.getpid(), signal.SIGKILL)
"""
    subprocess.run([sys.executable, "-c", script], cwd=Path(__file__).parent, check=False)
    assert beside_of(out) == {".onnx.partial"}
    made(out)
    assert [path.name for path in out.iterdir()] == ["export.json"]
    assert not beside_of(out)


def test_what_was_taken_away_for_nothing_comes_back(tmp_path: Path) -> None:
    out = tmp_path / "onnx [1]"
    made(out, "old")
    out.rename(tmp_path / ".onnx [1].before-1")  # the process was killed here
    with pytest.raises(ZeroDivisionError):
        broken(out)
    assert (out / "export.json").read_text() == "old"
    assert not beside_of(out)
