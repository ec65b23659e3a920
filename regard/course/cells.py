"""The functions that the steps of lessons use: run a command, train a model once, show a picture, check an answer."""

import io
import json
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from itertools import pairwise
from pathlib import Path
from types import EllipsisType
from typing import TYPE_CHECKING, Any

from regard.base.faults import Fault
from regard.base.files import write_file
from regard.course.sources import Language, read_lesson

if TYPE_CHECKING:
    from regard.model import Model

# Where pictures go while a page or a recording runs a step; a notebook displays them itself.
shows_pictures: ContextVar[Callable[[bytes], None] | None] = ContextVar("shows_pictures", default=None)


def run(command: str) -> None:
    """Run a command of regard as typed in a terminal, print what it prints, and show the picture that `-o` names."""
    words = shlex.split(command)
    if not words or words[0] != "regard":
        raise Fault("A lesson runs commands of regard only.")
    named = [Path(path) for option, path in pairwise(words) if option == "-o"]
    pictures = [path for path in named if path.suffix == ".png"]
    for path in pictures:
        path.unlink(missing_ok=True)  # commands refuse to replace a file, but a step may run again
    process = subprocess.Popen(
        [sys.executable, "-m", "regard", *words[1:]],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
    )
    assert process.stdout is not None
    try:
        for line in process.stdout:
            print(line, end="", flush=True)
    finally:
        process.stdout.close()
        if process.poll() is None and sys.exc_info()[0] is not None:
            process.terminate()
        status = process.wait()
    if status:
        raise Fault(f"`{command}` failed with exit status {status}.")
    for path in pictures:
        picture(path)


def trained(name: str, recipe: str | Mapping[str, Any], settings: Mapping[str, Any] | None = None) -> "Model":
    """Load the model `name` of the course's folder, or train it first; train it again if recipe or settings changed.

    `recipe` is a table as for `regard.train`, or the name of a built-in recipe. An interrupted training leaves nothing.
    """
    from regard.api import train
    from regard.model import load

    folder, unfinished, record = Path(name), Path(f"{name}.unfinished"), Path(f"{name}.json")
    wanted = json.dumps([recipe, settings], default=str, sort_keys=True).encode()
    if folder.is_dir() and record.is_file() and record.read_bytes() == wanted:
        print(f"{name} is trained already.", file=sys.stderr)
        return load(folder)
    train(recipe, settings, out=unfinished, overwrite=True)
    shutil.rmtree(folder, ignore_errors=True)
    unfinished.rename(folder)
    write_file(record, wanted)
    return load(folder)


def picture(view: Any) -> None:
    """Show a picture: a PNG file by its path, a view such as `model.look` returns, or a figure of matplotlib."""
    content = _png(view)
    if show := shows_pictures.get():
        show(content)
        return
    try:
        from IPython.display import Image, display
    except ImportError:
        print("A notebook or the page of the course shows this picture.")
        return
    display(Image(content))


def _png(view: Any) -> bytes:
    if isinstance(view, str | Path):
        return Path(view).read_bytes()
    if hasattr(view, "savefig"):
        file = io.BytesIO()
        view.savefig(file, format="png", dpi=110, bbox_inches="tight")
        return file.getvalue()
    path = Path("picture.png")
    view.save(path, overwrite=True)
    content = path.read_bytes()
    path.unlink()
    return content


def check(
    lesson: int, exercise: str, answer: float | str | Sequence[str] | EllipsisType, language: Language = "en"
) -> None:
    """Check the answer of an exercise, and print why it is right or a hint; notebooks of the course call this."""
    from regard.course.answers import NotAnAnswer, check_answer
    from regard.course.phrases import PHRASES

    if isinstance(answer, EllipsisType):
        print(PHRASES[language].write_answer)
        return
    source = read_lesson(lesson)
    if exercise not in source.exercises:
        raise Fault(f"Lesson {lesson} has no exercise {exercise}; it has {' and '.join(source.exercises)}.")
    part = source.text(language).exercise(exercise)
    try:
        is_right = check_answer(source.exercises[exercise], part.choices, answer)
    except NotAnAnswer as refusal:
        print(refusal.sentence(language))
        return
    print(f"✓ {part.right}" if is_right else f"✗ {part.hint}")
