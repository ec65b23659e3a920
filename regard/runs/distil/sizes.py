"""Sizes of students next to their teachers, and how any student is trained."""

from collections.abc import Callable, Sequence
from math import sqrt
from typing import Any

from regard.base.faults import Fault
from regard.base.recipe import apply_settings, value_at
from regard.families import check_recipe
from regard.runs.distil.request import DistilRequest, Teacher, count_parameters

SHARES = {"base": 1 / 4, "tiny": 1 / 10, "micro": 1 / 20}  # largest shares of the teacher's parameters
LONGER = 2  # times the teacher's steps: a student has no regularisation that doubles its passes, and learns slowly
HIGHEST_RATE = 3e-3
DROPOUT = 0.1
STEP = 16  # widths are multiples of it, except those of translators


def widest(fits: Callable[[int], bool], step: int) -> int:
    """Return the largest multiple of `step` up to which all fit; 0 if the first does not."""
    width = 0
    while fits(width + step):
        width += step
    return width


def widest_sizes(
    request: DistilRequest,
    teacher: Teacher,
    share: float,
    sizes: Callable[[int], dict[str, Any]],
    count: Callable[[dict[str, Any]], int],
    vocabulary: str,
) -> dict[str, Any]:
    """Return the model options, `sizes` of a width: the widest with that share of the parameters, or as the user set.

    `count` gives the parameters of a student with these options, and `vocabulary` is what a refusal mentions.
    """
    given = value_at(apply_settings({}, request.settings), "model", "width")
    if isinstance(given, int):
        return sizes(given)
    if not (width := widest(lambda width: count(sizes(width)) <= int(share * teacher.parameters), STEP)):
        raise refuse_no_room(request, teacher, share, vocabulary)
    return sizes(width)


def count_student(table: dict[str, Any], request: DistilRequest, teacher: Teacher) -> int:
    """Return the number of parameters of a student by its recipe with the request's settings."""
    return count_parameters(check_recipe(apply_settings(table, request.settings)), teacher)


def refuse_no_room(request: DistilRequest, teacher: Teacher, share: float, vocabulary: str) -> Fault:
    """Return the fault that not even the narrowest student is small enough."""
    return Fault(
        f"{teacher.folder} has {teacher.parameters:,} parameters and {vocabulary}, so that no {request.student} "
        f"student fits into {share:.0%} of it; choose a larger --student, or set model.width yourself."
    )


def refuse_large(size: int, teacher: Teacher) -> None:
    """Refuse a student that is not smaller than its teacher."""
    if size >= teacher.parameters:
        raise Fault(
            f"The student would have {size:,} parameters and its teacher has {teacher.parameters:,}; "
            "a student must be smaller, so change model.width or other sizes."
        )


def training_of(request: DistilRequest, teachers: Sequence[Teacher], width: int, kept: Sequence[str]) -> dict[str, Any]:
    """Return training options: the teacher's for longer, `kept` ones unchanged, with a higher rate the narrower it is.

    With --words, the teachers' distributions are part of the loss.
    """
    own = teachers[0].recipe.training
    optimizer = own.optimizer.model_dump(exclude_none=True) | {"falls": []}
    wider = getattr(teachers[0].recipe.model, "width", width) / width
    optimizer["learning_rate"] = min(
        max(HIGHEST_RATE, own.optimizer.learning_rate), own.optimizer.learning_rate * sqrt(max(1.0, wider))
    )
    training = {
        **{name: getattr(own, name) for name in kept if getattr(own, name) is not None},
        **{name: LONGER * getattr(own, name) for name in ("steps", "validate_every", "save_every")},
        "optimizer": optimizer,
    }
    if request.words:
        training["teachers"] = [str(teacher.folder.resolve()) for teacher in teachers]
        training["teacher_weight"] = request.words
        training["teacher_temperature"] = request.temperature or 1.0
    return training
