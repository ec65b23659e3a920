"""Facts of a model folder that a card states: data with checksums, files, scores, how far it was trained."""

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
    from regard.runs.about import About
    from regard.training.pace import Course

# Names of recipe keys whose values are files, beside the splits themselves.
_FILE_KEYS = {
    "captions", "components", "contexts", "edges", "features", "file", "labels", "listing", "names", "pairs",
    "pictures", "recordings", "source", "split", "target", "vectors",
}  # fmt: skip
_PURPOSE = "purpose.json"  # beside prepared text: which files it was made from


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
    """A file by its name, with what is known of its content; `split` and `licence` are of data alone."""

    name: str
    size: int | None = None
    sha256: str | None = None
    split: str = ""
    licence: str = ""


@dataclass(frozen=True)
class CardFacts:
    """All that a card is made of."""

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


def gather(folder: Path) -> CardFacts:
    """Read all facts of a model folder, whose files are checked against its manifest."""
    from regard.commands.info import describe, known
    from regard.runs.about import read_about
    from regard.runs.kept_scores import read_scores
    from regard.training.pace import read_course

    recipe, described, _ = describe(folder, 1)
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
    """Return the version of regard that wrote a recipe, which its first line says."""
    match = re.match(rb"# Written by regard ([0-9][0-9A-Za-z.+-]*):", recipe)
    return match[1].decode() if match else ""


def data_files(table: dict[str, Any], place: Path) -> Iterator[FileFact]:
    """Yield the files that the data table of a recipe names; `place` is where its data lies prepared."""
    recorded = _recorded(place)
    for split, name in _named_files(table, "", ""):
        if entry := entries().get(name.partition(":")[0]) if ":" in name else None:
            listed = next((f for f in entry.files if bare(f.path) == bare(name.partition(":")[2])), None)
            size, sum_ = (listed.size, listed.sha256 or None) if listed else (None, None)
            yield FileFact(name, size, sum_, split, entry.licence)
        else:
            shown, input_ = Path(name).name or name, recorded.get(name)
            size, sum_ = (input_.size, input_.checksum) if input_ else (None, None)
            yield FileFact(shown, size, sum_, split)


def _named_files(value: Any, key: str, split: str) -> Iterator[tuple[str, str]]:
    """Yield the names of files in a table, each with the split that it stands under."""
    if isinstance(value, dict):
        for inner, content in value.items():
            yield from _named_files(content, inner, inner if inner in SPLITS else split)
    elif isinstance(value, list):
        for content in value:
            yield from _named_files(content, key, split)
    elif isinstance(value, str) and value and (key in SPLITS or (key in _FILE_KEYS and re.search("[/:.]", value))):
        yield split, value


def _recorded(place: Path) -> dict[str, _Input]:
    """Return the files that text was prepared from, as they were then."""
    try:
        return {input_.name: input_ for input_ in read_any_record(_Purpose, place / _PURPOSE)[0].inputs}
    except Fault:
        return {}


def _prepared(place: Path) -> Iterator[FileFact]:
    """Yield what the data was made into, where nothing is recorded of the files that it came from."""
    try:
        files = read_any_record(_Finished, place / FINISHED)[0].files
    except Fault:
        return
    for name, sum_ in sorted(files.items()):
        path = place / name
        yield FileFact(f"training/corpus/{name}", path.stat().st_size if path.is_file() else None, sum_)


def _exported(folder: Path) -> Iterator[FileFact]:
    """Yield the files of exports for other engines, which the manifest does not list."""
    for export in (CTRANSLATE2, ONNX):
        if is_export(folder / export):
            for path in sorted((folder / export).iterdir()):
                if path.is_file() and not path.is_symlink():
                    yield FileFact(f"{export}/{path.name}", path.stat().st_size, file_checksum(path))


def is_own_file(folder: Path, path: Path) -> bool:
    """Return True if a path is a file that makes up the model in a folder."""
    own = {MANIFEST, *(file.name for file in map(Path, read_folder(folder)))}
    return path.resolve().parent == folder.resolve() and path.name in own
