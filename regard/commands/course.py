"""`regard course`: twelve lessons on attention, each a page on this machine or a notebook."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from regard.base.extras import how_to_install
from regard.base.faults import Fault
from regard.base.files import refuse_missing_folder, write_file
from regard.console import remark, remark_written, say_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from regard.course.running import Output
    from regard.course.sources import Language

FOLDER = Path("runs/course")
_SECONDS_TO_END = 5.0  # for requests that were accepted before Ctrl-C


def command(
    lesson: Annotated[int | None, typer.Argument(metavar="LESSON", help="Number of a lesson; none lists them.")] = None,
    language: Annotated[
        Literal["en", "pt", "ru"] | None,
        typer.Option(help="Language of the texts.", show_default="that of your system"),
    ] = None,
    folder: Annotated[Path, typer.Option(help="Folder for the models and the progress of the course.")] = FOLDER,
    out: Annotated[Path | None, typer.Option("-o", "--out", help="Write the lesson as a notebook, .ipynb.")] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port of the page; 0 picks a free one.")] = 5002,
    opens: Annotated[
        bool, typer.Option("--open/--no-open", help="Open the page in your browser, if you are at a terminal.")
    ] = True,
    run: Annotated[bool, typer.Option("--run", help="Run the steps here and print what they show.")] = False,
    record: Annotated[bool, typer.Option("--record", hidden=True, help="Keep what the steps show.")] = False,
) -> None:
    """Learn how attention works in twelve lessons, from counting words to a translator of your own."""
    if folder.exists() and not folder.is_dir():
        raise Fault(f"{folder} is a file, not a folder; name a folder for the models and the progress of the course.")
    if lesson is None:
        if out is not None or run or record:
            raise Fault(f"{'-o writes' if out is not None else '--run runs'} one lesson; name its number.")
        _list(language, folder)
    elif out is not None:
        _write(lesson, _spoken(language, folder), out)
    elif run or record:
        _run(lesson, folder, record)
    else:
        _serve(lesson, language, folder, port, opens)


def language_of_system() -> "Language":
    """Return the language of the environment if the course has it, else English."""
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        if value := os.environ.get(name):
            code = value[:2].lower()
            return "pt" if code == "pt" else "ru" if code == "ru" else "en"
    return "en"


def _spoken(language: "Language | None", folder: Path) -> "Language":
    """Return the language that was asked for, that the reader chose before, or that of the system."""
    from regard.course.progress import ProgressFile

    return language or ProgressFile(folder).read().language or language_of_system()


def _list(language: "Language | None", folder: Path) -> None:
    from regard.course.page_data import contents
    from regard.course.progress import ProgressFile
    from regard.course.sources import MATERIAL

    lessons = contents(MATERIAL, _spoken(language, folder), ProgressFile(folder).read())
    rows = [
        (str(row["number"]), row["title"], _steps(row), f"{row['solved']} of {row['exercises']}") for row in lessons
    ]
    say_table(["lesson", "title", "steps run", "exercises solved"], rows)


def _steps(row: "Mapping[str, int]") -> str:
    """Return how many steps of a lesson ran, and how many were skipped, if any."""
    ran = f"{row['ran']} of {row['steps']}"
    return f"{ran}, {row['skipped']} skipped" if row["skipped"] else ran


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
    remark(f"Open it with: {how_to_install('notebook')} && jupyter lab {out}")


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


def _serve(number: int, language: "Language | None", folder: Path, port: int, opens: bool) -> None:
    """Serve the page of a lesson on this machine until Ctrl-C; all other lessons are a link away."""
    import secrets
    import sys
    import threading
    import webbrowser

    from regard.course.app import course_app
    from regard.course.progress import ProgressFile
    from regard.course.sources import MATERIAL, read_lesson
    from regard.serving.http.server import address_of, bind, serve

    read_lesson(number, MATERIAL)
    if language is not None:
        ProgressFile(folder).keep_language(language)  # for servers that start later
    spoken = _spoken(language, folder)  # before a page is opened, since it refuses a damaged file
    token = secrets.token_urlsafe(16)
    listener = bind("127.0.0.1", port)
    page = f"{address_of(listener)}/{token}/{number}"

    def ready() -> None:
        remark(f"regard: lesson {number} is at {page}\nregard: models and progress go to {folder}; Ctrl-C ends.")
        if opens and sys.stdout is not None and sys.stdout.isatty():
            threading.Thread(target=webbrowser.open, args=(page,), daemon=True).start()  # some browsers keep it waiting

    app = course_app(folder, spoken, token, MATERIAL, lambda sentence: remark(f"regard: {sentence}"))
    try:
        serve(app, listener, _SECONDS_TO_END, ready)
    finally:
        listener.close()
