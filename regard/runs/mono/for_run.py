"""Write the other sides of a recipe's texts of one language before its corpus is prepared."""

from pathlib import Path

from pydantic import BaseModel

from regard.base.checksums import file_checksum, read_record, write_record
from regard.base.faults import Fault
from regard.base.files import whole_file
from regard.base.model_folder import model_checksum
from regard.base.progress import Progress, Remark
from regard.data.corpora.mono import Mono, Writing
from regard.data.corpora.mono_corpora import mono_files
from regard.data.corpora.options import PairData
from regard.data.corpora.prepared import is_prepared, lock_folder
from regard.data.corpora.text import file_of
from regard.data.lines import read_lines
from regard.data.prepared import make_folder
from regard.data.tables.formats import MARKED_UP, NAMES, kind_by_name
from regard.runs.mono.machine import MachineText, language_of, remove_work

UNNAMED = {"src", "tgt"}  # languages of recipes that name none


class MadeText(BaseModel):
    """Record of a text whose other side a model wrote: model, text, options, and checksums of both sides."""

    model: str
    text: str
    way: str
    writing: Writing
    sides: list[str]
    report: str


def write_mono(data: PairData, folder: Path, progress: Progress, remark: Remark) -> None:
    """Write both sides of every text of `data.mono` that needs a model, unless the corpus in `folder` is prepared.

    What an earlier try has finished is kept, and what it has begun is continued.
    """
    for number, text in enumerate(data.mono, 1):
        if not is_prepared(folder) and (kind := kind_by_name(text.file)) in MARKED_UP:
            raise Fault(f"{text.file} is {NAMES[kind]}, not lines of text; write its texts into a file of lines.")
        if text.model is None:
            if not is_prepared(folder):
                _check_copied(data, text)
            continue
        files = mono_files(folder, number)
        record = files[0].with_suffix(".json")
        if is_prepared(folder):
            _refuse_other_model(text, record)
            continue
        job = MachineText(Path(text.model).expanduser(), file_of(text.file), text.writing)
        _check_languages(data, text, job)
        make_folder(record.parent)
        with lock_folder(record.parent, progress):
            if not _is_made(text, job, record, files):
                job.check()
                side = "source" if text.way == "back" else "target"
                remark(f"{text.file}: {text.model} writes a {side} for each line")
                _write(text, job, record, files, progress)
        remark(f"{text.file}: {read_record(MadeText, record).report}")


def _check_languages(data: PairData, text: Mono, job: MachineText) -> None:
    """Refuse a model that translates between other languages than the text needs."""
    ours = data.source_language, data.target_language
    wanted = ours[::-1] if text.way == "back" else ours
    theirs = job.languages
    if not UNNAMED & {*wanted, *theirs} and theirs != wanted:
        raise Fault(
            f"{text.model} translates {theirs[0]} into {theirs[1]}, but way = '{text.way}' needs a model that "
            f"translates {wanted[0]} into {wanted[1]}."
        )


def _check_copied(data: PairData, text: Mono) -> None:
    """Refuse a text to copy that has no line, or is in another language than the target's."""
    file, language = file_of(text.file), data.target_language
    if not any(line.strip() for line in read_lines(file)):
        raise Fault(f"{text.file} has no line to learn from.")
    found = language_of(file)
    if found not in (None, language) and len(language) == 2:
        raise Fault(
            f"{text.file} is text in {found}, but a text to copy must be in {language}, the target language; "
            "text of the source language needs way = 'forward' and a model (--forward)."
        )


def _refuse_other_model(text: Mono, record: Path) -> None:
    """Refuse prepared text that was written by an earlier version of the model, if that can be known."""
    model = Path(text.model or "").expanduser()
    if record.is_file() and model.is_dir() and read_record(MadeText, record).model != model_checksum(model):
        raise Fault(
            f"{text.model} has changed since it wrote the text in {record.parent}; delete that folder and the corpus "
            "next to it to prepare again, or name the model that wrote it."
        )


def _is_made(text: Mono, job: MachineText, record: Path, files: tuple[Path, Path]) -> bool:
    """Return True if both sides are complete and come from this model, text and options."""
    if not record.is_file() or not all(file.is_file() for file in files):
        return False
    made = read_record(MadeText, record)
    asked = job.fingerprint, file_checksum(job.text), text.way, text.writing
    if (made.model, made.text, made.way, made.writing) != asked:
        raise Fault(
            f"{record.parent} holds text that was made with another model, text or options; delete it to make it again."
        )
    return [file_checksum(file) for file in files] == made.sides


def _write(text: Mono, job: MachineText, record: Path, files: tuple[Path, Path], progress: Progress) -> None:
    work = record.with_suffix(".work")
    written, dropped = job.write(work, progress), dict[str, int]()
    with whole_file(files[0]) as source, whole_file(files[1]) as target:
        for line, output in written.pairs(dropped):
            sides = (output, line) if text.way == "back" else (line, output)
            for file, side in zip((source, target), sides, strict=True):
                file.write(f"{side}\n".encode())
        report = written.report(dropped)
    made = MadeText(
        model=job.fingerprint,
        text=file_checksum(job.text),
        way=text.way,
        writing=text.writing,
        sides=[file_checksum(file) for file in files],
        report=report,
    )
    write_record(record, made)
    remove_work(work)
