"""Finish one shard, wherever it stands: the job of a worker on this machine or a cluster.

A shard grows and is resumed like any output (`unfinished.py`). When its text is complete, a mark is written next to it
with the request and digests of the input and the output; then the text is moved into place. So a shard is done when
both exist and agree, and in every other state it is resumed.
"""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from regard.base.checksums import file_checksum, read_record, write_record
from regard.base.faults import Fault
from regard.base.files import whole_file
from regard.base.progress import Progress, silent
from regard.console import remark
from regard.verbs.translate.bulk.shards import Shard, number_of_shards
from regard.verbs.translate.line_translator import (
    LineJob,
    LineTranslator,
    LongLines,
    read_portions,
    translate_lines,
)
from regard.verbs.translate.unfinished import Kept, Unfinished, digest_of_lines, hold_output, refuse_difference

_BLOCK = 2**20  # bytes that are copied at once


class Mark(BaseModel):
    """Record of a finished shard: its request, and digests of what was read and written."""

    asked: dict[str, Any]
    read: str
    written: str


@dataclass(frozen=True)
class BulkJob:
    """A file to translate in shards: the job, its record, and the folder of the shards."""

    lines: LineJob
    record: dict[str, Any]
    folder: Path

    def asked(self, shard: Shard) -> dict[str, Any]:
        return {**self.record, "its place in the input": [shard.lines.first, shard.lines.count]}

    def place(self, shard: Shard) -> Path:
        return self.folder / shard.name

    def mark_place(self, shard: Shard) -> Path:
        return self.folder / f"{shard.name}.done"

    def mark(self, shard: Shard) -> Mark | None:
        """Return the mark of a finished shard, or None; refuse one that was made for a different request."""
        if not (self.place(shard).exists() and self.mark_place(shard).exists()):
            return None
        try:
            mark = read_record(Mark, self.mark_place(shard))
        except Fault:
            remark(f"{self.mark_place(shard)} is damaged; its lines are translated again.")
            return None
        refuse_difference(self.place(shard), mark.asked, self.asked(shard))
        return mark

    def has_finished(self, shard: Shard) -> bool:
        """Return True if a shard is finished and unchanged; refuse it if it belongs to other lines."""
        mark = self.mark(shard)
        if mark is None:
            return False
        job, digest = self.lines.limited_to(shard.lines), ""
        for portion in read_portions(job.given, job.constraints()):
            digest = digest_of_lines(digest, portion.lines, portion.asked)
        if digest != mark.read:
            raise Fault(
                f"{self.place(shard)} holds translations of other lines than the input ({shard}); "
                "give the same input, or --overwrite without --resume to start again."
            )
        if file_checksum(self.place(shard)) == mark.written:
            return True
        remark(f"{self.place(shard)} is damaged; its lines are translated again.")
        return False


class ShardTranslator:
    """Finishes shards one after another with one model, which is loaded when first needed."""

    def __init__(self, job: BulkJob) -> None:
        self.job = job

    @cached_property
    def _translator(self) -> LineTranslator:
        return self.job.lines.open_translator()

    def finish(
        self,
        shard: Shard,
        progress: Progress = silent,
        begin: Callable[[int], None] = lambda lines: None,
        anew: bool = False,
    ) -> LongLines:
        """Translate the rest of a shard, or all of it `anew`; return the long lines in it."""
        with hold_output(self.job.place(shard)) as unfinished:
            if not anew and self.job.has_finished(shard):
                return LongLines()
            kept = Kept() if anew else unfinished.read_kept()
            if kept.lines:
                unfinished.refuse_other(self.job.asked(shard))
            return self._translate(shard, unfinished, kept, progress, begin)

    def _translate(
        self, shard: Shard, unfinished: Unfinished, kept: Kept, progress: Progress, begin: Callable[[int], None]
    ) -> LongLines:
        job, record = self.job.lines.limited_to(shard.lines), self.job.asked(shard)
        constraints, translator = job.constraints(), self._translator
        translator.long_lines = LongLines(translator.long_lines.longest)
        with unfinished.growing(record, kept, overwrite=True) as file:
            translate_lines(translator, job.given, constraints, file, progress, shard.lines.count, begin)
            if shard.is_last:
                constraints.end()
            file.end()
            mark = Mark(asked=record, read=file.read, written=file_checksum(unfinished.text))
            write_record(self.job.mark_place(shard), mark)
        return translator.long_lines


def finish_here(job: BulkJob, shards: Sequence[Shard], progress: Progress) -> None:
    """Finish all shards in this process, one after another."""
    translator, before, whole = ShardTranslator(job), 0, sum(shard.lines.count for shard in shards)

    def report(what: str, done: int, total: int | None) -> None:
        progress(what, before + done, whole)

    for shard in shards:
        translator.finish(shard, report)
        before += shard.lines.count


def join(job: BulkJob, shards: list[Shard], out: Path, progress: Progress) -> None:
    """Write the translations of all shards into one file in order; the file appears once it is complete."""
    marks = [job.mark(shard) for shard in shards]
    if missing := [shard for shard, mark in zip(shards, marks, strict=True) if mark is None]:
        raise Fault(
            f"{len(missing)} of {len(shards)} shards of {out} are not done, as {missing[0].number}/{missing[0].of} "
            f"({missing[0]}); translate them with --shard, or all missing ones with --workers and --resume."
        )
    with whole_file(out) as file:
        for shard, mark in zip(shards, marks, strict=True):
            assert mark is not None
            digest = hashlib.sha256()
            with job.place(shard).open("rb") as part:
                while block := part.read(_BLOCK):
                    digest.update(block)
                    file.write(block)
            if digest.hexdigest() != mark.written:
                raise Fault(f"{job.place(shard)} is damaged; with --workers and --resume it is translated again.")
            progress("joining shards", shard.number, shard.of)


def is_joined(folder: Path, out: Path) -> bool:
    """Return True if the output equals its joined shards, so that these can be removed."""
    parts = sorted(path for path in folder.iterdir() if path.with_name(f"{path.name}.done").exists())
    if len(parts) != number_of_shards(folder):
        return False
    with out.open("rb") as whole:
        for part in parts:
            with part.open("rb") as file:
                while block := file.read(_BLOCK):
                    if whole.read(len(block)) != block:
                        return False
        return not whole.read(1)
