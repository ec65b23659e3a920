"""`regard translate`: text in, text out, line by line."""

import gc
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from regard.base.faults import Fault
from regard.cli import options
from regard.cli.console import NoOutput, console_progress, refuse_folder, remark
from regard.cli.lines import ConstraintsByLine, LineTranslator, Portion, TextInput, number_of_lines
from regard.cli.unfinished import PORTION, GrowingFile, Kept, Stream, Unfinished, hold_output
from regard.training.pace import read_course

if TYPE_CHECKING:
    from regard.model import Model
    from regard.verbs.requests.translate import TranslateRequest
    from regard.verbs.translate.outputs import Translated


def command(
    context: typer.Context,
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
) -> None:
    """Translate text line by line; order is kept, and an empty line gives an empty line."""
    from regard.cli.translate_request import lines_for_each, record_of, translate_request

    if text is not None and source is not None:
        raise Fault("Give INPUT or --text, not both.")
    given = TextInput(text, None if str(source) == "-" else source)
    constraints, request = ConstraintsByLine(prefix, required, forced), translate_request(context.params)
    _check_output(out, [given.file, vocabulary, dictionary, *constraints.files])
    given.check()
    with _hold_output(out, resume) as unfinished:
        if unfinished and unfinished.is_finished and resume and not overwrite:
            _remark_finished(unfinished.out, given, lines_for_each(model, request))
            return
        record = record_of(model, context) if unfinished else {}
        begun = _begin(unfinished, record, resume, overwrite)
        translator = open_translator(model, request, precision)
        with _output(out, unfinished, record, begun, overwrite) as output:
            translate_lines(translator, given, constraints, output, None if out is None else given.count())


def open_translator(folder: Path, request: "TranslateRequest", precision: Literal["float32", "bf16"]) -> LineTranslator:
    """All that translating lines as asked for needs, loaded; exports load no torch."""
    from regard.engines.exported import is_export
    from regard.engines.fast import CALLED
    from regard.verbs.translate.folder_translator import FolderTranslator

    @cache
    def find(name: str) -> FolderTranslator:
        return FolderTranslator(Path(name), "torch", precision)

    own = FolderTranslator(folder, request.engine, precision, find=find, find_language_model=_load)
    if request.fuse is not None and request.engine == "auto" and any(is_export(folder / tool) for tool in CALLED):
        remark(f"The export in {folder} cannot fuse with a language model, so torch translates.")
    translator = LineTranslator(own, request)
    if (course := read_course(folder / "training")) and (caution := course.caution()):
        remark(caution)
    return translator


def _load(name: str) -> "Model":
    from regard.model import load

    return load(name)


def translate_lines(
    translator: LineTranslator,
    given: TextInput,
    constraints: ConstraintsByLine,
    output: Stream | GrowingFile,
    total: int | None,
) -> None:
    """Let all lines through, portion by portion; those whose translations the output has already are only read."""
    portions = _without_kept(_portions(given, constraints), output)
    with console_progress() as progress, _uncollected():
        # Who sends line by line may wait for the answer to one before the next.
        for portion, translations in translator(portions, ahead=given.file is not None):
            output.take_note(portion.lines, portion.constraints)
            for translated in translations:
                for line in _output_lines(translated, translator):
                    output.write(line)
            output.keep()
            if total is not None or isinstance(output, GrowingFile):
                progress("translating", portion.end, total)
    constraints.end()
    if translator.long_lines and translator.request.forced is None:
        remark(_about_long_lines(sorted(translator.long_lines), translator.longest))


@contextmanager
def _uncollected() -> Iterator[None]:
    """Spare the garbage collector what is there already: the model and its libraries, which stay."""
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def _portions(given: TextInput, constraints: ConstraintsByLine) -> Iterator[Portion]:
    lines, first = given.lines(), 0
    while portion := list(islice(lines, 1 if given.is_typed else PORTION)):
        yield Portion(portion, first, constraints.take(len(portion)))
        first += len(portion)


def _without_kept(portions: Iterator[Portion], output: Stream | GrowingFile) -> Iterator[Portion]:
    """Those whose translations the output does not have; of the others it takes note."""
    kept = output.kept_lines
    for portion in portions:
        if portion.end <= kept:
            output.take_note(portion.lines, portion.constraints)
        else:
            yield portion


def _about_long_lines(numbers: list[int], longest: int) -> str:
    few = "1 line is" if len(numbers) == 1 else f"{len(numbers):,} lines are"
    return (
        f"{few} longer than any that the model learnt from ({longest:,} tokens), as line {numbers[0] + 1:,}; "
        "much may be missing: translate with --split-sentences, or with --too-long split."
    )


def _check_output(out: Path | None, inputs: list[Path | None]) -> None:
    if out is None:
        if isinstance(sys.stdout, NoOutput):
            raise Fault("There is no standard output; name a file for the translations with -o.")
        return
    for given in inputs:
        refuse_same(given, out)
    if out.suffix in (".gz", ".xz"):
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


def _remark_finished(out: Path, given: TextInput, lines_for_each: int) -> None:
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


def _output_lines(translated: "Translated", translator: LineTranslator) -> Iterator[str]:
    """The lines for one input line: an object, the score of a given output, or as many candidates as were asked for."""
    if translator.request.explain:
        yield json.dumps(_as_object(translated), ensure_ascii=False, allow_nan=False)
    elif translator.request.forced is not None:
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
        **({"language_scores": translated.language_scores} if translated.language_scores else {}),
        **({} if translated.unsure is None else {"unsure": translated.unsure}),
    }
