"""`make release`: archives with the same bytes on every machine, and refusals."""

import io
import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

import regard

ROOT = Path(__file__).parents[1]
FILES = {"regard/__init__.py": b"one", "regard/run": b"#!/bin/sh", "regard-1.dist-info/RECORD": b"regard/run,,"}
EPOCH = 1_700_000_000


@pytest.fixture
def release(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / ".ci"))
    import release

    return release


def wheel(path: Path, names: list[str], year: int, mode: int) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            entry = zipfile.ZipInfo(name, (year, 1, 1, 0, 0, 0))
            entry.external_attr = (mode | (0o100 if name.endswith("/run") else 0)) << 16
            archive.writestr(entry, FILES[name])
    return path


def source(path: Path, names: list[str], time: int, mode: int) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        folder = tarfile.TarInfo("regard")
        folder.type = tarfile.DIRTYPE
        archive.addfile(folder)
        for name in names:
            entry = tarfile.TarInfo(name)
            entry.size, entry.mtime, entry.uid, entry.uname = len(FILES[name]), time, time, "someone"
            entry.mode = mode | (0o100 if name.endswith("/run") else 0)
            archive.addfile(entry, io.BytesIO(FILES[name]))
    return path


def test_wheels_are_the_same_whoever_built_them(release: ModuleType, tmp_path: Path) -> None:
    first, second = (
        wheel(tmp_path / "a.whl", [*FILES], 2001, 0o644),
        wheel(tmp_path / "b.whl", [*FILES][::-1], 2002, 0o600),
    )
    assert first.read_bytes() != second.read_bytes()
    for file in (first, second):
        release.repack(file, EPOCH)
    assert first.read_bytes() == second.read_bytes()
    with zipfile.ZipFile(first) as archive:
        assert {name: archive.read(name) for name in archive.namelist()} == FILES
        modes = {info.filename: info.external_attr >> 16 & 0o777 for info in archive.infolist()}
        assert archive.namelist()[-1] == "regard-1.dist-info/RECORD"  # installers want the metadata last
        assert archive.infolist()[0].date_time == (2023, 11, 14, 22, 13, 20)
    assert (modes["regard/run"], modes["regard/__init__.py"]) == (0o755, 0o644)


def test_source_archives_are_the_same_whoever_built_them(release: ModuleType, tmp_path: Path) -> None:
    first, second = (
        source(tmp_path / "a.tar.gz", [*FILES], 5, 0o644),
        source(tmp_path / "b.tar.gz", [*FILES][::-1], 6, 0o600),
    )
    for file in (first, second):
        release.repack(file, EPOCH)
    assert first.read_bytes() == second.read_bytes()
    with tarfile.open(first) as archive:
        members = {info.name: (info.mode, info.mtime, info.uid, info.uname) for info in archive.getmembers()}
        assert members["regard/run"] == (0o755, EPOCH, 0, "")
        assert members.keys() == FILES.keys()
        assert archive.extractfile("regard/run").read() == FILES["regard/run"]


def test_two_builds_that_differ_are_refused(
    release: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [tmp_path / folder / "regard.whl" for folder in ("one", "two")]
    for number, file in enumerate(files):
        file.parent.mkdir()
        file.write_text(str(number))
    release.refuse_differences(files[:1], files[:1])
    assert "the same bytes: regard.whl" in capsys.readouterr().out
    with pytest.raises(SystemExit) as refused:
        release.refuse_differences(files[:1], files[1:])
    assert refused.value.code == 2
    assert "built twice, these differ: regard.whl." in capsys.readouterr().err


def test_a_wheel_that_lacks_a_file_or_brings_another_is_refused(
    release: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = wheel(tmp_path / "a.whl", [*FILES], 2001, 0o644)
    release.refuse_incomplete(file, {"regard/__init__.py", "regard/run"})
    with pytest.raises(SystemExit):
        release.refuse_incomplete(file, {"regard/__init__.py", "regard/page.js"})
    assert "differ in regard/page.js, regard/run." in capsys.readouterr().err


def test_only_what_is_committed_is_released(
    release: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = ("-c", "user.name=someone", "-c", "user.email=someone@example.org")
    day = os.environ | {"GIT_COMMITTER_DATE": f"{EPOCH} +0300"}
    (tmp_path / "file").write_text("one")
    for words in (["init", "--quiet"], ["add", "."], [*name, "commit", "--quiet", "--message", "one"]):
        subprocess.run(["git", *words], cwd=tmp_path, check=True, env=day)
    release.refuse_changes(tmp_path)
    assert release.commit_time(tmp_path) == EPOCH
    (tmp_path / "other").write_text("two")
    with pytest.raises(SystemExit) as refused:
        release.refuse_changes(tmp_path)
    assert refused.value.code == 2
    assert "?? other" in capsys.readouterr().err


def test_the_version_is_read_without_importing(release: ModuleType) -> None:
    assert release.version_in(ROOT) == regard.__version__


def test_a_trial_ends_with_the_first_command_that_fails(
    release: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from try_wheel import Trial

    trial = Trial.__new__(Trial)
    trial.folder, trial.programs, trial.environment = tmp_path, Path(sys.executable).parent, dict(os.environ)
    program = Path(sys.executable).name
    assert trial.run(program, "-c", "print(1)") == "1"
    with pytest.raises(SystemExit, match="exits with 3"):
        trial.run(program, "-c", "raise SystemExit(3)")
