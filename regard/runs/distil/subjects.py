"""Subjects: what teachers of each task can teach, by one contract."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, Protocol

from regard.base.faults import Fault
from regard.base.places import find_place
from regard.base.progress import Progress, Remark
from regard.families import FAMILIES, with_article
from regard.runs.distil.plan import TeachingPlan
from regard.runs.distil.request import OPTIONS, DistilRequest, Teacher

_SUBJECTS = {
    "translation": "regard.runs.distil.translators:TRANSLATORS",
    "language": "regard.runs.distil.language:LANGUAGE_MODELS",
    "tagging": "regard.runs.distil.taggers:TAGGERS",
    "captioning": "regard.runs.distil.captioners:CAPTIONERS",
}


class Report(Protocol):
    """Measurements of a student and its teachers."""

    @property
    def columns(self) -> Sequence[str]: ...

    def table(self) -> list[list[str]]: ...
    def notes(self) -> list[str]: ...
    def as_dict(self) -> dict[str, Any]: ...


class Subject(Protocol):
    """Everything that differs between tasks: students, options, lessons, recipe and report.

    `folder` is that of the lessons, which a resumed run finds again.
    """

    name: str  # its teachers, in the plural
    students: Mapping[str, Any]  # by name
    options: frozenset[str]  # those of OPTIONS that have an effect
    example: str  # a command to try the student with, after `regard`

    def check(self, request: DistilRequest, teachers: Sequence[Teacher]) -> None:
        """Refuse what only this subject can know to be wrong."""

    def teach(
        self, request: DistilRequest, teachers: Sequence[Teacher], folder: Path, progress: Progress, remark: Remark
    ) -> None:
        """Write what the student learns from, unless that was done."""

    def has_begun(self, folder: Path) -> bool:
        """Return True if a teacher has written something that is worth keeping."""

    def recipe(self, request: DistilRequest, teachers: Sequence[Teacher], folder: Path) -> dict[str, Any]:
        """Return the student's recipe before the user's settings; refuse one that is too large.

        It is asked for before teaching too, so that bad sizes are refused early.
        """

    def describe(self, request: DistilRequest, teacher: Teacher, table: dict[str, Any]) -> str:
        """Describe the student that is about to be trained."""

    def report(self, folder: Path, plan: TeachingPlan, progress: Progress, remark: Remark) -> Report:
        """Measure the student in a run's folder next to its teachers."""


def subject_of(teacher: Teacher) -> Subject:
    """Return what a teacher can teach; refuse one that can teach nothing."""
    recipe = teacher.recipe
    place = _SUBJECTS.get(recipe.task)
    if place is None or FAMILIES[recipe.family].learns != "gradient":
        raise Fault(
            f"{teacher.folder} is {with_article(recipe.family)} for the task {recipe.task}, which cannot teach; "
            f"teachers are networks for {', '.join(_SUBJECTS)}."
        )
    subject: Subject = find_place(place)
    return subject


def check_request(request: DistilRequest, teachers: Sequence[Teacher]) -> Subject:
    """Return the subject of a request; refuse options and students that belong to other subjects."""
    subject = subject_of(teachers[0])
    for field in fields(DistilRequest):
        is_foreign = field.name in OPTIONS and field.name not in subject.options
        if is_foreign and getattr(request, field.name) != field.default:
            raise Fault(f"--{field.name} has no effect on students of {subject.name}; omit it.")
    if request.student not in subject.students:
        names = ", ".join(subject.students)
        raise Fault(f"--student {request.student} is not for students of {subject.name}; choose one of {names}.")
    subject.check(request, teachers)
    return subject
