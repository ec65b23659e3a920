"""The folder of a prepared corpus: its sources, its content, and the lock for working in it.

`purpose.json`, its first file, says what is being prepared; `finished.json` is its last.
"""

import fcntl
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Self

import numpy as np
from pydantic import BaseModel, TypeAdapter, ValidationError, model_validator

from regard.base.checksums import (
    check_changed_files,
    check_files,
    damage,
    file_checksums,
    read_any_record,
    read_record,
    write_record,
)
from regard.base.faults import Fault
from regard.base.files import naming, write_file
from regard.base.processes import is_starting_worker
from regard.base.progress import Progress, Remark
from regard.base.recipe import differences
from regard.data.corpora.cleaning import Report
from regard.data.corpora.hashes import are_among, hash_folded
from regard.data.corpora.mono_corpora import corpus_weights
from regard.data.corpora.options import PairData
from regard.data.corpora.shards import Pairs, Shard
from regard.data.corpora.source_files import InputFile, changed_files, input_of, refuse_other_sources, with_checksums
from regard.data.corpora.text import file_of, input_names
from regard.data.examples import Amount
from regard.data.tokenisers.tokeniser import Tokeniser, load_tokenisers

_FORMAT = 4
_READABLE = (2, 3, _FORMAT)
# Options that do not change the result; tokenisers count by their contents.
_WITHOUT_EFFECT = ("prepared", "processes", "vectors", "tokenisers_from")
_VOUCHED = 4  # the first format in which every file has a checksum

_PAIRS = TypeAdapter(list[tuple[str, str]])


@dataclass(frozen=True)
class PreparedPairs:
    """A corpus ready for training; source and target share one tokeniser if they share a vocabulary."""

    folder: Path
    source: Tokeniser
    target: Tokeniser
    train: Pairs
    valid: list[tuple[str, str]]
    test: list[tuple[str, str]]
    cleaning: Report

    @property
    def report(self) -> list[str]:
        """Lines that say what was read, what was dropped, and why."""
        return self.cleaning.lines()

    @property
    def amount(self) -> Amount:
        return Amount(len(self.train.source_lengths), "pairs")

    def unlearnt_texts(self) -> Iterator[str]:
        """Yield the sources of the validation pairs."""
        return (source for source, _ in self.valid)

    def files(self) -> dict[str, bytes]:
        """Return the tokeniser files for a model folder."""
        if self.source is self.target:
            return self.source.files("tokeniser")
        return self.source.files("source") | self.target.files("target")


class CorpusPurpose(BaseModel):
    """Sources of a prepared folder: files, options and their checksums."""

    format: int
    options: PairData
    inputs: list[InputFile]
    tokenisers: str = ""  # checksum of given tokenisers; empty if they are trained here
    tells_unknown: bool = False  # True if unknown source words stay distinct, for models that copy them

    @model_validator(mode="after")
    def _equal_weights_once_meant_none(self) -> Self:
        if self.format == 2 and len({corpus.weight for corpus in self.options.train}) == 1:
            train = [corpus.model_copy(update={"weight": None}) for corpus in self.options.train]
            self.options = self.options.model_copy(update={"train": train})
        return self


class FinishedCorpus(BaseModel):
    """Result of a finished preparation."""

    shards: list[Shard]
    report: Report
    files: dict[str, str] = {}  # checksums of all other files, by name in the folder


class CorpusLayout:
    """Paths in the folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.purpose = folder / "purpose.json"
        self.hashes = folder / "hashes"  # removed once all pairs are judged
        self.judged = folder / "judged.json"  # holds the checksum of fates
        self.fates = folder / "fates.npy"
        self.tokenisers = folder / "tokenisers"
        self.tokenisers_done = folder / "tokenisers" / "done.json"  # holds the checksums of the tokenisers
        self.shards = folder / "shards"
        self.sources = folder / "sources.npy"  # hashes of the folded source sentences in training
        self.valid = folder / "valid.json"
        self.test = folder / "test.json"
        self.finished = folder / "finished.json"
        self.lock = folder / ".lock"


def is_prepared(folder: Path) -> bool:
    """Return True if `folder` holds a prepared corpus."""
    return CorpusLayout(folder).finished.is_file()


def open_prepared(folder: Path, remark: Remark = lambda text: None) -> PreparedPairs:
    """Open the corpus prepared in `folder`; refuse if a file has changed since it was last verified."""
    layout, finished = CorpusLayout(folder), _read_finished(folder)
    if finished.files:
        check_changed_files(folder, finished.files)
    else:
        remark(
            f"{folder} was prepared by an older version of regard without checksums: damage to its files "
            "would go unnoticed."
        )
    options = _read_purpose(folder).options
    source, target = load_tokenisers(layout.tokenisers, options.tokeniser)
    counts = [0] * (len(options.train) + len(options.mono))
    for shard in finished.shards:
        counts[shard.corpus] += shard.rows
    pairs = Pairs(layout.shards, finished.shards, corpus_weights(options, counts))
    return PreparedPairs(
        folder, source, target, pairs, read_pair_list(layout.valid), read_pair_list(layout.test), finished.report
    )


def verify_prepared(folder: Path) -> int:
    """Read every file of the corpus in `folder`, refuse changed ones, and return the number of bytes."""
    files = _read_finished(folder).files
    if not files:
        raise Fault(f"{folder} was prepared by an older version of regard without checksums, so it cannot be verified.")
    check_files(folder, files)
    return sum((folder / name).stat().st_size for name in files)


def read_valid(folder: Path) -> list[tuple[str, str]]:
    """Return the validation pairs of the corpus prepared in `folder`, without reading the rest."""
    path, files = CorpusLayout(folder).valid, _read_finished(folder).files
    check_files(folder, {path.name: files[path.name]} if files else {})
    return read_pair_list(path)


def read_unlearnt(folder: Path) -> list[tuple[str, str]]:
    """Return the validation and test pairs of the corpus prepared in `folder`."""
    layout, files = CorpusLayout(folder), _read_finished(folder).files
    check_files(folder, {path.name: files[path.name] for path in (layout.valid, layout.test)} if files else {})
    return [*read_pair_list(layout.valid), *read_pair_list(layout.test)]


def _read_purpose(folder: Path) -> CorpusPurpose:
    path = CorpusLayout(folder).purpose
    purpose, is_sealed = read_any_record(CorpusPurpose, path)
    if purpose.format not in _READABLE or (purpose.format >= _VOUCHED and not is_sealed):
        raise damage(path, folder)
    return purpose


def _read_finished(folder: Path) -> FinishedCorpus:
    layout = CorpusLayout(folder)
    if not is_prepared(folder):
        raise Fault(f"{folder} holds no finished corpus.")
    if _read_purpose(folder).format >= _VOUCHED:
        return read_record(FinishedCorpus, layout.finished)
    finished, _ = read_any_record(FinishedCorpus, layout.finished)
    return finished


def write_finished(layout: CorpusLayout, shards: list[Shard], report: Report) -> None:
    """Finish a preparation; the shards keep the checksums computed when they were made."""
    files = {str(Path(layout.shards.name, shard.file)): shard.checksum for shard in shards}
    paths = [path for path in sorted(layout.folder.rglob("*")) if path.is_file() and not path.name.startswith(".")]
    others = [path for path in paths if str(path.relative_to(layout.folder)) not in files]
    names = [str(path.relative_to(layout.folder)) for path in others]
    files |= dict(zip(names, file_checksums(others), strict=True))
    write_record(layout.finished, FinishedCorpus(shards=shards, report=report, files=files))


def are_learnt(folder: Path, sources: Sequence[str]) -> list[bool]:
    """Return which sentences, ignoring case, are training sources in `folder`; all False if it is gone.

    Corpora prepared by older versions also include sentences that were dropped only for their length in tokens.
    """
    path = CorpusLayout(folder).sources
    if not path.is_file():
        return [False] * len(sources)
    if is_prepared(folder) and (files := _read_finished(folder).files):
        check_changed_files(folder, {path.name: files[path.name]}, takes_note=False)
    try:
        with naming(path):
            learnt_hashes = np.load(path, mmap_mode="r")
    except (ValueError, EOFError):
        raise damage(path, folder) from None
    return [bool(is_learnt) for is_learnt in are_among(hash_folded(sources), learnt_hashes)]


def purpose_of(
    options: PairData,
    tokenisers: tuple[Tokeniser, Tokeniser] | None = None,
    tells_unknown: bool = False,
    *,
    all_there: bool = True,
) -> CorpusPurpose:
    """Return what a preparation of `options` is made from, with the given tokenisers or its own.

    A missing file is a fault, or is left out if `all_there` is False.
    """
    corpora = [*options.train, *options.valid, *options.test]
    texts = [text.file for text in options.mono]
    names = dict.fromkeys([*(name for corpus in corpora for name in input_names(corpus)), *texts])
    return CorpusPurpose(
        format=_FORMAT,
        options=options.model_copy(update=dict.fromkeys(_WITHOUT_EFFECT)),
        inputs=[input_of(name) for name in names if all_there or file_of(name).is_file()],
        tokenisers=_checksum(tokenisers) if tokenisers else "",
        tells_unknown=tells_unknown,
    )


def _checksum(tokenisers: tuple[Tokeniser, Tokeniser]) -> str:
    files = [blake2b(content).digest() for tokeniser in tokenisers for content in tokeniser.files("tokeniser").values()]
    return blake2b(b"".join(files), digest_size=16).hexdigest()


def check_free(folder: Path) -> None:
    """Refuse a folder that holds something other than a preparation."""
    others = [] if not folder.is_dir() else [inner for inner in folder.iterdir() if not inner.name.startswith(".")]
    if others and not CorpusLayout(folder).purpose.is_file():
        raise Fault(f"{folder} holds other files; prepare the corpus in a separate folder.")


def claim(folder: Path, purpose: CorpusPurpose) -> None:
    """Reserve a folder without a finished preparation for this purpose; the caller holds the lock.

    Earlier work is removed if it used other input files, or stopped before the pairs were judged.
    """
    layout = CorpusLayout(folder)
    if layout.purpose.is_file():
        stored = _read_purpose(folder)
        is_same = not _others(stored, purpose) and not changed_files(stored.inputs, purpose.inputs)
        if stored.format == _FORMAT and is_same:
            return
        if layout.fates.is_file() and stored.options != purpose.options:
            check_purpose(folder, purpose)
        for leftover in (layout.judged, layout.fates):
            leftover.unlink(missing_ok=True)
        for leftover in (layout.hashes, layout.tokenisers, layout.shards):
            shutil.rmtree(leftover, ignore_errors=True)
    write_record(layout.purpose, purpose.model_copy(update={"inputs": with_checksums(purpose.inputs)}))


def check_purpose(folder: Path, purpose: CorpusPurpose, remark: Remark = lambda text: None) -> None:
    """Refuse a folder that holds another preparation; remark on files that can no longer be compared."""
    stored = _read_purpose(folder)
    refuse_other_sources(folder, "a corpus", _others(stored, purpose), changed_files(stored.inputs, purpose.inputs))
    now = {input_file.name: input_file for input_file in purpose.inputs}
    for before in stored.inputs:
        if before.name not in now:
            remark(f"{before.name} no longer exists; continuing with what was prepared from it.")
        elif not before.checksum and before.modified != now[before.name].modified:
            remark(
                f"{before.name} has a different date than when an older version of regard prepared it without "
                "a checksum; continuing with what was prepared from it."
            )


def _others(old: CorpusPurpose, new: CorpusPurpose) -> list[str]:
    """Describe how two preparations differ other than by the content of their files."""
    changed = [f"data.{difference}" for difference in differences(old.options, new.options)]
    if old.tokenisers != new.tokenisers:
        changed.append("it was made with other tokenisers")
    if old.tells_unknown != new.tells_unknown:
        changed.append(f"unknown source words are {'' if old.tells_unknown else 'not '}kept distinct for copying")
    return changed


@contextmanager
def lock_folder(folder: Path, progress: Progress) -> Iterator[None]:
    """Hold the lock of the folder; other processes wait. The lock ends with its process."""
    with CorpusLayout(folder).lock.open("wb") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if is_starting_worker():  # the lock's owner is waiting for this very process
                raise Fault("A script must call regard under `if __name__ == '__main__':`.") from None
            progress("waiting for another process to prepare this corpus", 0, None)
            fcntl.flock(stream, fcntl.LOCK_EX)
        yield


def remove_leftovers(folder: Path) -> None:
    """Remove partial files of killed processes."""
    for leftover in folder.rglob(".*.partial"):
        leftover.unlink()


def write_pair_list(path: Path, pairs: list[tuple[str, str]]) -> None:
    write_file(path, _PAIRS.dump_json(pairs))


def read_pair_list(path: Path) -> list[tuple[str, str]]:
    try:
        with naming(path):
            return _PAIRS.validate_json(path.read_bytes())
    except (FileNotFoundError, ValidationError):
        raise damage(path) from None
