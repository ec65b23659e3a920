"""The recipe of a student: sizes by those of its teacher, and how it is trained."""

from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from typing import Any

from regard.base.faults import Fault
from regard.base.figures import quantity
from regard.base.recipe import Recipe, apply_settings, merge_tables, value_at
from regard.families import check_recipe
from regard.models.shapes import ShapesOnly
from regard.runs.distil.request import DistilRequest, StudentName, Teacher
from regard.runs.open import parameters_of
from regard.runs.request import bend
from regard.tasks.translation.building import build_translation

STEP = 32  # widths are multiples of it, and it is the depth of a head
LEAST_INSIDE, MOST_INSIDE = 2, 4  # width inside the feed-forward nets, in widths of the model
LONGER = 2  # times the teacher's steps: a student has no regularisation that doubles its passes, and learns slowly
HIGHEST_RATE = 3e-3
DROPOUT = 0.1


@dataclass(frozen=True)
class StudentSize:
    """A kind of student: its largest share of the teacher's parameters, and its blocks.

    The encoder is deep, since it runs once for a sentence, and the decoder shallow, since it runs once for a token
    (Kasai et al. 2021).
    """

    share: float
    encoder_layers: int
    decoder_layers: int


STUDENTS: dict[StudentName, StudentSize] = {
    "base": StudentSize(1 / 4, 6, 2),
    "tiny": StudentSize(1 / 10, 6, 2),
    "micro": StudentSize(1 / 20, 4, 1),
}


def count_parameters(recipe: Any, teacher: Teacher) -> int:
    """Count the parameters of a recipe's translator with a teacher's tokens, without making them."""
    with ShapesOnly():
        return parameters_of(build_translation(recipe, *teacher.tokenisers))


def student_recipe(request: DistilRequest, teachers: list[Teacher], data: dict[str, Any]) -> dict[str, Any]:
    """Return the table of a student's recipe for this data, before the user's settings; refuse one that is too large.

    Sizes that the settings leave open are as large as the kind of student allows.
    """
    teacher = teachers[0]
    table: dict[str, Any] = {
        "family": "transformer",
        "task": "translation",
        "data": data,
        "model": {"preset": "small", "norm": "before", "dropout": DROPOUT, "longest": teacher.recipe.model.longest},
        "training": {},
        "decoding": teacher.recipe.decoding.model_dump(exclude_none=True),
    }
    if request.decoder != "attention":
        table["model"]["decoder_cell"] = request.decoder
    allowed = count_parameters(teacher.recipe, teacher)
    table = merge_tables(table, {"model": _sizes(request, table, teacher, allowed)})
    table = merge_tables(table, {"training": _training(request, teachers, table["model"]["width"])})
    table = bend(table, request.settings, is_own=False)
    recipe = _with_settings(table, request)
    if (size := count_parameters(recipe, teacher)) >= allowed:
        raise Fault(
            f"The student would have {size:,} parameters and its teacher has {allowed:,}; "
            "a student must be smaller, so change model.width or other sizes."
        )
    return table


def _with_settings(table: dict[str, Any], request: DistilRequest) -> Recipe:
    """Check the recipe with the user's settings; its tokens are counted by the teacher's tokenisers."""
    return check_recipe(apply_settings(table, request.settings))


def _sizes(request: DistilRequest, table: dict[str, Any], teacher: Teacher, allowed: int) -> dict[str, Any]:
    """Return the sizes of the kind of student: the widest that fits, then the widest feed-forward nets."""
    kind = STUDENTS[request.student]
    layers = {"encoder_layers": kind.encoder_layers, "decoder_layers": kind.decoder_layers}
    settings = apply_settings({}, request.settings)
    given = value_at(settings, "model", "width")
    most = int(kind.share * allowed)

    def sizes(width: int, inside: int) -> dict[str, Any]:
        return {**layers, "width": width, "feed_forward": inside * width, "heads": max(1, width // STEP)}

    def fits(width: int, inside: int) -> bool:
        recipe = _with_settings(merge_tables(table, {"model": sizes(width, inside)}), request)
        return count_parameters(recipe, teacher) <= most

    if isinstance(given, int):
        return sizes(given, MOST_INSIDE)
    width = STEP
    if not fits(width, LEAST_INSIDE):
        tokens = quantity(teacher.tokenisers[1].size, "token")
        raise Fault(
            f"{teacher.folder} has {allowed:,} parameters and {tokens}, so that no {request.student} student fits into "
            f"{kind.share:.0%} of it; choose a larger --student, or set model.width yourself."
        )
    while fits(width + STEP, LEAST_INSIDE):
        width += STEP
    return sizes(width, next(inside for inside in range(MOST_INSIDE, 0, -1) if fits(width, inside)))


def _training(request: DistilRequest, teachers: list[Teacher], width: int) -> dict[str, Any]:
    """Return the training options: the teacher's for longer, with a higher rate, and no smoothing.

    A teacher's outputs are smoother than references already, so that label smoothing and R-Drop would only blur them.
    """
    own = teachers[0].recipe.training
    kept = ("batch_tokens", "accumulate", "keep", "best_by", "final", "precision", "device", "fast", "validation_beam")
    optimizer = own.optimizer.model_dump(exclude_none=True) | {"falls": []}
    wider = getattr(teachers[0].recipe.model, "width", width) / width
    optimizer["learning_rate"] = min(
        max(HIGHEST_RATE, own.optimizer.learning_rate), own.optimizer.learning_rate * sqrt(max(1.0, wider))
    )
    training = {
        **{name: getattr(own, name) for name in kept if getattr(own, name) is not None},
        **{name: LONGER * getattr(own, name) for name in ("steps", "validate_every", "save_every")},
        "label_smoothing": 0.0,
        "optimizer": optimizer,
    }
    if request.int8:
        training["quantise"] = "int8"
    if request.words:
        training["teachers"] = [str(teacher.folder.resolve()) for teacher in teachers]
        training["teacher_weight"] = request.words
        training["teacher_temperature"] = request.temperature or 1.0
    return training


def student_data(teacher: Teacher, train: tuple[Path, Path], valid: tuple[Path, Path] | None) -> dict[str, Any]:
    """Return the data of a student's recipe: what is taught, and the teacher's other splits, cleaning and tokens."""
    data = teacher.recipe.data
    splits = {
        name: [corpus.model_dump(exclude_none=True) for corpus in getattr(data, name)] for name in ("valid", "test")
    }
    if valid is not None:
        splits["valid"] = [_corpus(valid)]
    return {
        "source_language": data.source_language,
        "target_language": data.target_language,
        "train": [_corpus(train)],
        **splits,
        "hold_out": data.hold_out,
        "merge_references": data.merge_references,
        "cleaning": data.cleaning.model_dump(),
        "tokeniser": data.tokeniser.model_dump(exclude_none=True),
        "tokenisers_from": str(teacher.folder.resolve()),
    }


def _corpus(files: tuple[Path, Path]) -> dict[str, str]:
    source, target = (str(file.resolve()) for file in files)
    return {"source": source, "target": target}
