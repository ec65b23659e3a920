"""Shared by all lessons of `regard show`: their options, their forms, and where the result goes."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from regard.base.faults import Fault
from regard.base.files import finite, write_file
from regard.console import print_json, refuse_existing, refuse_folder, remark_written

if TYPE_CHECKING:
    from regard.viewing.sealed import SealedPage

PICTURES = (".png", ".svg", ".json")

ModelFolder = Annotated[Path, typer.Argument(help="A model folder.")]
Sentence = Annotated[str, typer.Option(help="A sentence for the model to read.")]
OutFile = Annotated[
    Path | None, typer.Option("-o", "--out", help="A .png, .svg or .json file; otherwise print to the terminal.")
]
LessonFile = Annotated[
    Path | None,
    typer.Option("-o", "--out", help="A .png, .svg, .html or .json file; otherwise print to the terminal."),
]
PictureFile = Annotated[
    Path | None,
    typer.Option("-o", "--out", help="A .png, .svg, .html or .json file; needed unless --json or --model is given."),
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace the output file.")]
RecurrentLayer = Annotated[
    int | None, typer.Option(min=1, help="The recurrent layer, counted from 1; the first by default.")
]
AsTokens = Annotated[bool, typer.Option("--tokens", help="Show tokens instead of whole words.")]
AsJson = Annotated[bool, typer.Option("--json", help="Machine-readable output.")]

FOR_A_MODEL = "is for a model; name its folder first, or omit the option."


@dataclass(frozen=True)
class View:
    """A lesson in all its forms: numbers, a picture, lines in the terminal and, if it has one, a page."""

    numbers: Callable[[], dict[str, Any]]
    draw: Callable[[Path], set[str]]  # returns the characters that no font here can draw
    say: Callable[[], None]
    page: "Callable[[], SealedPage] | None" = None


def show_view(view: View, out: Path | None, as_json: bool) -> None:
    """Print the numbers if asked to, write a file if one is named, otherwise print lines to read."""
    if as_json:
        print_json(view.numbers())
    if out is None:
        if not as_json:
            view.say()
    elif out.suffix.lower() == ".json":
        write_file(out, (json.dumps(finite(view.numbers()), ensure_ascii=False, indent=1) + "\n").encode())
        remark_written(out)
    elif out.suffix.lower() == ".html":
        assert view.page is not None, "check_out refuses pages of a lesson that has none"
        view.page().write(out)
        remark_written(out)
    else:
        remark_written(out, view.draw(out))


def check_out(out: Path | None, overwrite: bool, has_page: bool = False) -> None:
    """Refuse a file that cannot be written, exists already, or whose suffix names no form of the lesson."""
    if out is not None:
        refuse_folder(out)
        refuse_existing(out, overwrite)
        suffixes = (*PICTURES, ".html") if has_page else PICTURES
        if out.suffix.lower() not in suffixes:
            names = f"{', '.join(suffixes[:-1])} or {suffixes[-1]}"
            raise Fault(f"{out} does not end in {names}; the suffix chooses the format.")


def refuse_given(context: typer.Context, allowed: set[str], reason: str) -> None:
    """Refuse options on the command line other than the allowed ones and those of every lesson, with the reason."""
    for name in context.params:
        if is_given(context, name) and name not in (allowed | {"out", "overwrite", "as_json"}):
            raise Fault(f"--{name.replace('_', '-')} {reason}")


def is_given(context: typer.Context, name: str) -> bool:
    """Return True if an option is on the command line."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"
