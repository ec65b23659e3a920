"""Train an open run with the loop for its way of learning, and draw its loss curve."""

from collections.abc import Sequence
from typing import Any

from regard.base.model_folder import update_folder
from regard.base.recipe import Recipe
from regard.families import with_article
from regard.protocols import Counts, Updates
from regard.runs.open import Run, device_of
from regard.runs.planning.planner import Planner
from regard.runs.validate import validator_of
from regard.training.counter import Counter
from regard.training.events import Listener
from regard.training.ranks import ALONE, Ranks
from regard.training.snapshot import Facts
from regard.training.trainer import Trainer
from regard.training.updater import Updater
from regard.viewing.course import LOSS, Best, Course, draw_course
from regard.viewing.curves import Points

CURVE = "curve.png"  # in the folder of a run


def train(run: Run, listeners: Sequence[Listener], ranks: Ranks = ALONE, planner: Planner | None = None) -> Facts:
    """Train the run to its end or to a stop, together with other ranks, and draw its loss curve, if it has one.

    A planner gives a run that learns by steps as many steps as there is time for.
    """
    recipe, validator = run.recipe, validator_of(run.task, run.recipe, ranks)
    task: Any = run.task
    arguments = task, recipe.training, recipe.seed, run.folder, lambda: validator(), listeners
    if isinstance(task, Counts | Updates):
        facts = (Counter if isinstance(task, Counts) else Updater)(*arguments).run()
    else:
        trainer = Trainer(*arguments, ranks, begins_trained=recipe.start_from is not None)
        if planner is not None:
            recipe = planner.begin(run, trainer, validator, ranks)
            validator = validator_of(task, recipe, ranks)
        facts = trainer.run()
    if not ranks.leads:
        return facts
    has_time = planner is None or not planner.spares_writing
    if facts.finished and has_time and (files := validator.closing_files(run.folder.folder, str(device_of(run)))):
        update_folder(run.folder.folder, files)
    if facts.losses:
        draw_course(course_of(facts, recipe), run.folder.folder / CURVE, f"Training of {with_article(recipe.family)}")
    return facts


def course_of(facts: Facts, recipe: Recipe) -> Course:
    """Return the course of a run for drawing."""
    training, validation = {LOSS: list(facts.losses)}, dict[str, Points]()
    for points, records in ((training, facts.tallies), (validation, facts.validations)):
        for step, values in records:
            for name, value in values.items():
                points.setdefault(name, []).append((step, value))
    by = getattr(recipe.training, "best_by", next(iter(validation), ""))
    best = next((step for step, value in validation.get(by, []) if value == facts.best), None)
    marked = Best(by, best, facts.best) if best is not None and facts.best is not None else None
    return Course(training, validation, list(facts.rates), marked)
