"""Report on a student: scores, size, speed and attention, each beside its teacher's."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any, ClassVar

from regard.base.faults import Fault
from regard.base.files import finite
from regard.base.model_folder import WEIGHTS
from regard.base.progress import Progress, Remark
from regard.runs.distil.agreement import Agreement, attention_agreement
from regard.runs.distil.plan import TeachingPlan
from regard.runs.distil.speed import Contender, cpu_speeds
from regard.runs.kept_scores import keep_scores
from regard.verbs.translate import evaluation
from regard.verbs.translate.model import TranslationModel, load_translation_model

METRICS = ("bleu", "chrf")
WATCHED = 500  # pairs whose attention is compared, and as many to choose where a student looks
COLUMNS = ("model", "beam", "bleu", "chrf", "parameters", "MB", "MB in 8 bits", "ms alone", "1 core", "2 cores")


@dataclass(frozen=True)
class ModelRow:
    """A model of the report with one search; speeds are of single models, so an ensemble has none."""

    name: str
    beam: int
    scores: Mapping[str, float]
    parameters: int
    bytes: int
    small_bytes: int | None = None
    milliseconds: float | None = None
    sentences_per_second: Mapping[int, float] | None = None


@dataclass(frozen=True)
class TranslatorReport:
    """Measurements of a student and its teachers."""

    split: str
    sentences: int
    engine: str
    rows: Sequence[ModelRow]
    agreement: Agreement | None
    targets: str
    words: float
    columns: ClassVar[Sequence[str]] = COLUMNS

    def as_dict(self) -> dict[str, Any]:
        """Return the report as JSON has it."""
        rows = [vars(row) | {"scores": dict(row.scores)} for row in self.rows]
        agreement = self.agreement and self.agreement.as_dict()
        return finite(vars(self) | {"rows": rows, "agreement": agreement})

    def table(self) -> list[list[str]]:
        """Return the cells of the report's table, row by row."""
        return [_cells(row) for row in self.rows]

    def notes(self) -> list[str]:
        """Return sentences on what the table does not show."""
        notes = [
            f"Scores of {self.sentences:,} {self.split} sentences. Milliseconds for a sentence alone on one core, and "
            f"sentences a second in batches, by {self.engine}{' in 8 bits' if self.engine != 'torch' else ''}."
        ]
        if self.agreement is not None:
            seeds = self.agreement.teachers
            others = f", and a second teacher for {seeds:.1%}" if seeds is not None else ""
            notes.append(
                f"Attention: for {self.agreement.share:.1%} of {self.agreement.words:,} words the student looks most "
                f"at the source word that its teacher looks at ({self.agreement.attention}); the diagonal would for "
                f"{self.agreement.diagonal:.1%}{others}."
            )
        return notes


def _cells(row: ModelRow) -> list[str]:
    rates = row.sentences_per_second or {}
    return [
        row.name,
        str(row.beam),
        *(f"{row.scores[metric]:.2f}" for metric in METRICS),
        f"{row.parameters:,}",
        f"{row.bytes / 1e6:.1f}",
        "" if row.small_bytes is None else f"{row.small_bytes / 1e6:.1f}",
        "" if row.milliseconds is None else f"{row.milliseconds:.1f}",
        *(f"{rates[count]:.0f}" if count in rates else "" for count in (1, 2)),
    ]


def measure_translators(folder: Path, plan: TeachingPlan, progress: Progress, remark: Remark) -> TranslatorReport:
    """Measure a student and its teachers."""
    teachers = [_load(Path(name)) for name in plan.teachers]
    student = _load(folder)
    data, choosing = _test_data(student, folder)
    whole = reduce(lambda one, other: one.together([other]), teachers[1:], teachers[0])
    beam = student.recipe.decoding.beam
    named = {
        "teacher" if len(teachers) == 1 else f"{len(teachers)} teachers": (whole, beam, plan.teachers),
        "student": (student, beam, [str(folder)]),
        **({"student, greedy": (student, 1, [str(folder)])} if beam > 1 else {}),
    }
    contenders = [Contender(Path(plan.teachers[0]), beam)]
    contenders += list(dict.fromkeys([Contender(folder, beam), Contender(folder, 1)]))
    scores = {}
    for name, (model, size, _) in named.items():
        found = evaluation.evaluate(model, data, METRICS, beam=size, progress=progress).scores
        scores[name] = {score.metric: score.value for score in found}
        if model is student and size == beam and data.split is not None:
            keep_scores(folder, found, remark)
    measured = cpu_speeds(contenders, data.sources)
    rows = []
    for name, (model, size, folders) in named.items():
        place = Path(folders[0])
        speed = measured.speeds.get(Contender(place, size)) if len(folders) == 1 else None
        rows.append(
            ModelRow(
                name,
                size,
                scores[name],
                _parameters(model),
                sum((Path(one) / WEIGHTS).stat().st_size for one in folders),
                measured.small_bytes.get(place) if len(folders) == 1 else None,
                speed and speed.milliseconds,
                speed and speed.sentences_per_second,
            )
        )
    second = teachers[1].task if len(teachers) > 1 else None
    pairs = data.pairs[:WATCHED]
    agreement = attention_agreement(teachers[0].task, student.task, pairs, choosing or pairs, second)
    return TranslatorReport(
        data.split or "test",
        len(data.sources),
        measured.engine,
        rows,
        agreement,
        plan.targets,
        student.recipe.training.teacher_weight if student.recipe.training.teachers else 0.0,
    )


def _load(folder: Path) -> TranslationModel:
    return load_translation_model(folder)


def _parameters(model: TranslationModel) -> int:
    others = (parameter for task in model.others for parameter in task.parameters())
    return model.parameters + sum(parameter.numel() for parameter in others)


def _test_data(student: TranslationModel, folder: Path) -> tuple[evaluation.TestData, list[tuple[str, str]]]:
    """Return the test data, or else the validation data, and pairs to choose the student's attention by."""
    valid = evaluation.from_split(student, folder, "valid")
    try:
        return evaluation.from_split(student, folder, "test"), valid.pairs[:WATCHED]
    except Fault:
        return valid, []
