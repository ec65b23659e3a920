"""The folder of a prepared corpus: what it was made from, what it holds, and who may work in it.

`purpose.json` is its first file and says what is being prepared, `finished.json` its last.
"""

import fcntl
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Self, TypeVar

import numpy as np
from pydantic import BaseModel, TypeAdapter, ValidationError, model_validator

from regard.data.cleaning import Report, hash_folded
from regard.data.options import DataOptions
from regard.data.shards import Pairs, Shard
from regard.data.text import file_of
from regard.data.tokenisers import Tokeniser, load_tokenisers
from regard.data.workers import is_starting_worker
from regard.faults import Fault
from regard.files import write_file
from regard.progress import Progress
from regard.recipe import differences

_FORMAT = 3
_READABLE = (2, _FORMAT)

Record = TypeVar("Record", bound=BaseModel)
_PAIRS = TypeAdapter(list[tuple[str, str]])


@dataclass(frozen=True)
class Prepared:
    """A corpus ready for training; source and target have the same tokeniser when they share a vocabulary."""

    folder: Path
    source: Tokeniser
    target: Tokeniser
    train: Pairs
    valid: list[tuple[str, str]]
    test: list[tuple[str, str]]
    report: Report


class Input(BaseModel):
    """A file as it was when the preparation began."""

    name: str
    size: int
    modified: int


class Purpose(BaseModel):
    """What a folder is the preparation of."""

    format: int
    options: DataOptions
    inputs: list[Input]
    tokenisers: str = ""  # a checksum of those that were given; none if they are trained here

    @model_validator(mode="after")
    def _equal_weights_once_meant_none(self) -> Self:
        if self.format == 2 and len({corpus.weight for corpus in self.options.train}) == 1:
            train = [corpus.model_copy(update={"weight": None}) for corpus in self.options.train]
            self.options = self.options.model_copy(update={"train": train})
        return self


class Finished(BaseModel):
    """What a finished preparation made."""

    shards: list[Shard]
    report: Report


class Layout:
    """Where things lie in the folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.purpose = folder / "purpose.json"
        self.fates = folder / "fates.npy"
        self.sources = folder / "sources.npy"  # hashes of the folded source sentences that are learnt from
        self.tokenisers = folder / "tokenisers"
        self.tokenisers_done = folder / "tokenisers" / "done.json"
        self.shards = folder / "shards"
        self.valid = folder / "valid.json"
        self.test = folder / "test.json"
        self.finished = folder / "finished.json"
        self.lock = folder / ".lock"


def open_prepared(folder: Path) -> Prepared:
    """The corpus prepared in `folder`."""
    layout = Layout(folder)
    if not layout.finished.is_file():
        raise Fault(f"{folder} holds no corpus whose preparation was finished.")
    finished = read_record(Finished, layout.finished)
    options = read_record(Purpose, layout.purpose).options
    source, target = load_tokenisers(layout.tokenisers, options.tokeniser)
    pairs = Pairs(layout.shards, finished.shards, [corpus.weight for corpus in options.train])
    return Prepared(
        folder, source, target, pairs, read_pair_list(layout.valid), read_pair_list(layout.test), finished.report
    )


def are_learnt(folder: Path, sources: Sequence[str]) -> list[bool]:
    """Which sentences are sources of the training pairs prepared in `folder`, whatever their case; none if it is gone.

    Pairs that are dropped only for their length in tokens count too.
    """
    path = Layout(folder).sources
    if not path.is_file():
        return [False] * len(sources)
    try:
        known = np.load(path)
    except (OSError, ValueError, EOFError):
        raise _damage(path) from None
    return [bool(each) for each in np.isin(hash_folded(sources), known)]


def purpose_of(options: DataOptions, tokenisers: tuple[Tokeniser, Tokeniser] | None = None) -> Purpose:
    """What a preparation of `options`, by given tokenisers or its own, is made from; a missing file is a fault."""
    corpora = [*options.train, *options.valid, *options.test]
    names = dict.fromkeys(name for corpus in corpora if not corpus.is_demo for name in corpus.names)
    return Purpose(
        format=_FORMAT,
        options=options.model_copy(update={"prepared": None}),
        inputs=[_input(name) for name in names],
        tokenisers=_checksum(tokenisers) if tokenisers else "",
    )


def _checksum(tokenisers: tuple[Tokeniser, Tokeniser]) -> str:
    files = [blake2b(content).digest() for each in tokenisers for content in each.files("tokeniser").values()]
    return blake2b(b"".join(files), digest_size=16).hexdigest()


def _input(name: str) -> Input:
    path = file_of(name)
    try:
        about = path.stat()
    except OSError as error:
        raise Fault(f"There is no file {path} ({error.strerror}).") from None
    if not path.is_file():
        raise Fault(f"{path} is not a file; what is read several times must lie in one.")
    return Input(name=name, size=about.st_size, modified=about.st_mtime_ns)


def check_free(folder: Path) -> None:
    """Refuse a folder in which something else than a preparation lies."""
    others = [] if not folder.is_dir() else [inner for inner in folder.iterdir() if not inner.name.startswith(".")]
    if others and not Layout(folder).purpose.is_file():
        raise Fault(f"{folder} holds other files; a corpus is prepared in a folder of its own.")


def claim(folder: Path, purpose: Purpose) -> None:
    """Make a folder without a finished preparation one for this purpose; needs the lock.

    What was begun for the same options before a file changed, or has not got beyond reading, is of no use to anyone.
    """
    layout = Layout(folder)
    if layout.purpose.is_file():
        stored = read_record(Purpose, layout.purpose)
        if stored == purpose:
            return
        if layout.fates.is_file() and stored.options != purpose.options:
            check_purpose(folder, purpose)
        layout.fates.unlink(missing_ok=True)
        for made in (layout.tokenisers, layout.shards):
            shutil.rmtree(made, ignore_errors=True)
    write_record(layout.purpose, purpose)


def check_purpose(folder: Path, purpose: Purpose) -> None:
    """Refuse a folder that holds the preparation of something else."""
    stored = read_record(Purpose, Layout(folder).purpose)
    if stored.format not in _READABLE or stored.model_copy(update={"format": _FORMAT}) != purpose:
        raise Fault(
            f"{folder} holds a corpus prepared from something else: {_difference(stored, purpose)}. "
            "Name another folder as data.prepared, or delete this one."
        )


def _difference(old: Purpose, new: Purpose) -> str:
    changed = [f"data.{difference}" for difference in differences(old.options, new.options)]
    if old.format not in _READABLE:
        changed.append("it was made by another version of regard")
    if old.tokenisers != new.tokenisers:
        changed.append("it was cut by other tokenisers")
    before = {input_.name: input_ for input_ in old.inputs}
    changed += [f"the file {now.name} has changed" for now in new.inputs if before.get(now.name, now) != now]
    return "; ".join(changed)


@contextmanager
def locked(folder: Path, progress: Progress) -> Iterator[None]:
    """Be the only process that works in the folder; others wait. The lock ends with its process."""
    with Layout(folder).lock.open("wb") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if is_starting_worker():  # the one that holds the lock waits for this very process
                raise Fault("A script must call regard under `if __name__ == '__main__':`.") from None
            progress("waiting for another process that prepares this corpus", 0, None)
            fcntl.flock(stream, fcntl.LOCK_EX)
        yield


def make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Fault(f"The folder {folder} cannot be made: {error.strerror}.") from None


def remove_leftovers(folder: Path) -> None:
    """Remove what a killed process was about to write."""
    for leftover in folder.rglob(".*.partial"):
        leftover.unlink()


def write_record(path: Path, record: BaseModel) -> None:
    write_file(path, record.model_dump_json(indent=1).encode("utf-8"))


def read_record(kind: type[Record], path: Path) -> Record:
    try:
        return kind.model_validate_json(path.read_bytes())
    except (OSError, ValidationError):
        raise _damage(path) from None


def write_pair_list(path: Path, pairs: list[tuple[str, str]]) -> None:
    write_file(path, _PAIRS.dump_json(pairs))


def read_pair_list(path: Path) -> list[tuple[str, str]]:
    try:
        return _PAIRS.validate_json(path.read_bytes())
    except (OSError, ValidationError):
        raise _damage(path) from None


def _damage(path: Path) -> Fault:
    return Fault(f"{path} is missing, damaged or of another version; delete its folder and prepare the corpus again.")
