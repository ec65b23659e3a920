"""`regard translate`: text in, text out, line by line."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TextIO

import typer

from regard.cli.console import console_progress, refuse_existing
from regard.faults import Fault
from regard.files import whole_file

if TYPE_CHECKING:
    from regard.model import Model, Translated

PORTION = 1024  # lines translated together; results appear portion by portion


def command(
    model: Annotated[Path, typer.Argument(help="A model folder.")],
    source: Annotated[
        Path | None, typer.Argument(metavar="INPUT", help="A text file (plain, .gz, .xz); - is standard input.")
    ] = None,
    out: Annotated[Path | None, typer.Option("-o", "--out", help="File for the translations.")] = None,
    beam: Annotated[int | None, typer.Option(min=1, max=64, help="Width of the beam; 1 is greedy.")] = None,
    length_penalty: Annotated[float | None, typer.Option(min=0, help="Alpha of the length penalty.")] = None,
    n_best: Annotated[int | None, typer.Option(min=1, help="Candidates for each line, best first.")] = None,
    engine: Annotated[Literal["auto", "torch"], typer.Option(help="What computes the translations.")] = "auto",
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object for each line.")] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the output file.")] = False,
) -> None:
    """Translate text line by line; order is kept, and an empty line gives an empty line."""
    from_file = None if source is None or str(source) == "-" else source
    if out is not None:
        refuse_same(from_file, out)
        refuse_existing(out, overwrite)
    from regard.model import load
    from regard.tasks.translation import TooLong

    if from_file is None and sys.stdin is None:
        raise Fault("There is no standard input; name a file to translate.")
    loaded = load(model)
    with _lines(from_file) as lines, _output(out) as file, console_progress() as progress:
        done = 0
        while portion := list(islice(lines, 1 if _typed(from_file) else PORTION)):
            try:
                for line in _answers(loaded, portion, beam, length_penalty, n_best, as_json):
                    print(line, file=file)
            except TooLong as fault:
                raise Fault(f"Line {done + fault.number + 1}: {fault.sentence}") from None
            file.flush()
            done += len(portion)
            if out is not None:
                progress("translating", done, None)


def refuse_same(source: Path | None, out: Path) -> None:
    """Reading from the file one writes to would destroy it."""
    if source is not None and out.exists() and source.exists() and source.samefile(out):
        raise Fault(f"{out} is the input too; write the translations to another file.")


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


def _answers(
    model: "Model", lines: list[str], beam: int | None, penalty: float | None, n_best: int | None, as_json: bool
) -> Iterator[str]:
    count = n_best or model.recipe.decoding.n_best
    for translated in model.translate(lines, beam=beam, length_penalty=penalty, n_best=n_best):
        if as_json:
            yield json.dumps(_as_object(translated), ensure_ascii=False)
        else:
            texts = [text for text, _ in translated.n_best]
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
