"""Facts of a model folder for its card: data with checksums, files, scores, how far it was trained."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, Field

from regard.base.checksums import file_checksum, read_any_record
from regard.base.faults import Fault
from regard.base.files import checksum
from regard.base.model_folder import MANIFEST, RECIPE, read_folder, read_recipe
from regard.base.recipe import Recipe
from regard.data.catalogue.entries import Entry, entries
from regard.data.catalogue.unpack import bare
from regard.data.prepared import FINISHED, SPLITS
from regard.engines.exported import CTRANSLATE2, ONNX, is_export

if TYPE_CHECKING:
    from regard.families.model_folder import Description
    from regard.runs.about import About
    from regard.training.pace import Course

# Recipe keys whose values are files, in addition to the splits themselves.
_FILE_KEYS = {
    "captions", "components", "contexts", "edges", "features", "file", "labels", "listing", "names", "pairs",
    "pictures", "recordings", "source", "split", "target", "vectors",
}  # fmt: skip
_PURPOSE = "purpose.json"  # next to prepared text: the files it was made from


class _Input(BaseModel):
    name: str
    size: int = Field(ge=0)
    checksum: str = Field(pattern="^[0-9a-f]{64}$")


class _Purpose(BaseModel):
    inputs: list[_Input] = []


class _Finished(BaseModel):
    files: dict[str, str] = {}


@dataclass(frozen=True)
class FileFact:
    """A file's name and content; only data files have `split` and `licence`."""

    name: str
    size: int | None = None
    sha256: str | None = None
    split: str = ""
    licence: str = ""


@dataclass(frozen=True)
class CardFacts:
    """Everything that a card states."""

    name: str
    recipe: Recipe
    described: dict[str, Any]
    about: "About"
    course: "Course | None"
    scores: list[dict[str, Any]]
    data: list[FileFact]
    prepared: list[FileFact]
    files: list[FileFact]
    sets: list[Entry]
    unsure: str
    version: str


def gather(folder: Path, description: "Description | None" = None) -> CardFacts:
    """Read all facts of a model folder, checking its files against the manifest.

    `description` is that of the model if it is loaded; otherwise it may have to be loaded for it.
    """
    from regard.runs.about import read_about
    from regard.runs.description import describe, known
    from regard.runs.kept_scores import read_scores
    from regard.training.pace import read_course

    recipe, described, _ = description or describe(folder, 1)
    contents = read_folder(folder)
    table = read_recipe(folder)
    place = Path(folder / "training" / "corpus")
    data = list(dict.fromkeys(data_files(table.get("data", {}), place)))
    return CardFacts(
        name=folder.resolve().name,
        recipe=recipe,
        described=described,
        about=read_about(folder),
        course=read_course(folder / "training"),
        scores=read_scores(folder),
        data=data,
        prepared=[] if all(file.sha256 for file in data) else list(_prepared(place)),
        files=[FileFact(name, len(content), checksum(content)) for name, content in sorted(contents.items())]
        + list(_exported(folder)),
        sets=[entry for entry in entries().values() if any(file.name.startswith(f"{entry.name}:") for file in data)],
        unsure=known(folder, recipe)[1].get("unsure", ""),
        version=_version_in(contents[RECIPE]),
    )


def _version_in(recipe: bytes) -> str:
    """Return the version of regard that wrote a recipe, from its first line."""
    match = re.match(rb"# Written by regard ([0-9][0-9A-Za-z.+-]*):", recipe)
    return match[1].decode() if match else ""


def data_files(table: dict[str, Any], place: Path) -> Iterator[FileFact]:
    """Yield the files named in a recipe's data table; `place` is the folder of the prepared data."""
    recorded = _recorded(place)
    for split, name in _named_files(table, "", ""):
        if entry := entries().get(name.partition(":")[0]) if ":" in name else None:
            catalogued = next((f for f in entry.files if bare(f.path) == bare(name.partition(":")[2])), None)
            size, sum_ = (catalogued.size, catalogued.sha256 or None) if catalogued else (None, None)
            yield FileFact(name, size, sum_, split, entry.licence)
        else:
            input_ = recorded.get(name)
            base_name = Path(name).name or name
            size, sum_ = (input_.size, input_.checksum) if input_ else (None, None)
            yield FileFact(base_name, size, sum_, split)


def _named_files(value: Any, key: str, split: str) -> Iterator[tuple[str, str]]:
    """Yield the file names in a table, each with its split."""
    if isinstance(value, dict):
        for inner, content in value.items():
            yield from _named_files(content, inner, inner if inner in SPLITS else split)
    elif isinstance(value, list):
        for content in value:
            yield from _named_files(content, key, split)
    elif isinstance(value, str) and value and (key in SPLITS or (key in _FILE_KEYS and re.search("[/:.]", value))):
        yield split, value


def _recorded(place: Path) -> dict[str, _Input]:
    """Return the recorded files that the text was prepared from."""
    try:
        return {input_.name: input_ for input_ in read_any_record(_Purpose, place / _PURPOSE)[0].inputs}
    except Fault:
        return {}


def _prepared(place: Path) -> Iterator[FileFact]:
    """Yield the prepared files, for data whose original files were not recorded."""
    try:
        files = read_any_record(_Finished, place / FINISHED)[0].files
    except Fault:
        return
    for name, sum_ in sorted(files.items()):
        path = place / name
        yield FileFact(f"training/corpus/{name}", path.stat().st_size if path.is_file() else None, sum_)


def _exported(folder: Path) -> Iterator[FileFact]:
    """Yield the files of exports, which the manifest does not list."""
    for export in (CTRANSLATE2, ONNX):
        if is_export(folder / export):
            for path in sorted((folder / export).iterdir()):
                if path.is_file() and not path.is_symlink():
                    yield FileFact(f"{export}/{path.name}", path.stat().st_size, file_checksum(path))


def is_own_file(folder: Path, path: Path) -> bool:
    """Return True if a path is one of the model's own files in a folder."""
    names = {MANIFEST, *(file.name for file in map(Path, read_folder(folder)))}
    return path.resolve().parent == folder.resolve() and path.name in names
