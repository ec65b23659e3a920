"""`regard translate`: text in, text out, line by line."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from regard.cli import options
from regard.cli.asked import Asked
from regard.cli.console import console_progress, refuse_existing
from regard.cli.lines import Translator, WishesByLine
from regard.faults import Fault
from regard.files import whole_file

if TYPE_CHECKING:
    from regard.translated import Translated

PORTION = 1024  # lines translated together; results appear portion by portion


def command(
    model: Annotated[Path, typer.Argument(help="A model folder.")],
    source: Annotated[
        Path | None, typer.Argument(metavar="INPUT", help="A text file (plain, .gz, .xz); - is standard input.")
    ] = None,
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
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object for each line.")] = False,
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
        explained=as_json,
    )
    _translate(model, source, out, asked, WishesByLine(prefixes, required, forced), as_json, overwrite)


def _translate(
    model: Path,
    source: Path | None,
    out: Path | None,
    asked: Asked,
    wishes: WishesByLine,
    as_json: bool,
    overwrite: bool,
) -> None:
    from_file = None if source is None or str(source) == "-" else source
    if out is not None:
        for given in (from_file, asked.vocabulary, *wishes.files):
            refuse_same(given, out)
        if out.suffix in (".gz", ".xz"):
            raise Fault(f"{out} would be plain text under the name of a packed file; leave its {out.suffix} away.")
        refuse_existing(out, overwrite)
    if from_file is None and sys.stdin is None:
        raise Fault("There is no standard input; name a file to translate.")
    asked.check(wishes)
    translator = asked.translator(model, wishes)
    with _lines(from_file) as lines, _output(out) as file, console_progress() as progress:
        done = 0
        while portion := list(islice(lines, 1 if _typed(from_file) else PORTION)):
            for translated in translator(portion, done, wishes.take(len(portion))):
                for line in _written(translated, translator, as_json):
                    print(line, file=file)
            file.flush()
            done += len(portion)
            if out is not None:
                progress("translating", done, None)
        wishes.end()


def refuse_same(source: Path | None, out: Path) -> None:
    """Reading from the file one writes to would destroy it."""
    if source is not None and out.exists() and source.exists() and source.samefile(out):
        raise Fault(f"{out} is an input too; write the translations to another file.")


def _typed(from_file: Path | None) -> bool:
    return from_file is None and sys.stdin.isatty()


@contextmanager
def _lines(path: Path | None) -> Iterator[Iterator[str]]:
    from regard.data.text import read_lines, read_stream

    yield read_lines(path) if path is not None else read_stream(sys.stdin.buffer, "standard input")


@contextmanager
def _output(path: Path | None) -> Iterator[TextIO]:
    """Standard output, or a file that appears under its name when it is whole."""
    if path is None:
        yield sys.stdout
        return
    with whole_file(path) as file:
        text = TextIOWrapper(file, encoding="utf-8", newline="\n")
        yield text
        text.detach()  # flushes, and leaves the file open, for it has still to be forced to disk


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
