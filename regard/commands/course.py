"""`regard course`: twelve lessons on attention, each a page on this machine or a notebook."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from regard.base.faults import Fault
from regard.base.files import refuse_missing_folder, write_file
from regard.console import remark, remark_written, say_table

if TYPE_CHECKING:
    from regard.course.running import Output
    from regard.course.sources import Language

FOLDER = Path("runs/course")


def command(
    lesson: Annotated[int | None, typer.Argument(metavar="LESSON", help="Number of a lesson; none lists them.")] = None,
    language: Annotated[
        Literal["en", "pt", "ru"] | None,
        typer.Option(help="Language of the texts.", show_default="that of your system"),
    ] = None,
    folder: Annotated[Path, typer.Option(help="Folder for the models and the progress of the course.")] = FOLDER,
    out: Annotated[Path | None, typer.Option("-o", "--out", help="Write the lesson as a notebook, .ipynb.")] = None,
    run: Annotated[bool, typer.Option("--run", help="Run the steps here and print what they show.")] = False,
    record: Annotated[bool, typer.Option("--record", hidden=True, help="Keep what the steps show.")] = False,
) -> None:
    """Learn how attention works in twelve lessons, from counting words to a translator of your own."""
    spoken = language or language_of_system()
    if lesson is None:
        if out is not None:
            raise Fault("-o writes one lesson; name its number.")
        _list(spoken)
    elif out is not None:
        _write(lesson, spoken, out)
    elif run or record:
        _run(lesson, folder, record)
    else:
        raise Fault("Add --run to run the steps of a lesson.")


def language_of_system() -> "Language":
    """Return the language of the environment if the course has it, else English."""
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        if value := os.environ.get(name):
            code = value[:2].lower()
            return "pt" if code == "pt" else "ru" if code == "ru" else "en"
    return "en"


def _list(language: "Language") -> None:
    from regard.course.sources import lesson_numbers, title_of

    rows = [(str(number), title_of(number, language)) for number in lesson_numbers()]
    say_table(["lesson", "title"], rows)


def _write(number: int, language: "Language", out: Path) -> None:
    from regard.course.notebook import notebook_of
    from regard.course.sources import read_lesson

    if out.suffix != ".ipynb":
        raise Fault(f"{out} is not a notebook; end its name in .ipynb.")
    refuse_missing_folder(out)
    if out.exists():
        raise Fault(f"{out} exists already; name another file, so that nobody's answers are lost.")
    write_file(out, notebook_of(read_lesson(number), language))
    remark_written(out)
    remark(f"Open it with: pip install jupyterlab && jupyter lab {out}")


def _run(number: int, folder: Path, keeps: bool) -> None:
    """Run the steps of a lesson in the terminal; with `keeps` their outputs become the lesson's recording."""
    import time

    from regard.course.recording import record, write_recording
    from regard.course.sources import read_lesson

    lesson = read_lesson(number)
    began = last = time.monotonic()

    def announce(name: str, outputs: "tuple[Output, ...]") -> None:
        nonlocal last
        for output in outputs:
            typer.echo(
                output.text.rstrip("\n") if output.kind == "text" else f"[a picture of {len(output.picture):,} bytes]"
            )
        remark(f"{name}: {time.monotonic() - last:.1f} s")
        last = time.monotonic()

    recording = record(lesson, folder, announce)
    remark(f"lesson {number}: {time.monotonic() - began:.0f} s")
    if keeps:
        write_recording(lesson, recording)
