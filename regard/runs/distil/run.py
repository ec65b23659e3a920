"""Distil a student: teach, train, report."""

import json
from collections.abc import Sequence
from pathlib import Path

from regard.base.faults import Fault
from regard.base.files import write_file
from regard.base.progress import Progress, Remark
from regard.runs.distil.plan import FOLDER, RECORD, begin_teaching, read_teaching_plan
from regard.runs.distil.request import DistilRequest, Teacher, open_teachers
from regard.runs.distil.subjects import Report, Subject, check_request, subject_of
from regard.runs.open import locked_run
from regard.runs.planning.allowance import Allowance
from regard.runs.start import Audience, StartedRun, quick_products, train_table
from regard.training.checkpoint import RunFolder

REPORT = "distilled.json"  # in the folder of a run


def distil(request: DistilRequest, audience: Audience) -> tuple[StartedRun, Report | None]:
    """Teach a student, train it and report on it; an interrupted run has no report."""
    run = train_student(request, audience)
    if run.interrupted:
        return run, None
    with audience.progress() as progress:
        return run, report_on(request.out, progress, audience.remark)


def report_on(folder: Path, progress: Progress, remark: Remark) -> Report:
    """Measure a student and its teachers, and write the report into the student's folder."""
    plan = read_teaching_plan(folder)
    report = subject_of(open_teachers([Path(plan.teachers[0])])[0]).report(folder, plan, progress, remark)
    write_file(folder / REPORT, json.dumps(report.as_dict(), indent=1, ensure_ascii=False).encode())
    return report


def train_student(request: DistilRequest, audience: Audience) -> StartedRun:
    """Teach a student and train it; refuse everything that is wrong with the request first."""
    request.check()
    teachers = open_teachers(request.teachers)
    subject = check_request(request, teachers)
    folder = RunFolder(request.out)
    folder.refuse_others()
    if not (request.resume or request.overwrite):
        folder.refuse_run()
        if (request.out / FOLDER / RECORD).exists():
            raise Fault(f"{request.out} was begun; give --resume to continue, or --overwrite to start again.")
    _refuse_teachers_inside(request, teachers)
    subject.recipe(request, teachers, request.out / FOLDER)  # refuses bad sizes early
    if request.overwrite and request.out.exists():
        with locked_run(folder):  # never remove a run that another process is training
            folder.remove()
    _teach(subject, request, teachers, folder, audience)
    return _train(subject, request, teachers, audience)


def _refuse_teachers_inside(request: DistilRequest, teachers: Sequence[Teacher]) -> None:
    for teacher in teachers:
        if teacher.folder.resolve().is_relative_to(request.out.resolve()):
            raise Fault(f"The student cannot be in {request.out}, where its teacher is; choose another --out.")


def _teach(
    subject: Subject, request: DistilRequest, teachers: Sequence[Teacher], folder: RunFolder, audience: Audience
) -> None:
    """Write what is taught; a request that is refused before a teacher has written anything leaves nothing behind."""
    is_new = not folder.is_ours()
    folder.begin()
    try:
        with locked_run(folder), quick_products(), audience.progress() as progress:
            begin_teaching(request, teachers)
            subject.teach(request, teachers, request.out / FOLDER, progress, audience.remark)
    except Fault:
        if is_new and not subject.has_begun(request.out / FOLDER):
            folder.remove()
        raise


def _train(subject: Subject, request: DistilRequest, teachers: Sequence[Teacher], audience: Audience) -> StartedRun:
    """Train the student on what is taught, as any run is trained."""
    table = subject.recipe(request, teachers, request.out / FOLDER)
    audience.remark(subject.describe(request, teachers[0], table))
    allowance = None if request.minutes is None else Allowance(request.minutes)
    return train_table(table, request.settings, request.out, audience, resume=request.resume, allowance=allowance)
