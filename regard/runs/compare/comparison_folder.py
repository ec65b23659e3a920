"""The folder of a comparison: its lock, the data its runs share, and the files written at the end."""

import fcntl
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

import tomli_w

from regard.base.faults import Fault
from regard.base.files import write_file
from regard.base.progress import Progress
from regard.base.recipe import Recipe, read_table
from regard.data.corpora.prepared import PreparedPairs
from regard.families import task_class
from regard.runs import open as runs
from regard.runs.compare.plan import ComparisonPlan, PlannedRun, make_plan
from regard.training.checkpoint import RunFolder

MARK = "comparison.toml"  # the first file written: the recipe of the whole comparison
CORPORA = "corpora"


@contextmanager
def open_comparison(plan: ComparisonPlan, folder: Path, resume: bool, overwrite: bool) -> Iterator[None]:
    """Lock the folder for this comparison while the block runs; no other process can work in it."""
    _check_free(folder, resume, overwrite)
    if resume and (folder / MARK).is_file():
        _check_same(plan, folder)
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("ab") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Fault(f"Another process is comparing in {folder}; wait, or choose another --out.") from None
        if overwrite:
            _empty(folder)
        header = f"# The comparison of this folder: `regard compare {MARK} --out DIR` repeats it.\n\n"
        write_file(folder / MARK, (header + tomli_w.dumps(plan.table)).encode())
        yield


def _check_free(folder: Path, resume: bool, overwrite: bool) -> None:
    if folder.exists() and not folder.is_dir():
        raise Fault(f"{folder} is a file; name a folder for the comparison.")
    if not folder.exists() or not any(inner.name != ".lock" for inner in folder.iterdir()):
        return
    if not (folder / MARK).is_file():
        raise Fault(f"{folder} exists and is not a comparison made by regard; choose another --out.")
    if not (resume or overwrite):
        raise Fault(f"{folder} already holds a comparison; --resume continues it, --overwrite replaces it.")


def _check_same(plan: ComparisonPlan, folder: Path) -> None:
    """Refuse to resume a different comparison; more variants and more seeds are allowed."""
    old = [variant.name for variant in make_plan(read_table(folder / MARK), plan.name).variants]
    if missing := [name for name in old if name not in [variant.name for variant in plan.variants]]:
        raise Fault(
            f"{folder} compares {', '.join(old)} and cannot be resumed without {', '.join(missing)}; "
            "choose another --out, or --overwrite it."
        )


def _empty(folder: Path) -> None:
    """Remove everything but the lock, and refuse to remove a run that another process is training."""
    for run in map(RunFolder, sorted(folder.glob("*/seed-*/"))):
        with runs.locked_run(run):
            run.remove()
    for inner in folder.iterdir():
        if inner.is_dir() and not inner.is_symlink():
            shutil.rmtree(inner)
        elif inner.name != ".lock":
            inner.unlink()


def prepare_text(planned: Sequence[PlannedRun], folder: Path, split: str, progress: Progress) -> None:
    """Prepare the data of every run before training the first; runs with the same data share one preparation.

    The prepared files are linked into each run, so every run folder is as complete as if it had been trained alone.
    """
    prepared: dict[Path, Any] = {}
    for run in planned:
        elsewhere = getattr(run.recipe.data, "prepared", None)
        place = Path(elsewhere).expanduser() if elsewhere else folder / CORPORA / _fingerprint(run.recipe)
        if place not in prepared:
            kind = task_class(run.recipe)
            start = runs.start_files(run.recipe, RunFolder(run.folder))
            prepared[place] = kind.prepare(run.recipe, place, progress, lambda text: None, start)
        if not elsewhere and place.exists():  # a task that samples its examples prepares no files
            _link(place, RunFolder(run.folder))
    pairs = [corpus for corpus in prepared.values() if isinstance(corpus, PreparedPairs)]
    if len({tuple(getattr(corpus, split)) for corpus in pairs}) > 1:
        raise Fault(f"The variants have different {split} data, so their scores cannot be compared.")


def _fingerprint(recipe: Recipe) -> str:
    """Return a name for what is prepared; runs that start from a model use its tokens."""
    return sha256(f"{recipe.data.model_dump_json()}{recipe.start_from or ''}".encode()).hexdigest()[:12]


def _link(corpus: Path, run: RunFolder) -> None:
    """Link the corpus into a run that does not have one yet."""
    target = run.training / "corpus"
    if target.exists():
        return
    run.begin()
    partial = target.with_name("corpus.partial")
    shutil.rmtree(partial, ignore_errors=True)
    shutil.copytree(corpus, partial, copy_function=_link_file, ignore=shutil.ignore_patterns(".lock"))
    partial.rename(target)


def _link_file(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:  # another file system, or one without links
        shutil.copy2(source, target)
