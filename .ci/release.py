"""`make release`: build wheel and source archive twice, compare them, try the wheel in a fresh environment, keep both.

What is built is the last commit, not the working tree. The second build runs in another folder under another umask, so
that whatever depends on either shows itself. Python's standard library is enough to run this, `build` beside it.
"""

import gzip
import hashlib
import io
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from pathlib import Path

from try_wheel import try_wheel

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"
SUMS = "SHA256SUMS"
_UMASKS = (0o022, 0o077)


class Refused(SystemExit):
    """A release that cannot be made; its sentence is printed, and the exit status is 2."""

    def __init__(self, sentence: str) -> None:
        print(f"release: {sentence}", file=sys.stderr)
        super().__init__(2)


def main() -> None:
    refuse_changes(ROOT)
    version, commit, epoch = version_in(ROOT), git(ROOT, "rev-parse", "HEAD"), commit_time(ROOT)
    with tempfile.TemporaryDirectory(prefix="regard-release-") as place:
        folders = [Path(place) / f"{number}" for number in range(len(_UMASKS))]
        first, second = (build(folder, commit, epoch, umask) for folder, umask in zip(folders, _UMASKS, strict=True))
        refuse_differences(first, second)
        wheel = next(file for file in first if file.suffix == ".whl")
        refuse_incomplete(wheel, package_files(ROOT))
        try_wheel(wheel, version, ROOT / "constraints.txt", Path(place) / "trial")
        keep(first)


def git(folder: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


def refuse_changes(folder: Path) -> None:
    """Refuse a working tree that differs from its last commit."""
    if changes := git(folder, "status", "--porcelain"):
        raise Refused(f"commit or remove these first, since a release is built from a commit:\n{changes}")


def commit_time(folder: Path) -> int:
    """Return the time of the last commit in seconds, which every file of a release carries."""
    return int(git(folder, "log", "-1", "--format=%ct"))


def version_in(folder: Path) -> str:
    """Return the version of the package, without importing it."""
    names: dict[str, str] = {}
    exec((folder / "regard" / "base" / "version.py").read_text(encoding="utf-8"), names)
    return names["__version__"]


def package_files(folder: Path) -> set[str]:
    """Return the files of the package that are under version control."""
    return set(git(folder, "ls-files", "regard").splitlines())


def build(folder: Path, commit: str, epoch: int, umask: int) -> list[Path]:
    """Build wheel and source archive of a commit in a new folder; the wheel is made from the archive."""
    source, out = folder / "source", folder / "dist"
    source.mkdir(parents=True)
    archive = subprocess.run(["git", "archive", commit], cwd=ROOT, check=True, capture_output=True).stdout
    before = os.umask(umask)
    try:
        with tarfile.open(fileobj=io.BytesIO(archive)) as files:
            files.extractall(source, filter="data")
        constraints = {"PIP_CONSTRAINT": str(ROOT / "constraints.txt"), "SOURCE_DATE_EPOCH": str(epoch)}
        command = [sys.executable, "-m", "build", "--outdir", str(out), str(source)]
        subprocess.run(command, check=True, env=os.environ | constraints, stdout=subprocess.DEVNULL)
    finally:
        os.umask(before)
    files = sorted(out.iterdir())
    for file in files:
        repack(file, epoch)
    return files


def repack(file: Path, epoch: int) -> None:
    """Write an archive again with its files sorted, of one owner and one time, and readable by everyone."""
    file.write_bytes(repacked_wheel(file, epoch) if file.suffix == ".whl" else repacked_source(file, epoch))


def repacked_wheel(file: Path, epoch: int) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(file) as old, zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as new:
        for member in sorted(old.infolist(), key=lambda info: (".dist-info/" in info.filename, info.filename)):
            entry = zipfile.ZipInfo(member.filename, time.gmtime(epoch)[:6])
            entry.compress_type, entry.create_system = zipfile.ZIP_DEFLATED, 3  # 3 is Unix, wherever it is built
            entry.external_attr = (0o100000 | _mode(member.external_attr >> 16)) << 16
            new.writestr(entry, old.read(member), compresslevel=9)
    return content.getvalue()


def repacked_source(file: Path, epoch: int) -> bytes:
    content = io.BytesIO()
    with (
        tarfile.open(file) as old,
        gzip.GzipFile("", "wb", 9, content, mtime=epoch) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as new,
    ):
        for member in sorted(old.getmembers(), key=lambda info: info.name):
            if not member.isfile():
                continue
            entry = tarfile.TarInfo(member.name)
            entry.size, entry.mtime, entry.mode = member.size, epoch, _mode(member.mode)
            new.addfile(entry, old.extractfile(member))
    return content.getvalue()


def _mode(mode: int) -> int:
    return 0o755 if mode & 0o100 else 0o644


def sum_of(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def refuse_differences(first: list[Path], second: list[Path]) -> None:
    """Refuse two builds that are not the same, byte for byte."""
    sums = [{file.name: sum_of(file) for file in files} for files in (first, second)]
    if sums[0] != sums[1]:
        different = sorted(name for name in sums[0] | sums[1] if sums[0].get(name) != sums[1].get(name))
        raise Refused(f"built twice, these differ: {', '.join(different)}.")
    print(f"built twice, the same bytes: {', '.join(sums[0])}")


def refuse_incomplete(wheel: Path, expected: set[str]) -> None:
    """Refuse a wheel that lacks a file of the package or brings another."""
    with zipfile.ZipFile(wheel) as archive:
        members = {name for name in archive.namelist() if ".dist-info/" not in name}
    if members != expected:
        raise Refused(f"the wheel and the package differ in {', '.join(sorted(members ^ expected))}.")


def keep(files: list[Path]) -> None:
    """Copy the archives to `dist` with a list of their checksums."""
    shutil.rmtree(DIST, ignore_errors=True)
    DIST.mkdir()
    for file in files:
        shutil.copy(file, DIST)
    (DIST / SUMS).write_text("".join(f"{sum_of(file)}  {file.name}\n" for file in files), encoding="ascii")
    print((DIST / SUMS).read_text(encoding="ascii"), end="")


if __name__ == "__main__":
    main()
