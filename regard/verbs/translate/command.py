"""`regard translate`: text in, text out, line by line."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer

from regard.base.faults import Fault
from regard.base.files import refuse_missing_folder
from regard.base.progress import silent
from regard.console import NoOutput, console_progress, options, refuse_folder
from regard.console.inputs import inputs_after_model
from regard.console.lines import TextInput
from regard.verbs.translate.bulk.shards import refuse_shards
from regard.verbs.translate.files import LineJob, translate_lines
from regard.verbs.translate.unfinished import (
    GrowingFile,
    Kept,
    Stream,
    Unfinished,
    hold_output,
    remark_finished,
)


def command(
    context: typer.Context,
    model: Annotated[Path, typer.Argument(help="A model folder.")],
    inputs: options.Inputs = None,
    text: options.Texts = None,
    out: Annotated[Path | None, typer.Option("-o", "--out", help="File for the translations.")] = None,
    beam: options.Beam = None,
    length_penalty: options.LengthPenalty = None,
    n_best: options.NBest = None,
    settings: options.Settings = None,
    sample: options.Sample = False,
    temperature: options.Temperature = None,
    top_k: options.TopK = None,
    top_p: options.TopP = None,
    seed: options.Seed = None,
    mbr: options.Risk = None,
    samples: options.Samples = None,
    prefix: options.Prefixes = None,
    required: options.Required = None,
    forbidden: options.Forbid = None,
    vocabulary: options.Vocabulary = None,
    forced: options.Forced = None,
    together: options.Ensemble = None,
    channel: options.Channel = None,
    channel_weight: options.ChannelWeight = None,
    prior: options.Prior = None,
    prior_weight: options.PriorWeight = None,
    fuse: options.Fuse = None,
    fuse_weight: options.FuseWeight = None,
    split_sentences: options.SplitSentences = False,
    too_long: options.TooLong = "refuse",
    replace_unknown: options.ReplaceUnknown = False,
    dictionary: options.Dictionary = None,
    engine: options.Engine = "auto",
    precision: options.Precision = "float32",
    explain: Annotated[bool, typer.Option("--json", help="One JSON object for each line.")] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Go on where the same command was stopped.")] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the output file.")] = False,
    workers: options.Workers = None,
    shard: options.Shard = None,
    join: options.Join = False,
    on: options.On = None,
) -> None:
    """Translate text line by line; order is kept, and an empty line gives an empty line."""
    from regard.verbs.translate.options import translate_request

    given, *others = inputs_after_model(inputs, text) or [TextInput()]
    if others:
        raise Fault(f"One file is translated at a time; give one, not {len(others) + 1}.")
    job = LineJob(model, translate_request(context.params), precision, given, prefix, required, forced)
    _check_output(out, [given.file, vocabulary, dictionary, *job.constraint_files])
    given.check()
    if workers or shard or join or on:
        _share_out(job, out, context)
    else:
        _translate_here(job, out, context)


def _share_out(job: LineJob, out: Path | None, context: typer.Context) -> None:
    """By several processes, in shards; refuses what cannot be shared out."""
    from regard.verbs.translate.bulk.command import SharedOutput, Sharing, translate_in_shards
    from regard.verbs.translate.options import lines_for_each, record_of

    sharing = Sharing(*(context.params[name] for name in ("workers", "shard", "join", "on")))
    option = sharing.first_option()
    if job.given.file is None:
        raise Fault(f"{option} cuts a file into shards; name a file as INPUT, or omit it.")
    for file in (job.given.file, *job.constraint_files):
        if file.exists() and not file.is_file():
            raise Fault(f"{option} reads {file} part by part, but it is not a file; write it to one first, or omit it.")
    if out is None or _is_device(out):
        raise Fault(f"{option} writes a file; name it with -o.")
    refuse_folder(out)
    refuse_missing_folder(out)
    output = SharedOutput(out, context.params["resume"], context.params["overwrite"])
    record = record_of(job.model, context)
    translate_in_shards(job, output, sharing, record, lines_for_each(job.model, job.request))


def _translate_here(job: LineJob, out: Path | None, context: typer.Context) -> None:
    """By this process, from the first line to the last."""
    from regard.verbs.translate.options import lines_for_each, record_of

    resume, overwrite = context.params["resume"], context.params["overwrite"]
    with _hold_output(out, resume) as unfinished:
        if unfinished:
            refuse_shards(unfinished.out, resume, overwrite)
            if unfinished.is_finished and resume and not overwrite:
                remark_finished(unfinished.out, job.given, lines_for_each(job.model, job.request))
                return
        record = record_of(job.model, context) if unfinished else {}
        begun = _begin(unfinished, record, resume, overwrite)
        translator, constraints = job.open_translator(), job.constraints()
        with _output(out, unfinished, record, begun, overwrite) as output:
            with nullcontext(silent) if out is None else console_progress() as progress:
                total = None if out is None else job.given.count()
                translate_lines(translator, job.given, constraints, output, progress, total)
            constraints.end()
            translator.long_lines.remark()


def _check_output(out: Path | None, inputs: list[Path | None]) -> None:
    if out is None:
        if isinstance(sys.stdout, NoOutput):
            raise Fault("There is no standard output; name a file for the translations with -o.")
        return
    for given in inputs:
        refuse_same(given, out)
    if out.suffix in (".gz", ".xz", ".zst"):
        raise Fault(f"{out} would be plain text under the name of a packed file; omit its {out.suffix}.")


@contextmanager
def _hold_output(out: Path | None, resume: bool) -> Iterator[Unfinished | None]:
    """The place of the output, so that nobody else writes there; what is no file needs none."""
    if out is None or _is_device(out):
        if resume:
            raise Fault("--resume goes on with a file; name it with -o.")
        yield None
    else:
        refuse_folder(out)
        with hold_output(out) as unfinished:
            yield unfinished


def _begin(unfinished: Unfinished | None, record: dict[str, Any], resume: bool, overwrite: bool) -> Kept:
    """What is kept of an output that was not finished; if another command began it, that is refused."""
    if unfinished is None:
        return Kept()
    begun = unfinished.begin(resume, overwrite)
    if begun.lines:
        unfinished.refuse_other(record)
    return begun


def _is_device(out: Path) -> bool:
    """Whether this is there to be written to, like /dev/stdout or a pipe, and no file may take its place."""
    return out.exists() and not out.is_file() and not out.is_dir()


def refuse_same(source: Path | None, out: Path) -> None:
    """Reading from the file one writes to would destroy it."""
    if source is not None and out.exists() and source.exists() and source.samefile(out):
        raise Fault(f"{out} is an input too; write the translations to another file.")


@contextmanager
def _output(
    path: Path | None, unfinished: Unfinished | None, record: dict[str, Any], begun: Kept, overwrite: bool
) -> Iterator[Stream | GrowingFile]:
    """Standard output, a device, or a file that appears under its name when it is whole."""
    if unfinished is not None:
        with unfinished.growing(record, begun, overwrite) as file:
            yield file
    elif path is None:
        yield Stream(sys.stdout)
    else:
        with path.open("w", encoding="utf-8", newline="\n") as device:
            yield Stream(device)
