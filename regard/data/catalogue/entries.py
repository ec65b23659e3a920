"""The data catalogue: the available sets, their sources and licences, and where they lie on this machine.

`catalogue.toml` holds the entries. A set is a folder of that name in the data folder. Its files may be packed or not;
callers need not care.
"""

import os
import tomllib
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urljoin

from pydantic import Field

from regard.base.faults import Fault
from regard.base.recipe import Options, check
from regard.data.catalogue.unpack import bare, leads_out, twins

Presence = Literal["here", "part", "no"]


class FilePart(Options):
    """A public file that a file of a set is made from."""

    address: str = Field(description="Where anyone can download it.")
    size: int = Field(gt=0, description="Bytes of its content, unpacked.")
    sha256: str = Field(
        pattern="^[0-9a-f]{64}$", description="Checksum of its unpacked content; for an archive, of the archive itself."
    )


class DataFile(Options):
    """A file of a set, or a whole folder that is distributed as an archive."""

    path: str = Field(description="Its path in the set's folder.")
    size: int = Field(gt=0, description="Bytes of its content, unpacked.")
    sha256: str = Field(
        "",
        pattern="^([0-9a-f]{64})?$",
        description="Checksum of its unpacked content; empty for files we have never seen, whose size is a guess.",
    )
    address: str | None = Field(None, description="Where anyone can download it.")
    folder: bool = Field(False, description="True for a folder.")
    derived: str | None = Field(None, description="How it was made, if it is not a public file.")
    parts: list[FilePart] = Field([], description="The public files it is made from.")
    unseen_in: FilePart | None = Field(None, description="The public file with which it shares no sentence.")
    conversion: str | None = Field(None, description="How it is made from archives; otherwise pairs are joined.")
    members: str = Field("", description="Regular expression for the archive members it is made from.")

    @property
    def is_public(self) -> bool:
        """True if it can be downloaded, or made from files that can be."""
        return self.address is not None or bool(self.parts)


class Entry(Options):
    """One data set."""

    name: str = Field(description="Its name on the command line, and its folder.")
    aliases: list[str] = Field([], description="Other names for the same set.")
    title: str = Field(description="Its full name.")
    what: str = Field(description="Its content and purpose, in a few words.")
    licence: str = Field(description="The licence in a few words.")
    terms: str = Field(description="Meaning of the licence, or of its absence, in a sentence.")
    source: str = Field(description="Where it comes from.")
    files: list[DataFile] = Field(min_length=1)

    @property
    def size(self) -> int:
        """Bytes of the whole set, unpacked."""
        return sum(file.size for file in self.files)

    @property
    def folder(self) -> Path:
        """Folder of the set on this machine, whether it exists or not."""
        return data_folder() / self.name

    def wanting(self) -> str:
        """Return the end of a sentence that says this set is unavailable: its source and what else to try."""
        return (
            f"its source is {self.source}, and `regard data get {self.name} --from DIR` "
            "takes it from a folder that holds the files already."
        )


def data_folder() -> Path:
    """Return the folder for data sets: REGARD_DATA, or a folder in the user's cache; it is not created."""
    if folder := os.environ.get("REGARD_DATA"):
        return Path(folder).expanduser()
    cache_home = Path(os.environ.get("XDG_CACHE_HOME", ""))
    # The XDG standard says to ignore a folder that is not absolute.
    return (cache_home if cache_home.is_absolute() else Path.home() / ".cache") / "regard" / "data"


@cache
def entries() -> dict[str, Entry]:
    """Return all data sets by name, in catalogue order."""
    text = Path(__file__).with_name("catalogue.toml").read_text(encoding="utf-8")
    return read_entries(tomllib.loads(text))


def read_entries(table: dict[str, Any]) -> dict[str, Entry]:
    """Parse a catalogue and complete its addresses."""
    return {name: _entry(name, dict(inner)) for name, inner in table.items()}


def _entry(name: str, table: dict[str, Any]) -> Entry:
    """Parse an entry; `base` is the address its file paths are relative to, unless a file gives another."""
    base = table.pop("base", "")

    def whole(part: dict[str, Any]) -> dict[str, Any]:
        return {**part, "address": urljoin(base, part["address"])}

    files = [dict(file) for file in table.get("files", [])]
    for file in files:
        if "address" in file or (base and "derived" not in file):
            file["address"] = urljoin(base, file.get("address", file["path"]))
        if "parts" in file:
            file["parts"] = [whole(part) for part in file["parts"]]
        if "unseen_in" in file:
            file["unseen_in"] = whole(file["unseen_in"])
    return check(Entry, {**table, "name": name, "files": files}, f"the entry {name} of the data catalogue")


def find(name: str) -> Entry:
    """Return the set of that name or alias; raise a fault that suggests the nearest one."""
    by_name = {alias: entry for entry in entries().values() for alias in [entry.name, *entry.aliases]}
    if name in by_name:
        return by_name[name]
    near = get_close_matches(name, by_name, 1)
    hint = f"did you mean '{near[0]}'?" if near else "`regard data list` shows all of them."
    raise Fault(f"There is no data set '{name}'; {hint}")


def lies_at(folder: Path, path: str, may_be_folder: bool) -> Path | None:
    """Return where a file of a set lies under `folder`, in whatever packing, or None."""
    candidates = [folder / twin for twin in twins(path)]
    return next((place for place in candidates if place.is_file() or (may_be_folder and place.is_dir())), None)


def presence(entry: Entry) -> Presence:
    """Return how much of the set is in the data folder; only `regard data get` reads and verifies files."""
    there = sum(lies_at(entry.folder, file.path, file.folder) is not None for file in entry.files)
    if there == len(entry.files):
        return "here"
    return "part" if there else "no"


def locate(name: str) -> Path:
    """Return the file in the data folder that `multi30k:raw/train.en.gz` names, or the same file packed differently.

    A name cannot lead out of the set's folder. A missing file raises a fault that says how to get it.
    """
    set_name, _, path = name.partition(":")
    entry = find(set_name)
    if not path:
        example = f"{entry.name}:{entry.files[0].path}"
        raise Fault(f"'{name}' names a data set but no file of it; write it as in {example}.")
    if leads_out(path):
        raise Fault(f"'{name}' leads out of the folder of {entry.name}; name a file inside it.")
    listed = next((file for file in entry.files if bare(file.path) == bare(path)), None)
    # Users may name files they put next to ours, but a folder only if the catalogue lists it.
    if place := lies_at(entry.folder, path, may_be_folder=listed is not None and listed.folder):
        return place
    raise Fault(_absence(entry, path, listed))


def _absence(entry: Entry, path: str, listed: DataFile | None) -> str:
    if listed is None:
        near = get_close_matches(path, [file.path for file in entry.files], 1, cutoff=0.5)
        hint = f"did you mean '{near[0]}'?" if near else "`regard data list --json` names its files."
        return f"The data set {entry.name} has no file '{path}'; {hint}"
    origin = "" if listed.is_public else " --from DIR"
    return (
        f"{path} of the data set {entry.name} is not in {entry.folder}; its source is {entry.source}, "
        f"and `regard data get {entry.name}{origin}` brings it here."
    )
