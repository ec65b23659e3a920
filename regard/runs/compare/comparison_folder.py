"""The folder of a comparison: whose it is, the text its runs share, and what is written at its end."""

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
from regard.base.recipe import Options, read_table
from regard.data.corpora.prepared import PreparedPairs
from regard.families import task_class
from regard.runs import open as runs
from regard.runs.compare.plan import ComparisonPlan, PlannedRun, make_plan
from regard.training.checkpoint import RunFolder

MARK = "comparison.toml"  # its first file: the recipe of the whole comparison
CORPORA = "corpora"


@contextmanager
def open_comparison(plan: ComparisonPlan, folder: Path, resume: bool, overwrite: bool) -> Iterator[None]:
    """Inside this block the folder holds this comparison, and no other process works in it."""
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
        header = f"# The comparison of this folder: `regard compare {MARK} --out DIR` makes it again.\n\n"
        write_file(folder / MARK, (header + tomli_w.dumps(plan.table)).encode())
        yield


def _check_free(folder: Path, resume: bool, overwrite: bool) -> None:
    if folder.exists() and not folder.is_dir():
        raise Fault(f"{folder} is a file; name a folder for the comparison.")
    if not folder.exists() or not any(inner.name != ".lock" for inner in folder.iterdir()):
        return
    if not (folder / MARK).is_file():
        raise Fault(f"{folder} exists and is not a comparison of regard; choose another --out.")
    if not (resume or overwrite):
        raise Fault(f"{folder} holds a comparison already; --resume goes on with it, --overwrite replaces it.")


def _check_same(plan: ComparisonPlan, folder: Path) -> None:
    """Refuse to go on with another comparison; more variants and more seeds are welcome."""
    old = [variant.name for variant in make_plan(read_table(folder / MARK), plan.name).variants]
    if missing := [name for name in old if name not in [variant.name for variant in plan.variants]]:
        raise Fault(
            f"{folder} compares {', '.join(old)}, and cannot be resumed without {', '.join(missing)}; "
            "choose another --out, or --overwrite it."
        )


def _empty(folder: Path) -> None:
    """Remove everything but the lock, and no run under the hands of a process that trains it."""
    for run in map(RunFolder, sorted(folder.glob("*/seed-*/"))):
        with runs.locked_run(run):
            run.remove()
    for inner in folder.iterdir():
        if inner.is_dir() and not inner.is_symlink():
            shutil.rmtree(inner)
        elif inner.name != ".lock":
            inner.unlink()


def prepare_text(planned: Sequence[PlannedRun], folder: Path, split: str, progress: Progress) -> None:
    """Prepare the text of every run before the first is trained; runs of the same text share one preparation.

    The files of a preparation are linked into its runs, so that each run is as whole as if it had been trained alone.
    """
    prepared: dict[Path, Any] = {}
    for run in planned:
        data = run.recipe.data
        elsewhere = getattr(data, "prepared", None)
        place = Path(elsewhere).expanduser() if elsewhere else folder / CORPORA / _fingerprint(data)
        if place not in prepared:
            kind = task_class(run.recipe)
            prepared[place] = kind.prepare(run.recipe, place, progress, lambda text: None, None)
        if not elsewhere and place.exists():  # a task that draws its examples prepares no files
            _link(place, RunFolder(run.folder))
    pairs = [each for each in prepared.values() if isinstance(each, PreparedPairs)]
    if len({tuple(getattr(corpus, split)) for corpus in pairs}) > 1:
        raise Fault(f"The variants have different {split} data, so their scores cannot be compared.")


def _fingerprint(data: Options) -> str:
    return sha256(data.model_dump_json().encode()).hexdigest()[:12]


def _link(corpus: Path, run: RunFolder) -> None:
    """Give a run this corpus as its own, unless it has one."""
    own = run.training / "corpus"
    if own.exists():
        return
    run.begin()
    beside = own.with_name("corpus.partial")
    shutil.rmtree(beside, ignore_errors=True)
    shutil.copytree(corpus, beside, copy_function=_link_file, ignore=shutil.ignore_patterns(".lock"))
    beside.rename(own)


def _link_file(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:  # another file system, or one without links
        shutil.copy2(source, target)
