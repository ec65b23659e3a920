"""The recipe of a translator's student: sizes by those of its teacher, and how it is trained."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regard.base.figures import quantity
from regard.base.recipe import Recipe, apply_settings, merge_tables, value_at
from regard.families import check_recipe
from regard.runs.distil.request import DistilRequest, Teacher, count_parameters
from regard.runs.distil.sizes import DROPOUT, SHARES, refuse_large, refuse_no_room, training_of, widest
from regard.runs.request import bend

STEP = 32  # widths are multiples of it, and it is the depth of a head
LEAST_INSIDE, MOST_INSIDE = 2, 4  # width inside the feed-forward nets, in widths of the model


@dataclass(frozen=True)
class StudentSize:
    """A kind of student: its blocks.

    The encoder is deep, since it runs once for a sentence, and the decoder shallow, since it runs once for a token
    (Kasai et al. 2021).
    """

    encoder_layers: int
    decoder_layers: int


STUDENTS: dict[str, StudentSize] = {
    "base": StudentSize(6, 2),
    "tiny": StudentSize(6, 2),
    "micro": StudentSize(4, 1),
}


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
    table = merge_tables(table, {"model": _sizes(request, table, teacher)})
    table = merge_tables(table, {"training": _training(request, teachers, table["model"]["width"])})
    table = bend(table, request.settings, is_own=False)
    recipe = _with_settings(table, request)
    refuse_large(count_parameters(recipe, teacher), teacher)
    return table


def _with_settings(table: dict[str, Any], request: DistilRequest) -> Recipe:
    """Check the recipe with the user's settings; its tokens are counted by the teacher's tokenisers."""
    return check_recipe(apply_settings(table, request.settings))


def _sizes(request: DistilRequest, table: dict[str, Any], teacher: Teacher) -> dict[str, Any]:
    """Return the sizes of the kind of student: the widest that fits, then the widest feed-forward nets."""
    kind, share = STUDENTS[request.student], SHARES[request.student]
    layers = {"encoder_layers": kind.encoder_layers, "decoder_layers": kind.decoder_layers}
    given = value_at(apply_settings({}, request.settings), "model", "width")

    def sizes(width: int, inside: int) -> dict[str, Any]:
        return {**layers, "width": width, "feed_forward": inside * width, "heads": max(1, width // STEP)}

    def fits(width: int, inside: int) -> bool:
        recipe = _with_settings(merge_tables(table, {"model": sizes(width, inside)}), request)
        return count_parameters(recipe, teacher) <= int(share * teacher.parameters)

    if isinstance(given, int):
        return sizes(given, MOST_INSIDE)
    width = widest(lambda width: fits(width, LEAST_INSIDE), STEP)
    if not width:
        raise refuse_no_room(request, teacher, share, quantity(teacher.tokenisers[1].size, "token"))
    return sizes(width, next(inside for inside in range(MOST_INSIDE, 0, -1) if fits(width, inside)))


def _training(request: DistilRequest, teachers: list[Teacher], width: int) -> dict[str, Any]:
    """Return the training options: the teacher's for longer, with a higher rate, and no smoothing.

    A teacher's outputs are smoother than references already, so that label smoothing and R-Drop would only blur them.
    """
    kept = ("batch_tokens", "accumulate", "keep", "best_by", "final", "precision", "device", "fast", "validation_beam")
    training = training_of(request, teachers, width, kept) | {"label_smoothing": 0.0}
    return training | ({"quantise": "int8"} if request.int8 else {})


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
