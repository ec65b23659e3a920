"""Defaults that adapt to what a user said of a run, so that only contradictions in the user's own words are refused."""

from collections.abc import Sequence
from typing import Any

from regard.base.faults import Fault
from regard.base.figures import quantity
from regard.base.recipe import apply_settings, value_at
from regard.families import recipe_kind
from regard.training.options import TrainingOptions


def bend(table: dict[str, Any], settings: Sequence[str], is_own: bool) -> dict[str, Any]:
    """Return a recipe's table, its values adapted to what the user said where they are not the user's own.

    The user said the settings, and the whole table where `is_own`; shipped recipes and those made for text files are
    defaults.
    """
    whole, said = apply_settings(table, settings), apply_settings(table if is_own else {}, settings)
    if "start_from" in whole and "family" not in whole:  # its parent has one, which is read later
        return table
    kind = recipe_kind(whole)
    training = kind.model_fields["training"].annotation
    if isinstance(training, type) and issubclass(training, TrainingOptions):
        _refuse_empty_mean(training, whole, said)
    return kind.bend(table, said)


def _refuse_empty_mean(kind: type[TrainingOptions], table: dict[str, Any], said: dict[str, Any]) -> None:
    """Refuse a mean of checkpoints of which a run saves none, if the user asked both for it and for how it saves.

    Where one of the two is a default, the run keeps its last weights and says so.
    """
    chosen = [value_at(said, "training", name) for name in ("final", "save_every")]
    steps = value_at(table, "training", "steps") or kind.model_fields["steps"].default
    if chosen[0] == "average" and isinstance(every := chosen[1], int) and isinstance(steps, int) and every > steps:
        within = quantity(steps, "step")
        raise Fault(
            f"training: final = 'average' needs checkpoints, but none is saved in {within}; "
            f"make save_every {steps:,} or less, or leave it out."
        )
