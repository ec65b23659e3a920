"""`regard translate`: text in, text out, line by line."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from regard.base.faults import Fault
from regard.base.files import checksum
from regard.cli import options
from regard.cli.asked import Asked
from regard.cli.console import NoOutput, console_progress, refuse_folder, remark
from regard.cli.lines import ConstraintsByLine, Input, Translator, number_of_lines
from regard.cli.unfinished import PORTION, GrowingFile, Kept, Stream, Unfinished, held
from regard.runs.folder import SCORES, read_manifest
from regard.training.pace import read_course

if TYPE_CHECKING:
    from regard.verbs.translate.outputs import Translated

_FLAGS = {  # what was asked for -> the option by which it is, where that is not its name
    "settings": "--set",
    "draws": "--sample",
    "risk": "--mbr",
    "forbidden": "--forbid",
    "forced": "--force",
    "explained": "--json",
}


def command(
    model: Annotated[Path, typer.Argument(help="A model folder.")],
    source: Annotated[
        Path | None, typer.Argument(metavar="INPUT", help="A text file (plain, .gz, .xz); - is standard input.")
    ] = None,
    text: Annotated[str | None, typer.Option(help="A text to translate, in place of INPUT.")] = None,
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
    risk: options.Risk = None,
    samples: options.Samples = None,
    prefixes: options.Prefixes = None,
    required: options.Required = None,
    forbid: options.Forbid = None,
    vocabulary: options.Vocabulary = None,
    forced: options.Forced = None,
    ensemble: options.Ensemble = None,
    channel: options.Channel = None,
    channel_weight: options.ChannelWeight = None,
    split_sentences: options.SplitSentences = False,
    too_long: options.TooLong = "refuse",
    engine: options.Engine = "auto",
    precision: options.Precision = "float32",
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object for each line.")] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Go on where the same command was stopped.")] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the output file.")] = False,
) -> None:
    """Translate text line by line; order is kept, and an empty line gives an empty line."""
    asked = Asked(
        beam=beam,
        length_penalty=length_penalty,
        n_best=n_best,
        settings=settings or [],
        draws=sample,
        sampling={"temperature": temperature, "top_k": top_k, "top_p": top_p, "seed": seed},
        risk=risk,
        samples=samples,
        forbidden=forbid or [],
        vocabulary=vocabulary,
        ensemble=ensemble or [],
        channel=channel,
        channel_weight=channel_weight,
        split_sentences=split_sentences,
        split_long=too_long == "split",
        forced=forced is not None,
        engine=engine,
        precision=precision,
        explained=as_json,
    )
    if text is not None and source is not None:
        raise Fault("Give INPUT or --text, not both.")
    given = Input(text, None if str(source) == "-" else source)
    _translate(model, given, out, asked, ConstraintsByLine(prefixes, required, forced), resume, overwrite)


def _translate(
    model: Path,
    given: Input,
    out: Path | None,
    asked: Asked,
    constraints: ConstraintsByLine,
    resume: bool,
    overwrite: bool,
) -> None:
    """Refuse what cannot be, load what is needed, and let the lines through."""
    if out is not None:
        _check_output(out, [given.file, asked.vocabulary, *constraints.files])
    given.check()
    if out is None and isinstance(sys.stdout, NoOutput):
        raise Fault("There is no standard output; name a file for the translations with -o.")
    asked.check(constraints)
    with _held(out, resume) as unfinished:
        if unfinished and unfinished.is_finished and resume and not overwrite:
            _remark_finished(unfinished.out, given, asked.lines_for_each(model))
            return
        begun = unfinished.begun(resume, overwrite) if unfinished else Kept()
        said = _said(model, asked, constraints) if unfinished else {}
        if unfinished and begun.lines:
            unfinished.refuse_other(said)
        translator = asked.translator(model, constraints)
        if (course := read_course(model / "training")) and (caution := course.caution()):
            remark(caution)
        total = given.count() if out is not None else None
        with _output(out, unfinished, said, begun, overwrite) as output, console_progress() as progress:
            for done in _portions(translator, given, constraints, output, asked.explained):
                if out is not None:
                    progress("translating", done, total)
    if translator.long_lines and not translator.gives_scores:
        remark(_about_long_lines(translator.long_lines, translator.cutting.longest))


def _about_long_lines(numbers: list[int], longest: int) -> str:
    few = "1 line is" if len(numbers) == 1 else f"{len(numbers):,} lines are"
    return (
        f"{few} longer than any that the model learnt from ({longest:,} tokens), as line {numbers[0] + 1:,}; "
        "much may be missing: translate with --split-sentences, or with --too-long split."
    )


def _portions(
    translator: Translator,
    given: Input,
    constraints: ConstraintsByLine,
    output: Stream | GrowingFile,
    as_json: bool,
) -> Iterator[int]:
    """Translate portion by portion, and give how many lines are done; what the output has already is only read."""
    lines, done = given.lines(), 0
    while portion := list(islice(lines, 1 if given.is_typed else PORTION)):
        own, first, done = constraints.take(len(portion)), done, done + len(portion)
        if not output.covers(portion, own):
            for translated in translator(portion, first, own):
                for line in _written(translated, translator, as_json):
                    output.write(line)
            output.keep()
        yield done
    constraints.end()


def _check_output(out: Path, inputs: list[Path | None]) -> None:
    for given in inputs:
        refuse_same(given, out)
    if out.suffix in (".gz", ".xz"):
        raise Fault(f"{out} would be plain text under the name of a packed file; leave its {out.suffix} away.")


@contextmanager
def _held(out: Path | None, resume: bool) -> Iterator[Unfinished | None]:
    """The place of the output, so that nobody else writes there; what is no file needs none."""
    if out is None or _is_device(out):
        if resume:
            raise Fault("--resume goes on with a file; name it with -o.")
        yield None
    else:
        refuse_folder(out)
        with held(out) as unfinished:
            yield unfinished


def _remark_finished(out: Path, given: Input, lines_for_each: int) -> None:
    """Say that there is nothing to do, unless the number of lines shows that the output is of another input."""
    lines = given.count()
    if lines is None:
        remark(f"{out} is there, and nothing of it was left unfinished; nothing was done.")
        return
    found, expected = number_of_lines(out), lines * lines_for_each
    if found != expected:
        raise Fault(
            f"{out} is there and has {found:,} lines, where this input gives {expected:,}, so it is not what this "
            "command would write; give --overwrite to replace it."
        )
    remark(f"{out} is there with as many lines as this input gives; nothing was done.")


def _is_device(out: Path) -> bool:
    """Whether this is there to be written to, like /dev/stdout or a pipe, and no file may take its place."""
    return out.exists() and not out.is_file() and not out.is_dir()


def _said(model: Path, asked: Asked, constraints: ConstraintsByLine) -> dict[str, Any]:
    """All that decides the translations but the lines, as a record can hold it: options, and checksums of files.

    Whether lines that are too long are split is no part of it: those that were kept are the same, so who was stopped by
    such a line can go on with it split.
    """
    from regard.engines.exported import CTRANSLATE2, ONNX, RECORD

    others = {"vocabulary", "ensemble", "channel", "sampling", "split_long"}
    values = {field.name: getattr(asked, field.name) for field in fields(asked) if field.name not in others}
    values |= asked.sampling | {
        "prefixes": constraints.prefixes.path is not None,
        "required": constraints.required.path is not None,
    }
    said = {_FLAGS.get(name, f"--{name.replace('_', '-')}"): value for name, value in values.items()}
    exports = [_checksum_of(model / tool / RECORD) for tool in (CTRANSLATE2, ONNX)]
    return said | {
        "the model": _contents(model),
        "its export": exports if asked.engine != "torch" else None,
        "the model of --channel": _contents(asked.channel) if asked.channel else None,
        "a model of --with": [_contents(folder) for folder in asked.ensemble],
        "the text of --vocabulary": _checksum_of(asked.vocabulary),
    }


def _checksum_of(path: Path | None) -> str | None:
    """That of a file, if there is one; a pipe can be read but once, and not here."""
    return checksum(path.read_bytes()) if path is not None and path.is_file() else None


def _contents(folder: Path) -> str:
    """One checksum for all that decides what a model writes."""
    files = {name: made for name, made in read_manifest(folder).items() if name != SCORES}
    return checksum(json.dumps(files, sort_keys=True).encode())


def refuse_same(source: Path | None, out: Path) -> None:
    """Reading from the file one writes to would destroy it."""
    if source is not None and out.exists() and source.exists() and source.samefile(out):
        raise Fault(f"{out} is an input too; write the translations to another file.")


@contextmanager
def _output(
    path: Path | None, unfinished: Unfinished | None, said: dict[str, Any], begun: Kept, overwrite: bool
) -> Iterator[Stream | GrowingFile]:
    """Standard output, a device, or a file that appears under its name when it is whole."""
    if unfinished is not None:
        with unfinished.growing(said, begun, overwrite) as file:
            yield file
    elif path is None:
        yield Stream(sys.stdout)
    else:
        with path.open("w", encoding="utf-8", newline="\n") as device:
            yield Stream(device)


def _written(translated: "Translated", translator: Translator, as_json: bool) -> Iterator[str]:
    """The lines for one input line: an object, the score of a given output, or as many candidates as were asked for."""
    if as_json:
        yield json.dumps(_as_object(translated), ensure_ascii=False, allow_nan=False)
    elif translator.gives_scores:
        yield f"{translated.score:.6f}"
    else:
        texts, count = [text for text, _ in translated.n_best], translator.count
        yield from (" ".join(text.splitlines()) for text in (texts + [""] * count)[:count])


def _as_object(translated: "Translated") -> dict[str, Any]:
    return {
        "text": translated.text,
        "score": translated.score,
        "tokens": translated.tokens,
        "token_scores": translated.token_scores,
        "alignment": translated.alignment,
        "n_best": [{"text": text, "score": score} for text, score in translated.n_best],
    }
