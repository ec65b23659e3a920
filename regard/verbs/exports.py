"""The exports of a loaded model, opened when first needed."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from regard.attention.editing import is_edited
from regard.base.faults import Fault
from regard.engines.fast import CALLED
from regard.loading import Loaded

Engine = TypeVar("Engine")


def export_of(model: Loaded, choice: str, load: Callable[[Path, Any], Engine | None]) -> Engine | None:
    """Return the engine of an export in the model's folder; None for torch, or for auto without an export.

    Exports do not run the model's modules, so only torch can be edited.
    """
    if is_edited():
        if choice in CALLED:
            raise Fault(f"{CALLED[choice]} does not run the model's modules, so it cannot be edited; use torch.")
        return None
    if model.folder is None:
        if choice in CALLED:
            raise Fault(f"This model does not come from a folder with an export for {CALLED[choice]}; use torch.")
        return None
    if choice not in model.exports:
        model.exports[choice] = load(model.folder, choice)
    engine: Engine | None = model.exports[choice]
    return engine
