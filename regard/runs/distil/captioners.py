"""Captioners as teachers: they caption the training pictures, and the student learns their captions."""

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import torch

from regard.base.faults import Fault
from regard.base.figures import quantity
from regard.base.progress import Progress, Remark
from regard.base.recipe import apply_settings, merge_tables, value_at
from regard.data.captions.prepare import CaptionedPicture
from regard.data.lines import read_lines
from regard.decoding.options import change_options
from regard.families import check_recipe
from regard.loading import Loaded, load_as
from regard.runs.distil.plan import TeachingPlan
from regard.runs.distil.request import DistilRequest, Teacher
from regard.runs.distil.shards import has_begun, write_in_shards, write_lines
from regard.runs.distil.sizes import DROPOUT, SHARES, count_student, refuse_large, training_of, widest_sizes
from regard.runs.distil.split_report import SplitReport, measure_models, seconds_of
from regard.runs.open import data_folder
from regard.runs.request import bend
from regard.verbs.caption.run import search_captions

ROWS, SHARD = 64, 8  # pictures that are captioned together, and such batches of a shard
_KEPT = ("batch", "accumulate", "keep", "best_by", "final", "precision", "device", "validation_beam")


class _Captioners:
    name, students, options = "captioners", SHARES, frozenset({"targets", "n", "beam"})
    example = "caption {} PICTURE"

    def check(self, request: DistilRequest, teachers: Sequence[Teacher]) -> None:
        """Refuse several teachers, and pictures that are generated with their captions."""
        if len(teachers) > 1:
            raise Fault("Captioners teach alone; name one teacher.")
        if request.targets == "nearest":
            raise Fault("--targets nearest has no effect on students of captioners; omit it.")
        if teachers[0].recipe.data.shapes is not None:
            raise Fault(
                f"{teachers[0].folder} learnt from generated shapes, whose captions cannot be replaced; "
                "a teacher needs pictures in files."
            )

    def teach(
        self, request: DistilRequest, teachers: Sequence[Teacher], folder: Path, progress: Progress, remark: Remark
    ) -> None:
        if request.targets == "reference" or _captions(folder).exists():
            return
        model = load_as(Loaded, teachers[0].folder)
        task, recipe = model.task, teachers[0].recipe
        own = data_folder(recipe, teachers[0].folder)
        prepared = task.prepare(recipe, own if own.exists() else folder / "corpus", progress, remark, teachers[0].files)
        task.learn_from(prepared, recipe)
        pictures, count = prepared.splits["train"], request.candidates
        beam = max(count, request.beam or recipe.decoding.beam)
        search = change_options(recipe.decoding, {"beam": beam, "n_best": count}, None)

        @torch.no_grad()
        def lines_of(numbers: range) -> Iterator[str]:
            batches = islice(task.source("train").pictures(ROWS), numbers.start, numbers.stop)
            for number, batch in zip(numbers, batches, strict=True):
                named = zip(batch.names, search_captions(task, batch.to(task.device), search), strict=True)
                for name, found in named:
                    yield from _lines(name, [task.write(hypothesis.tokens) for hypothesis in found])
                progress("captioning", min(len(pictures), (number + 1) * ROWS), len(pictures))

        write_in_shards(_written(folder), -(-len(pictures) // ROWS), SHARD, lines_of)
        others = (picture for split, held_out in prepared.splits.items() if split != "train" for picture in held_out)
        write_lines(_captions(folder), _all_lines(_written(folder), others))
        remark(f"the teacher captioned {quantity(len(pictures), 'picture')}, in {_written(folder)}")

    def has_begun(self, folder: Path) -> bool:
        return has_begun(_written(folder))

    def recipe(self, request: DistilRequest, teachers: Sequence[Teacher], folder: Path) -> dict[str, Any]:
        teacher = teachers[0]
        data = teacher.recipe.data.model_dump(exclude_none=True, exclude={"prepared"})
        if request.targets != "reference":
            data |= {"captions": str(_captions(folder).resolve()), "at_least": 1}
        table = {
            "family": "captioner",
            "task": "captioning",
            "data": data,
            "decoding": teacher.recipe.decoding.model_dump(exclude_none=True),
        }
        table["model"] = _sizes(request, table, teacher)
        width = value_at(apply_settings(table, request.settings), "model", "width")
        table["training"] = training_of(request, teachers, width, _KEPT)
        table = bend(table, request.settings, is_own=False)
        refuse_large(count_student(table, request, teacher), teacher)
        return table

    def describe(self, request: DistilRequest, teacher: Teacher, table: dict[str, Any]) -> str:
        model = check_recipe(apply_settings(table, request.settings)).model
        size = count_student(table, request, teacher)
        return (
            f"a {request.student} student of width {model.width}: at most {size:,} parameters, "
            f"{size / teacher.parameters:.1%} of its teacher's"
        )

    def report(self, folder: Path, plan: TeachingPlan, progress: Progress, remark: Remark) -> SplitReport:
        metrics = {"bleu": "BLEU", "meteor": "METEOR", "rougeL": "ROUGE-L", "cider": "CIDEr"}
        return measure_models(folder, plan, metrics, "pictures", _speeds, progress, remark)


def _written(folder: Path) -> Path:
    """Return the file of the teacher's captions."""
    return folder / "written.txt"


def _captions(folder: Path) -> Path:
    """Return the file of all captions: the teacher's of training pictures, and people's of the others."""
    return folder / "captions.txt"


def _lines(name: str, captions: Sequence[str]) -> Iterator[str]:
    return (f"{name}#{number}\t{caption}" for number, caption in enumerate(captions) if caption.strip())


def _all_lines(written: Path, others: Iterator[CaptionedPicture]) -> Iterator[str]:
    yield from read_lines(written)
    for picture in others:
        yield from _lines(picture.name, picture.captions)


def _sizes(request: DistilRequest, table: dict[str, Any], teacher: Teacher) -> dict[str, Any]:
    """Return the model options of the student: the widest that fits, unless the user has set a width."""
    own = teacher.recipe.model
    encoder = {"encoder": own.encoder.model_dump(exclude_none=True)} if table["data"]["features"] == "own" else {}

    def sizes(width: int) -> dict[str, Any]:
        return {"embedding": width // 2, "compared": width // 2, "width": width, "dropout": DROPOUT, **encoder}

    def count(model: dict[str, Any]) -> int:
        return count_student(merge_tables(table, {"model": model}), request, teacher)

    return widest_sizes(request, teacher, SHARES[request.student], sizes, count, "its words and encoder")


def _speeds(model: Loaded, split: str) -> dict[str, float]:
    """Return the captions a second that a model writes in batches."""
    batch = next(model.task.source(split).pictures(ROWS))
    seconds = seconds_of(lambda: search_captions(model.task, batch, model.task.decoding))
    return {"captions a second": batch.rows / seconds}


CAPTIONERS = _Captioners()
