"""The model folder: its content, writing it so that a kill at any moment leaves it intact, and reading it.

Files are written under temporary names and renamed. A manifest holds the checksum of each; while files are replaced it
allows both old and new content, so a good folder never looks damaged. Nothing is pickled, and nothing outside the
folder is opened. None of this loads torch, so that a fast engine can start without it.
"""

import errno
import json
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from regard.base.faults import Fault
from regard.base.files import checksum, finite, is_inner_file, naming, read_regular_file, write_file
from regard.base.parsing import MOST_LISTED, check_json_size, parse_json, parse_toml
from regard.base.plugin_record import PLUGINS, check_plugins

MANIFEST = "manifest.json"
WEIGHTS = "weights.safetensors"
MAPPED_MARK = b"REGARDNG"  # first bytes of an n-gram model that is a single file
RECIPE = "recipe.toml"
SCORES = "scores.json"
ABOUT = "about.json"  # training data, size, and examples to try
_TEXTS = (".json", ".toml", ".model", ".txt")  # files of words and facts, not arrays
CERTAINTY = "certainty.json"  # its usual certainty about its outputs


def update_folder(folder: Path, files: Mapping[str, bytes]) -> None:
    """Put these files into a folder with a manifest, keeping the others."""
    folder.mkdir(parents=True, exist_ok=True)
    manifest = read_manifest(folder) if (folder / MANIFEST).exists() else {}
    new = {name: checksum(content) for name, content in files.items()}
    both = {name: sorted({*manifest.get(name, []), *([new[name]] if name in new else [])}) for name in manifest | new}
    write_manifest(folder, both)
    for name, content in files.items():
        write_file(folder / name, content)
    write_manifest(folder, manifest | {name: [checksum] for name, checksum in new.items()})


def read_folder(folder: Path, names: list[str] | None = None) -> dict[str, bytes]:
    """Return the contents of the named files (or all) of a folder, each checked against the manifest."""
    with checked_meanwhile(folder, names) as files:
        return files


@contextmanager
def checked_meanwhile(folder: Path, names: list[str] | None = None) -> Iterator[dict[str, bytes]]:
    """Yield the files while threads check them inside this block.

    The block succeeds only if every file is intact. An error in the block caused by a damaged file is reported as
    damage.
    """
    manifest = read_manifest(folder)
    missing = [name for name in names or [] if name not in manifest]
    if missing:
        raise Fault(f"{folder} is incomplete: its manifest does not list {', '.join(missing)}.")
    files = {name: _read(folder, name) for name in names or manifest}
    with ThreadPoolExecutor(thread_name_prefix="checksum") as threads:
        sums = {name: threads.submit(checksum, content) for name, content in files.items()}

        def check() -> None:
            for name, sum_ in sums.items():
                if sum_.result() not in manifest[name]:
                    raise Fault(f"{folder / name} is damaged: its checksum is not the one in {MANIFEST}.") from None

        try:
            yield files
        except Exception:
            check()
            raise
        check()


def _read(folder: Path, name: str) -> bytes:
    if not is_inner_file(folder, name):
        raise Fault(f"{folder / MANIFEST} names the file {name[:100]!r}, which is outside the folder.")
    return _content(folder / name)


def _content(path: Path) -> bytes:
    try:
        if path.suffix in _TEXTS and path.stat().st_size > MOST_LISTED:
            raise Fault(f"{path} has {path.stat().st_size:,} bytes, which is too large for such a file.")
        content = read_regular_file(path)
    except OSError as error:
        if error.errno in (errno.EMFILE, errno.ENFILE):  # says nothing about this file, which may be intact
            raise
        raise Fault(f"{path} is missing or cannot be read: {error.strerror}.") from None
    if path.suffix == ".json":
        check_json_size(content, str(path), MOST_LISTED)
    return content


def read_manifest(folder: Path) -> dict[str, list[str]]:
    """Return the checksums that the files of a folder may have."""
    path = folder / MANIFEST
    if is_mapped(folder):
        raise Fault(f"{folder} is a mapped file of n-grams, which cannot be used here; give the model folder itself.")
    if not folder.is_dir():
        raise Fault(
            f"{folder} is a file, not a model folder." if folder.is_file() else f"There is no model folder at {folder}."
        )
    if path.is_symlink():
        raise Fault(f"{path} is a link; a model folder must hold its own files.")
    if not path.exists():
        raise Fault(f"{folder} is not a model folder: it has no {MANIFEST}.")
    content = _content(path)
    try:
        files = parse_json(content, str(path))["files"]
        if all(isinstance(sums, list) and all(isinstance(s, str) for s in sums) for sums in files.values()):
            return dict(files)
    except (KeyError, TypeError, AttributeError, Fault):
        pass
    raise Fault(f"{path} is damaged: it is not a list of files and their checksums.")


def model_checksum(folder: Path) -> str:
    """Return one checksum for everything that decides what a model writes."""
    files = {name: sums for name, sums in read_manifest(folder).items() if name != SCORES}
    return checksum(json.dumps(files, sort_keys=True).encode())


def write_manifest(folder: Path, files: Mapping[str, list[str]]) -> None:
    """Write which contents the files of a folder may have."""
    text = json.dumps({"checksum": "sha256", "files": dict(sorted(files.items()))}, indent=1)
    write_file(folder / MANIFEST, text.encode())


def is_whole(folder: Path) -> bool:
    """Return True if every file of a folder matches its manifest."""
    try:
        return bool(read_folder(folder))
    except Fault:
        return False


def is_mapped(path: Path) -> bool:
    """Return True if the path is a model in a single file, which is memory-mapped when opened."""
    if not path.is_file():
        return False
    with naming(path), path.open("rb") as file:
        return file.read(len(MAPPED_MARK)) == MAPPED_MARK


def read_recipe(folder: Path) -> dict[str, Any]:
    """Return the recipe of a model folder as a table; refuse a model whose plugins are missing."""
    content = read_folder(folder, [RECIPE])[RECIPE]
    if PLUGINS in read_manifest(folder):
        check_plugins(folder, read_folder(folder, [PLUGINS])[PLUGINS])
    try:
        return parse_toml(content.decode("utf-8"), str(folder / RECIPE))
    except UnicodeDecodeError as error:
        raise Fault(f"{folder / RECIPE} is not valid TOML: {error}.") from None


def scores_to_bytes(scores: Sequence[Mapping[str, Any]]) -> bytes:
    """Return the content of scores.json; numbers that are not finite become null."""
    return json.dumps(finite({"scores": scores}), indent=1, ensure_ascii=False, allow_nan=False).encode()
