"""Folders of other tools and of models that are written completely or not at all."""

import fcntl
import glob
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from regard.base.faults import Fault
from regard.base.model_folder import ABOUT, CERTAINTY, MANIFEST, RECIPE, SCORES, WEIGHTS
from regard.base.plugin_record import PLUGINS
from regard.engines.exported import CTRANSLATE2, LISTED, ONNX, RECORD, SHORTLIST

MARIAN, GPT2, BERT = "marian", "gpt2", "bert"


@dataclass(frozen=True)
class FolderKind:
    """A kind of folder, by patterns of file names: those that identify it, and others."""

    marks: tuple[str, ...]
    others: tuple[str, ...] = ()

    def obstacle(self, folder: Path) -> str | None:
        """Return why a folder is not of this kind, or None; an empty folder may be of any kind."""
        names = sorted(path.name for path in folder.iterdir())
        foreign = next((name for name in names if not _fits(name, self.marks + self.others)), None)
        if foreign is not None:
            return f"it has {foreign}"
        if names and not any(_fits(name, self.marks) for name in names):
            return f"it has no {self.marks[0]}"
        return None


_TOKENISERS = ("source.*", "target.*", "tokeniser.*")
FOLDERS = {
    CTRANSLATE2: FolderKind((RECORD, "model.bin"), ("config.json", "*_vocabulary.json", SHORTLIST)),
    ONNX: FolderKind((RECORD, "*.onnx"), ("weights.data", "about.json", LISTED, "lexicon.json", *_TOKENISERS)),
    MARIAN: FolderKind(("*.spm", "*.safetensors"), ("*config.json", "*vocab.json")),
    GPT2: FolderKind(("merges.txt", "*.safetensors"), ("*config.json", "vocab.json", "tokenizer.json")),
    BERT: FolderKind(("vocab.txt", "*.safetensors"), ("*config.json",)),
}
MODEL_FOLDER = FolderKind(  # of a model that was not trained there
    (MANIFEST, WEIGHTS),
    (RECIPE, SCORES, ABOUT, CERTAINTY, PLUGINS, *_TOKENISERS, CTRANSLATE2, ONNX),
)


def _fits(name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def check_replaceable(out: Path, kind: FolderKind) -> None:
    """Refuse to write a folder of this kind over something else."""
    if out.exists() and not out.is_dir():
        raise Fault(f"{out} is a file; name a folder.")
    if out.exists() and (obstacle := kind.obstacle(out)):
        raise Fault(f"{out} holds other things ({obstacle}) and is not replaced; choose another folder.")


@contextmanager
def whole_folder(out: Path, kind: FolderKind) -> Iterator[Path]:
    """Yield a folder to write into, which appears at `out` if the block succeeds; until then the old one stays.

    Only a folder of the same kind is replaced; a link to one stays a link.
    """
    check_replaceable(out, kind)
    place = out.resolve()
    partial = place.with_name(f".{place.name}.partial")
    with _hold(partial, out):
        _clear_up(place)
        check_replaceable(out, kind)
        yield partial
        before = place.with_name(f".{place.name}.before-{os.getpid()}")
        if place.exists():
            place.rename(before)
        partial.rename(place)
        shutil.rmtree(before, ignore_errors=True)


@contextmanager
def _hold(partial: Path, out: Path) -> Iterator[None]:
    """Hold an empty folder that no other process writes into; it is removed after the block unless it was renamed."""
    busy = Fault(f"Another process is writing {out}; wait for it, or choose another folder.")
    partial.mkdir(parents=True, exist_ok=True)
    try:
        handle = os.open(partial, os.O_RDONLY)
    except FileNotFoundError:  # the other process has just finished
        raise busy from None
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise busy from None
        if not (partial.exists() and os.path.samestat(os.fstat(handle), partial.stat())):
            raise busy
        try:
            _empty(partial)
            yield
        finally:
            if partial.exists() and os.path.samestat(os.fstat(handle), partial.stat()):
                shutil.rmtree(partial, ignore_errors=True)
    finally:
        os.close(handle)


def _empty(folder: Path) -> None:
    """Remove what a killed process left behind."""
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


def _clear_up(place: Path) -> None:
    """Restore the old folder if a process was killed between removing it and putting the new one here."""
    for before in place.parent.glob(f".{glob.escape(place.name)}.before-*"):
        if not place.exists():
            with suppress(OSError):
                before.rename(place)
        else:
            shutil.rmtree(before, ignore_errors=True)
