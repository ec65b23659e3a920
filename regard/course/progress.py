"""The reader's progress in the course: steps that ran or were skipped, exercises that are solved, and the language.

Every change reads the file, changes it and replaces it while a lock on its folder is held, so that two pages that are
open at once lose nothing.
"""

import fcntl
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from pydantic import Field, ValidationError

from regard.base.faults import Fault
from regard.base.files import read_bounded, write_file
from regard.base.parsing import parse_json
from regard.base.recipe import Options
from regard.course.sources import Language

FILE = "progress.json"
_LARGEST = 1_000_000  # bytes
Given = str | list[str]  # an answer as it was given


class LessonProgress(Options):
    """Progress in one lesson."""

    steps: dict[str, dict[str, int | float | str]] = Field(default={}, description="Values of each step's last run.")
    skipped: list[str] = Field(default=[], description="Steps that were skipped because their data set was missing.")
    solved: dict[str, Given] = Field(default={}, description="The right answer to each exercise, as it was given.")


class Progress(Options):
    """Progress in the course; lessons by their numbers."""

    language: Language | None = Field(default=None, description="The language that was chosen last.")
    lessons: dict[str, LessonProgress] = Field(default={}, description="Lessons that were begun.")

    def lesson(self, number: int) -> LessonProgress:
        return self.lessons.get(str(number), LessonProgress())


class ProgressFile:
    """The file `progress.json` in the course's folder."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.path = folder, folder / FILE

    def read(self) -> Progress:
        """Read the progress so far; refuse a file that is damaged or has another content."""
        if not self.path.exists():
            return Progress()
        try:
            return Progress.model_validate(parse_json(read_bounded(self.path, _LARGEST), FILE), strict=True)
        except (Fault, ValidationError):
            raise Fault(
                f"{self.path} is damaged, or is no progress of `regard course`; move it away to begin again."
            ) from None

    def keep_step(self, number: int, name: str, values: Mapping[str, int | float | str]) -> None:
        """Keep that a step ran, and its values."""

        def changed(old: LessonProgress) -> LessonProgress:
            skipped = [other for other in old.skipped if other != name]
            return old.model_copy(update={"steps": {**old.steps, name: dict(values)}, "skipped": skipped})

        self._change_lesson(number, changed)

    def keep_skipped(self, number: int, name: str) -> None:
        """Keep that a step was skipped, unless it has ever run."""

        def changed(old: LessonProgress) -> LessonProgress:
            skipped = old.skipped if name in old.steps or name in old.skipped else [*old.skipped, name]
            return old.model_copy(update={"skipped": skipped})

        self._change_lesson(number, changed)

    def keep_answer(self, number: int, name: str, answer: Given) -> None:
        """Keep the right answer to an exercise."""
        self._change_lesson(number, lambda old: old.model_copy(update={"solved": {**old.solved, name: answer}}))

    def keep_language(self, language: Language) -> None:
        """Keep the language that the reader has chosen."""
        self._change(lambda old: old.model_copy(update={"language": language}))

    def _change_lesson(self, number: int, change: Callable[[LessonProgress], LessonProgress]) -> None:
        def changed(old: Progress) -> Progress:
            return old.model_copy(update={"lessons": {**old.lessons, str(number): change(old.lesson(number))}})

        self._change(changed)

    def _change(self, change: Callable[[Progress], Progress]) -> None:
        with self._locked():
            old = self.read()
            if (new := change(old)) != old:
                write_file(self.path, new.model_dump_json(indent=1).encode() + b"\n")

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Hold the lock on the folder, which is made if it does not exist."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY)
        except OSError as error:
            raise Fault(f"{self.folder} cannot be the folder of the course: {error.strerror}.") from None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)
