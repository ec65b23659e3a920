"""Training a run that is open, by the loop of its way to learn, and drawing how it went."""

from collections.abc import Sequence

from regard.protocols import Counts, Updates
from regard.runs.folder import update_folder
from regard.runs.open import Run, device_of
from regard.runs.validate import validator_of
from regard.training.counter import Counter
from regard.training.events import Listener
from regard.training.snapshot import Facts
from regard.training.trainer import Trainer
from regard.training.updater import Updater


def train(run: Run, listeners: Sequence[Listener]) -> Facts:
    """Train the run to its end or to a stop, and draw its loss curve, if it has one."""
    loop = Counter if isinstance(run.task, Counts) else Updater if isinstance(run.task, Updates) else Trainer
    recipe, validator = run.recipe, validator_of(run.task, run.recipe)
    facts = loop(run.task, recipe.training, recipe.seed, run.folder, validator, listeners).run()
    if facts.finished and (files := validator.closing_files(run.folder.folder, str(device_of(run)))):
        update_folder(run.folder.folder, files)
    if facts.losses:
        from regard.viewing.curves import draw_curves

        series = {"training loss": list(facts.losses)}
        for step, values in facts.tallies:
            for name, value in values.items():
                series.setdefault(f"training {name}", []).append((step, value))
        for step, measures in facts.validations:
            for name, value in measures.items():
                series.setdefault(f"validation {name}", []).append((step, value))
        draw_curves(series, run.folder.folder / "curve.png", "Training")
    return facts
