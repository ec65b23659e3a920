"""Back-translate a text into a file of pairs, resumably."""

from pathlib import Path
from typing import Any

from regard.base.faults import Fault
from regard.base.files import is_same_file, refuse_missing_folder, whole_file
from regard.base.progress import Progress
from regard.base.recipe import Place, check
from regard.console import refuse_existing
from regard.data.corpora.mono import Writing
from regard.data.corpora.prepared import lock_folder
from regard.data.prepared import make_folder
from regard.runs.mono.machine import MachineText, remove_work


def writing_of(**fields: Any) -> Writing:
    """Return the options for writing; faults name the options of the command line."""
    if fields["sample"] and (fields["beam"] is not None or fields["noise"]):
        other = "--noise" if fields["noise"] else "--beam"
        raise Fault(f"--sample draws sources and {other} is for beam search; give one of them.")
    if fields["top_k"] is not None and not fields["sample"]:
        raise Fault("--top-k is for samples; give --sample too.")
    if fields["seed"] is not None and not (fields["sample"] or fields["noise"]):
        raise Fault("--seed has no effect without --sample or --noise.")
    fields = {name: value for name, value in fields.items() if value is not None}

    def option(place: Place) -> str:
        return f"--{str(place[0]).replace('_', '-')}" if place else ""

    return check(Writing, fields, "the command", option)


def back_translate(
    model: Path,
    text: Path,
    out: Path,
    writing: Writing,
    workers: int,
    *,
    resume: bool,
    overwrite: bool,
    progress: Progress,
) -> str:
    """Write pairs of machine text and the lines of `text` to `out`; return a sentence on what was kept and dropped.

    Until it is finished, the work lies in a folder next to `out`, from which `resume` continues.
    """
    work = out.resolve().with_name(f"{out.resolve().name}.unfinished")
    _check_place(text, out, work, resume, overwrite)
    job = MachineText(model, text, writing, workers)
    job.check()
    if overwrite and not resume:
        remove_work(work)
    make_folder(work)
    with lock_folder(work, progress):
        written, dropped = job.write(work, progress), dict[str, int]()
        with whole_file(out) as file:
            for line, output in written.pairs(dropped):
                file.write(f"{output}\t{line}\n".encode())
            report = written.report(dropped)
        remove_work(work)
    return report


def _check_place(text: Path, out: Path, work: Path, resume: bool, overwrite: bool) -> None:
    refuse_missing_folder(out)
    if is_same_file(out, text):
        raise Fault(f"{out} is the input too; write the pairs to another file.")
    if out.suffix in (".gz", ".xz", ".zst"):
        raise Fault(f"{out} would be plain text under the name of a compressed file; omit its {out.suffix}.")
    refuse_existing(out, overwrite)
    if work.exists() and not (resume or overwrite):
        raise Fault(f"{out} was begun; give --resume to continue, or --overwrite to start again.")
