"""Distil a student: teach, train, report."""

from collections.abc import Sequence
from typing import Any

from regard.base.faults import Fault
from regard.base.recipe import apply_settings
from regard.families import check_recipe
from regard.runs.distil.report import DistilReport, write_report
from regard.runs.distil.request import DistilRequest, Teacher, open_teachers
from regard.runs.distil.students import count_parameters, student_data, student_recipe
from regard.runs.distil.teaching import FOLDER, Teaching, begin_teaching, teach
from regard.runs.open import locked_run
from regard.runs.planning.allowance import Allowance
from regard.runs.start import Audience, StartedRun, quick_products, train_table
from regard.training.checkpoint import RunFolder
from regard.verbs.translate.bulk.shards import shard_folder


def distil(request: DistilRequest, audience: Audience) -> tuple[StartedRun, DistilReport | None]:
    """Teach a student, train it and report on it; an interrupted run has no report."""
    run = train_student(request, audience)
    if run.interrupted:
        return run, None
    with audience.progress() as progress:
        return run, write_report(request.out, progress, audience.remark)


def train_student(request: DistilRequest, audience: Audience) -> StartedRun:
    """Teach a student and train it; refuse everything that is wrong with the request first."""
    request.check()
    teachers = open_teachers(request.teachers)
    folder, teaching = RunFolder(request.out), Teaching(request.out / FOLDER)
    folder.refuse_others()
    if not (request.resume or request.overwrite):
        folder.refuse_run()
        if teaching.record.exists():
            raise Fault(f"{request.out} was begun; give --resume to continue, or --overwrite to start again.")
    _refuse_teachers_inside(request, teachers)
    student_recipe(request, teachers, student_data(teachers[0], teaching.train, None))  # refuses bad sizes early
    if request.overwrite and request.out.exists():
        with locked_run(folder):  # never remove a run that another process is training
            folder.remove()
    _teach(request, teachers, folder, audience)
    return _train(request, teachers, teaching, audience)


def _refuse_teachers_inside(request: DistilRequest, teachers: Sequence[Teacher]) -> None:
    for teacher in teachers:
        if teacher.folder.resolve().is_relative_to(request.out.resolve()):
            raise Fault(f"The student cannot be in {request.out}, where its teacher is; choose another --out.")


def _teach(request: DistilRequest, teachers: Sequence[Teacher], folder: RunFolder, audience: Audience) -> None:
    """Write what is taught; a request that is refused before anything is translated leaves nothing behind."""
    is_new = not folder.is_ours()
    folder.begin()
    try:
        with locked_run(folder), quick_products(), audience.progress() as progress:
            teaching = begin_teaching(request, teachers)
            teach(request, teachers, teaching, progress, audience.remark)
    except Fault:
        begun = Teaching(request.out / FOLDER).translations
        if is_new and not (begun.exists() or shard_folder(begun).exists()):
            folder.remove()
        raise


def _train(request: DistilRequest, teachers: Sequence[Teacher], teaching: Teaching, audience: Audience) -> StartedRun:
    """Train the student on what is taught, as any run is trained."""
    data = student_data(teachers[0], teaching.train, teaching.valid)
    table = student_recipe(request, list(teachers), data)
    audience.remark(_describe(request, teachers[0], table))
    allowance = None if request.minutes is None else Allowance(request.minutes)
    return train_table(table, request.settings, request.out, audience, resume=request.resume, allowance=allowance)


def _describe(request: DistilRequest, teacher: Teacher, table: dict[str, Any]) -> str:
    recipe = check_recipe(apply_settings(table, request.settings))
    own, whole = count_parameters(recipe, teacher), count_parameters(teacher.recipe, teacher)
    blocks = f"{recipe.model.encoder_layers} + {recipe.model.decoder_layers} blocks"
    return (
        f"a {request.student} student of {blocks} of width {recipe.model.width}: {own:,} parameters, "
        f"{own / whole:.1%} of its teacher's"
    )
