"""Running the steps of a lesson one after another in one namespace."""

import ast
import contextlib
import io
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from regard.course.cells import shows_pictures
from regard.course.sources import Lesson, Step
from regard.data.catalogue.entries import find, presence

Kind = Literal["text", "remark", "picture"]  # printed, printed as progress or a warning, shown


@dataclass(frozen=True)
class Output:
    """Something that a step shows: a piece of text, or a picture as PNG."""

    kind: Kind
    text: str = ""
    picture: bytes = b""


Emit = Callable[[Output], None]


class Runner:
    """Runs steps in one namespace and hands their outputs on as they come."""

    def __init__(self, lesson: Lesson) -> None:
        self.lesson = lesson
        self._names: dict[str, Any] = {"__name__": "__main__"}

    def run(self, step: Step, values: Mapping[str, object], emit: Emit) -> bool:
        """Run a step, or return False if its data set is missing; exceptions of its code pass through."""
        code = step.code_with(values)
        if step.data is not None and presence(find(step.data)) != "here":
            emit(Output("text", f"This step needs the data set {step.data}: regard data get {step.data}\n"))
            return False
        tree = ast.parse(code)
        last = tree.body[-1] if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        if last is not None:
            tree.body.pop()
        with _showing(emit):
            exec(compile(tree, f"<{step.name}>", "exec"), self._names)
            if last is not None:
                value = eval(compile(ast.Expression(last.value), f"<{step.name}>", "eval"), self._names)
                if value is not None:
                    _show(value, emit)
        return True


def _show(value: Any, emit: Emit) -> None:
    if hasattr(value, "_repr_png_") and (content := value._repr_png_()):
        emit(Output("picture", picture=content))
    else:
        emit(Output("text", f"{value!r}\n"))


class _Printed(io.TextIOBase):
    """A stream that hands on what is printed."""

    encoding = "utf-8"

    def __init__(self, kind: Kind, emit: Emit) -> None:
        self._kind: Kind = kind
        self._emit = emit

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        if text:
            self._emit(Output(self._kind, text))
        return len(text)


@contextlib.contextmanager
def _showing(emit: Emit) -> Iterator[None]:
    """Hand on what is printed and shown."""
    token = shows_pictures.set(lambda content: emit(Output("picture", picture=content)))
    try:
        with contextlib.redirect_stdout(_Printed("text", emit)), contextlib.redirect_stderr(_Printed("remark", emit)):
            yield
    finally:
        shows_pictures.reset(token)


@contextlib.contextmanager
def working_in(folder: Path) -> Iterator[None]:
    """Work in the folder of the course, which is made if it does not exist."""
    folder.mkdir(parents=True, exist_ok=True)
    before = Path.cwd()
    path = list(sys.path)
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
        sys.path[:] = path
