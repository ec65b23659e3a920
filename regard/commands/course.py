"""`regard course`: twelve lessons on attention, each a page on this machine or a notebook."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from regard.base.faults import Fault
from regard.console import remark, say_table

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
    run: Annotated[bool, typer.Option("--run", help="Run the steps here and print what they show.")] = False,
    record: Annotated[bool, typer.Option("--record", hidden=True, help="Keep what the steps show.")] = False,
) -> None:
    """Learn how attention works in twelve lessons, from counting words to a translator of your own."""
    spoken = language or language_of_system()
    if lesson is None:
        _list(spoken)
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
