"""Translators as teachers: they translate a text, and the student learns their translations."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from regard.base.progress import Progress, Remark
from regard.base.recipe import apply_settings
from regard.families import check_recipe
from regard.runs.distil.plan import TeachingPlan
from regard.runs.distil.request import OPTIONS, DistilRequest, Teacher, count_parameters
from regard.runs.distil.teaching import Teaching, teach
from regard.runs.distil.translator_report import TranslatorReport, measure_translators
from regard.runs.distil.translator_students import STUDENTS, student_data, student_recipe
from regard.verbs.translate.bulk.shards import shard_folder


class _Translators:
    name, students, options = "translators", STUDENTS, frozenset(OPTIONS) - {"tokens"}
    example = "translate {} --text …"

    def check(self, request: DistilRequest, teachers: Sequence[Teacher]) -> None:
        """Accept everything: options and text were checked, or are when they are read."""

    def teach(
        self, request: DistilRequest, teachers: Sequence[Teacher], folder: Path, progress: Progress, remark: Remark
    ) -> None:
        teach(request, teachers, Teaching(folder), progress, remark)

    def has_begun(self, folder: Path) -> bool:
        translations = Teaching(folder).translations
        return translations.exists() or shard_folder(translations).exists()

    def recipe(self, request: DistilRequest, teachers: Sequence[Teacher], folder: Path) -> dict[str, Any]:
        teaching = Teaching(folder)
        return student_recipe(request, list(teachers), student_data(teachers[0], teaching.train, teaching.valid))

    def describe(self, request: DistilRequest, teacher: Teacher, table: dict[str, Any]) -> str:
        recipe = check_recipe(apply_settings(table, request.settings))
        own = count_parameters(recipe, teacher)
        blocks = f"{recipe.model.encoder_layers} + {recipe.model.decoder_layers} blocks"
        return (
            f"a {request.student} student of {blocks} of width {recipe.model.width}: {own:,} parameters, "
            f"{own / teacher.parameters:.1%} of its teacher's"
        )

    def report(self, folder: Path, plan: TeachingPlan, progress: Progress, remark: Remark) -> TranslatorReport:
        return measure_translators(folder, plan, progress, remark)


TRANSLATORS = _Translators()
