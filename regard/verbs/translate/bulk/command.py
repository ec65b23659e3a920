"""`regard translate` in shards: with workers on this machine or a cluster, or one shard for a scheduler."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from regard.base.faults import Fault
from regard.base.progress import Progress
from regard.console import console_progress, refuse_existing, remark
from regard.verbs.translate.bulk.finishing import BulkJob, ShardTranslator, is_joined, join
from regard.verbs.translate.bulk.shards import Shard, cut_into_shards, number_of_shards, remove_shards, shard_folder
from regard.verbs.translate.bulk.workers import Tally, finish_shards
from regard.verbs.translate.line_translator import LineJob
from regard.verbs.translate.unfinished import Unfinished, hold_output, remark_finished

_MOST = 1_000_000  # shards that --shard may ask for


@dataclass(frozen=True)
class Sharing:
    """Command-line options for sharing the work on a file."""

    workers: int | None = None
    shard: str | None = None
    join: bool = False
    on: Literal["ray"] | None = None

    def first_option(self) -> str:
        """Return the option that asks for shards; refuse a second one that contradicts it."""
        options = {"--workers": self.workers, "--shard": self.shard, "--join": self.join, "--on": self.on}
        names = [name for name, value in options.items() if value]
        if len(names) > 1 and names != ["--workers", "--on"]:
            raise Fault(f"{names[0]} and {names[1]} do not go together; omit one of them.")
        return names[0]

    @property
    def chosen(self) -> tuple[int, int]:
        """The number of the shard that --shard names, and the number of shards."""
        match = re.fullmatch(r"(\d{1,7})/(\d{1,7})", self.shard or "")
        number, of = (int(match[1]), int(match[2])) if match else (0, 0)
        if not 1 <= number <= of <= _MOST:
            raise Fault(f"--shard is '{self.shard}'; give the number of a shard and the number of shards, as in 3/8.")
        return number, of


@dataclass(frozen=True)
class SharedOutput:
    """An output that is written in shards, and what to do with one that exists."""

    out: Path
    resume: bool
    overwrite: bool

    @property
    def folder(self) -> Path:
        return shard_folder(self.out)

    @property
    def begins_anew(self) -> bool:
        return self.overwrite and not self.resume

    def translate_one(self, lines: LineJob, record: dict[str, Any], sharing: Sharing) -> None:
        """Translate one shard."""
        number, of = sharing.chosen
        if (before := number_of_shards(self.folder)) not in (None, of):
            raise Fault(f"{self.folder} was divided into {before} shards; give --shard I/{before}, or delete it.")
        shard, job = cut_into_shards(_file_of(lines), of)[number - 1], BulkJob(lines, record, self.folder)
        if not (self.resume or self.overwrite) and any(self.folder.glob(f"*{shard.name}*")):
            raise Fault(
                f"{job.place(shard)} was begun or is done; give --resume to continue, or --overwrite to start again."
            )
        self.folder.mkdir(exist_ok=True)
        with console_progress() as progress:
            long_lines = ShardTranslator(job).finish(shard, progress, anew=self.begins_anew)
        long_lines.remark()
        remark(f"Wrote {job.place(shard)} ({shard}).")

    def join(self, lines: LineJob, record: dict[str, Any]) -> None:
        """Join all shards into one file, if all are done and belong to these lines."""
        with hold_output(self.out), console_progress() as progress:
            refuse_existing(self.out, self.overwrite)
            if (of := number_of_shards(self.folder)) is None:
                raise Fault(f"There are no shards in {self.folder}; translate them with --shard, or with --workers.")
            job, shards = BulkJob(lines, record, self.folder), cut_into_shards(_file_of(lines), of)
            for shard in shards:
                job.has_finished(shard)
                progress("checking shards", shard.number, of)
            join(job, shards, self.out, progress)
            remove_shards(self.folder)

    def translate_all(self, lines: LineJob, record: dict[str, Any], sharing: Sharing, lines_for_each: int) -> None:
        """Translate every shard that is not done yet, then join all into one file."""
        with hold_output(self.out) as unfinished:
            if self._is_finished():
                remark_finished(self.out, lines.given, lines_for_each)
                return
            self._begin(unfinished)
            job = BulkJob(lines, record, self.folder)
            shards = cut_into_shards(_file_of(lines), number_of_shards(self.folder))
            self.folder.mkdir(exist_ok=True)
            with self._what_is_kept(shards), console_progress() as progress:
                tally = _finish(job, shards, sharing, progress)
                join(job, shards, self.out, progress)
            remove_shards(self.folder)
            tally.remark()

    def _is_finished(self) -> bool:
        """Return True if the output is complete; remove shards that a kill at the very end left behind."""
        if not self.resume or self.overwrite or not self.out.exists():
            return False
        if number_of_shards(self.folder) is not None and is_joined(self.folder, self.out):
            remove_shards(self.folder)
        return number_of_shards(self.folder) is None

    def _begin(self, unfinished: Unfinished) -> None:
        """Remove earlier output, or refuse to start over it."""
        if self.begins_anew:
            remove_shards(self.folder)
            unfinished.text.unlink(missing_ok=True)
            return
        refuse_existing(self.out, self.overwrite)
        if unfinished.text.exists():
            raise Fault(
                f"{self.out} was begun by one process; continue without shards, "
                "or give --overwrite without --resume to start again."
            )
        if number_of_shards(self.folder) is not None and not self.resume:
            raise Fault(f"{self.out} was begun in shards; give --resume to continue, or --overwrite to start again.")

    @contextmanager
    def _what_is_kept(self, shards: list[Shard]) -> Iterator[None]:
        """If the block fails, report what can be resumed."""
        try:
            yield
        except BaseException:
            if number_of_shards(self.folder) is None:
                remove_shards(self.folder)
            else:
                done = sum((self.folder / f"{shard.name}.done").exists() for shard in shards)
                remark(f"{done} of {len(shards)} shards are done; the same command with --resume continues from there.")
            raise


def _finish(job: BulkJob, shards: list[Shard], sharing: Sharing, progress: Progress) -> Tally:
    if sharing.on == "ray":
        from regard.verbs.translate.bulk.ray_cluster import finish_on_ray

        return finish_on_ray(job, shards, sharing.workers, progress)
    return finish_shards(job, shards, sharing.workers or 1, progress)


def translate_in_shards(
    lines: LineJob, output: SharedOutput, sharing: Sharing, record: dict[str, Any], lines_for_each: int
) -> None:
    """Translate a file with the sharing that the command line asks for."""
    if sharing.shard is not None:
        output.translate_one(lines, record, sharing)
    elif sharing.join:
        output.join(lines, record)
    else:
        output.translate_all(lines, record, sharing, lines_for_each)


def _file_of(lines: LineJob) -> Path:
    assert lines.given.file is not None
    return lines.given.file
