"""Record of what a run is taught, so that a resumed run is the same one."""

from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel

from regard.base.checksums import file_checksum, read_record, write_record
from regard.base.faults import Fault
from regard.runs.distil.request import DistilRequest, Teacher

FOLDER = "teaching"  # in the folder of a run
RECORD = "plan.json"  # in that folder


class TeachingPlan(BaseModel):
    """Teachers, text and options of what is taught."""

    teachers: list[str]
    checksums: list[str]
    text: str | None
    text_checksum: str | None
    reference: str | None
    targets: str
    candidates: int
    beam: int | None
    tokens: int | None = None


def teaching_plan(request: DistilRequest, teachers: Sequence[Teacher]) -> TeachingPlan:
    """Return the record of a request."""
    return TeachingPlan(
        teachers=[str(teacher.folder.resolve()) for teacher in teachers],
        checksums=[teacher.checksum for teacher in teachers],
        text=None if request.text is None else str(request.text.resolve()),
        text_checksum=None if request.text is None else file_checksum(request.text),
        reference=None if request.reference is None else file_checksum(request.reference),
        targets=request.targets,
        candidates=request.candidates,
        beam=request.beam,
        tokens=request.tokens,
    )


def read_teaching_plan(folder: Path) -> TeachingPlan:
    """Read the record of a distilled run; refuse another folder."""
    record = folder / FOLDER / RECORD
    if not record.exists():
        raise Fault(f"{folder} is not a student of `regard distil`: there is no {record}.")
    return read_record(TeachingPlan, record)


def begin_teaching(request: DistilRequest, teachers: Sequence[Teacher]) -> None:
    """Make the folder, or open that of a run that is resumed; refuse one for something else."""
    record, plan = request.out / FOLDER / RECORD, teaching_plan(request, teachers)
    if record.exists():
        before = read_record(TeachingPlan, record)
        if changed := [name for name in TeachingPlan.model_fields if getattr(before, name) != getattr(plan, name)]:
            raise Fault(
                f"{request.out} was begun with another plan ({', '.join(changed)}); give the same teachers, text "
                "and targets, or choose another --out."
            )
        return
    record.parent.mkdir(parents=True, exist_ok=True)
    write_record(record, plan)
