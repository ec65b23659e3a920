"""Choose the validator of a task."""

from collections.abc import Sequence
from typing import Any

from regard.base.faults import Fault
from regard.base.places import find_place
from regard.base.recipe import Recipe
from regard.measuring import Validator, refuse_unmeasured
from regard.training.ranks import ALONE, Ranks

# Tasks whose validation also writes outputs -> their validators.
_WRITING = {
    "translation": "regard.verbs.translate.validation:TranslationValidator",
    "captioning": "regard.verbs.caption.validation:CaptionValidator",
}


def _class_for(recipe: Recipe) -> type[Validator]:
    kind: type[Validator] = find_place(_WRITING[recipe.task]) if recipe.task in _WRITING else Validator
    return kind


def validator_of(task: Any, recipe: Recipe, ranks: Ranks = ALONE) -> Validator:
    """Return the validator for a task; several ranks share the work and all get the same result."""
    return _class_for(recipe)(task, recipe, ranks)


def check_best_by(recipe: Recipe) -> None:
    """Refuse to choose the best weights by something that validation does not measure."""
    names = _class_for(recipe).names(recipe)
    by = getattr(recipe.training, "best_by", names[0])
    if by not in names:
        raise Fault(f"training.best_by is '{by}', but a validation can measure {', '.join(names)}.")


def check_measured(recipe: Recipe, names: Sequence[str]) -> None:
    """Refuse metrics that are not measured for this kind of model."""
    refuse_unmeasured(recipe, names, _class_for(recipe))
