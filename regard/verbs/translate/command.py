"""`regard translate`: translate text line by line; and the request that its options make."""

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from regard.base.faults import Fault
from regard.base.files import checksum, is_same_file, refuse_missing_folder
from regard.base.model_folder import model_checksum, read_recipe
from regard.base.progress import silent
from regard.base.recipe import apply_settings, check
from regard.console import NoOutput, console_progress, options, refuse_folder
from regard.console.inputs import inputs_after_model
from regard.console.lines import TextInput
from regard.console.option_names import DRAWING, OptionNames
from regard.verbs.translate.bulk.shards import refuse_shards
from regard.verbs.translate.line_translator import LineJob, Stream, translate_lines
from regard.verbs.translate.unfinished import (
    GrowingFile,
    Kept,
    Unfinished,
    hold_output,
    remark_finished,
)

if TYPE_CHECKING:
    from regard.verbs.translate.request import TranslateRequest

FIELDS = (  # request fields that an option fills directly
    "beam",
    "length_penalty",
    "n_best",
    "mbr",
    "samples",
    "channel_weight",
    "prior_weight",
    "fuse_weight",
    "draft",
    "split_sentences",
    "too_long",
    "replace_unknown",
    "engine",
    "explain",
)
BY_LINE = ("prefix", "required", "forced")  # request fields that files fill, line by line
# Everything that decides the translations; models and vocabularies count by their contents, not by their names.
_RECORDED = [
    *(field for field in FIELDS if field != "too_long"),
    *DRAWING,
    "settings",
    "sample",
    "forbidden",
    "precision",
]
_OWN_OPTIONS = ("beam", "length_penalty", "n_best")  # search options that --set may name too


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
    draft: options.Draft = None,
    split_sentences: options.SplitSentences = False,
    too_long: options.TooLong = "refuse",
    replace_unknown: options.ReplaceUnknown = False,
    dictionary: options.Dictionary = None,
    engine: options.Engine = "auto",
    precision: options.Precision = "float32",
    explain: Annotated[bool, typer.Option("--json", help="Print a JSON object for each line.")] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Continue where the same command was stopped.")] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the output file.")] = False,
    workers: options.Workers = None,
    shard: options.Shard = None,
    join: options.Join = False,
    on: options.On = None,
) -> None:
    """Translate text line by line. The order is kept, and an empty line gives an empty line."""
    source, *others = inputs_after_model(inputs, text) or [TextInput()]
    if others:
        raise Fault(f"Only one file can be translated at a time; give one, not {len(others) + 1}.")
    job = LineJob(model, translate_request(context.params), precision, source, prefix, required, forced)
    _check_output(out, [source.file, vocabulary, dictionary, *job.constraint_files])
    source.check()
    if workers or shard or join or on:
        _share_out(job, out, context)
    else:
        _translate_here(job, out, context)


def _share_out(job: LineJob, out: Path | None, context: typer.Context) -> None:
    """Translate in shards with several processes; refuse inputs that cannot be divided."""
    from regard.verbs.translate.bulk.command import SharedOutput, Sharing, translate_in_shards

    sharing = Sharing(*(context.params[name] for name in ("workers", "shard", "join", "on")))
    option = sharing.first_option()
    if job.given.file is None:
        raise Fault(f"{option} divides a file into shards; name a file as INPUT, or omit {option}.")
    for file in (job.given.file, *job.constraint_files):
        if file.exists() and not file.is_file():
            raise Fault(
                f"{option} reads {file} part by part, but it is not a file; write it to a file first, or omit {option}."
            )
    if out is None or _is_device(out):
        raise Fault(f"{option} writes a file; name it with -o.")
    refuse_folder(out)
    refuse_missing_folder(out)
    output = SharedOutput(out, context.params["resume"], context.params["overwrite"])
    record = record_of(job.model, context)
    translate_in_shards(job, output, sharing, record, lines_for_each(job.model, job.request))


def _translate_here(job: LineJob, out: Path | None, context: typer.Context) -> None:
    """Translate in this process, from the first line to the last."""
    resume, overwrite = context.params["resume"], context.params["overwrite"]
    with _hold_output(out, resume) as unfinished:
        if unfinished:
            refuse_shards(unfinished.out, resume, overwrite)
            if unfinished.is_finished and resume and not overwrite:
                remark_finished(unfinished.out, job.given, lines_for_each(job.model, job.request))
                return
        record = record_of(job.model, context) if unfinished else {}
        kept = _begin(unfinished, record, resume, overwrite)
        translator, constraints = job.open_translator(), job.constraints()
        with _output(out, unfinished, record, kept, overwrite) as output:
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
    for source in inputs:
        refuse_same(source, out)
    if out.suffix in (".gz", ".xz", ".zst"):
        raise Fault(f"{out} would be plain text under the name of a compressed file; omit its {out.suffix}.")


@contextmanager
def _hold_output(out: Path | None, resume: bool) -> Iterator[Unfinished | None]:
    """Lock the output file against other writers; a device or standard output needs no lock."""
    if out is None or _is_device(out):
        if resume:
            raise Fault("--resume continues a file; name it with -o.")
        yield None
    else:
        refuse_folder(out)
        with hold_output(out) as unfinished:
            yield unfinished


def _begin(unfinished: Unfinished | None, record: dict[str, Any], resume: bool, overwrite: bool) -> Kept:
    """Return the lines kept from an unfinished output; refuse one that another command began."""
    if unfinished is None:
        return Kept()
    kept = unfinished.begin(resume, overwrite)
    if kept.lines:
        unfinished.refuse_other(record)
    return kept


def _is_device(out: Path) -> bool:
    """Return True if this is a device or pipe, like /dev/stdout, which a file must not replace."""
    return out.exists() and not out.is_file() and not out.is_dir()


def refuse_same(source: Path | None, out: Path) -> None:
    """Refuse to write to a file that is also an input, which would destroy it."""
    if source is not None and is_same_file(out, source):
        raise Fault(f"{out} is an input too; write the translations to another file.")


@contextmanager
def _output(
    path: Path | None, unfinished: Unfinished | None, record: dict[str, Any], kept: Kept, overwrite: bool
) -> Iterator[Stream | GrowingFile]:
    """Open standard output, a device, or a file that appears under its name once it is complete."""
    if unfinished is not None:
        with unfinished.growing(record, kept, overwrite) as file:
            yield file
    elif path is None:
        yield Stream(sys.stdout)
    else:
        with path.open("w", encoding="utf-8", newline="\n") as device:
            yield Stream(device)


def translate_request(params: Mapping[str, Any]) -> "TranslateRequest":
    """Return the request that the options make, before any line is read.

    Parameters that fill a field of the request have its name.
    """
    from regard.engines.fast import CALLED
    from regard.verbs.translate.request import TranslateRequest

    if params["precision"] == "bf16" and params["engine"] not in ("auto", "torch"):
        raise Fault(f"{CALLED[params['engine']]} cannot do --precision bf16; omit it, or set --engine to torch.")
    fields = {name: params[name] for name in FIELDS if params[name] is not None}
    settings = apply_settings({}, params["settings"] or [])
    sample = _sampling(settings, params)
    fields |= {name: settings.pop(name) for name in _OWN_OPTIONS if name in settings and name not in fields}
    if sample is not None:
        count = sample.pop("samples", None)
        fields |= {"n_best": count} if count is not None and not fields.keys() & {"n_best", "mbr"} else {}
    table = {
        "text": [],
        "search": settings,
        "forbidden": list(params["forbidden"] or []),
        "sample": sample,
        "with": [str(folder) for folder in params["together"] or []],
        "channel": None if params["channel"] is None else str(params["channel"]),
        "prior": None if params["prior"] is None else str(params["prior"]),
        "fuse": None if params["fuse"] is None else str(params["fuse"]),
        "vocabulary": None if params["vocabulary"] is None else _read_vocabulary(Path(params["vocabulary"])),
        "dictionary": {} if params["dictionary"] is None else read_dictionary(Path(params["dictionary"])),
        **{name: [] for name in BY_LINE if params[name] is not None},  # given, though no line is read yet
        **fields,
    }
    return TranslateRequest.read(table, OptionNames())


def _read_vocabulary(path: Path) -> list[str]:
    """Read the texts whose tokens may be written; refuse a file without any."""
    from regard.data.lines import read_lines

    texts = list(read_lines(path))
    if not any(text.strip() for text in texts):
        raise Fault(f"{path}, the --vocabulary, has no words; write texts into it whose words may be used.")
    return texts


def read_dictionary(path: Path) -> dict[str, str]:
    """Read a file of words and their translations; the first entry of a word counts."""
    from regard.data.lines import read_lines

    translations: dict[str, str] = {}
    for number, line in enumerate(read_lines(path), 1):
        word, tab, translation = line.partition("\t")
        if not (tab and word.strip() and translation.strip()):
            raise Fault(f"{path}, line {number}: expected a word, a tab, and its translation.")
        translations.setdefault(word.strip(), translation.strip())
    return translations


def _sampling(settings: dict[str, Any], params: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the sampling options, taking those of --set out of `settings`; None without sampling."""
    options_given = {name: params[name] for name in DRAWING if params[name] is not None}
    draws = params["sample"] or params["mbr"] is not None
    if options_given and not draws:
        names = " and ".join(f"--{name.replace('_', '-')}" for name in options_given)
        has = "has" if len(options_given) == 1 else "have"
        raise Fault(f"{names} {has} no effect without --sample.")
    if "sampling" in settings and not draws:
        raise Fault("Sampling options have no effect without --sample.")
    table = settings.pop("sampling", {})
    if not isinstance(table, dict):
        raise Fault("Sampling has several options; give one of them, as in --set sampling.min_p=0.05.")
    return table | options_given if draws else None


def lines_for_each(folder: Path, request: "TranslateRequest") -> int:
    """Return the number of output lines per input line, without loading the model."""
    from regard.decoding.options import DecodingOptions
    from regard.verbs.translate.plan import number_of_outputs

    if request.explain:
        return 1
    return number_of_outputs(request, check(DecodingOptions, read_recipe(folder)["decoding"]))


def record_of(model: Path, context: typer.Context) -> dict[str, Any]:
    """Return a record of everything besides the lines that decides the translations: options, and checksums of files.

    The treatment of long lines is not part of it: the lines kept so far are the same, so a run that such a line stopped
    can continue with it split.
    """
    from regard.engines.exported import CTRANSLATE2, ONNX, RECORD

    params = context.params
    values = {field: params[field] for field in _RECORDED} | {field: params[field] is not None for field in BY_LINE}
    names = {field.name: max(field.opts, key=len) for field in context.command.params}
    exports = [_checksum_of(model / tool / RECORD) for tool in (CTRANSLATE2, ONNX)]
    return {
        **{names[name]: list(value) if isinstance(value, tuple) else value for name, value in values.items()},
        "the model": model_checksum(model),
        "its export": exports if params["engine"] != "torch" else None,
        "the model of --channel": model_checksum(Path(params["channel"])) if params["channel"] else None,
        "the model of --prior": model_checksum(Path(params["prior"])) if params["prior"] else None,
        "the model of --fuse": model_checksum(Path(params["fuse"])) if params["fuse"] else None,
        "a model of --with": [model_checksum(Path(folder)) for folder in params["together"] or []],
        "the text of --dictionary": _checksum_of(Path(params["dictionary"])) if params["dictionary"] else None,
        "the text of --vocabulary": _checksum_of(Path(params["vocabulary"])) if params["vocabulary"] else None,
    }


def _checksum_of(path: Path) -> str | None:
    """Return the checksum of a file; None if there is none, or for a pipe, which can be read only once."""
    return checksum(path.read_bytes()) if path.is_file() else None
