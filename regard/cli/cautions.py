"""Remarks of commands on a model that has hardly been trained."""

from collections.abc import Iterable
from functools import wraps
from pathlib import Path
from typing import Any

from regard.console import remark
from regard.training.pace import read_course

MODELS = ("model", "models")  # the parameters of commands that name model folders


def caution_first(command: Any) -> None:
    """Let a command, or each one of a group, say of the models it is given if they have hardly been trained."""
    for inner in getattr(command, "commands", {}).values():
        caution_first(inner)
    plain = command.callback
    if plain is None or not any(parameter.name in MODELS for parameter in command.params):
        return

    @wraps(plain)
    def callback(**given: Any) -> Any:
        for name in MODELS:
            _caution(_places(given.get(name)))
        return plain(**given)

    command.callback = callback


def _places(value: Any) -> list[Path]:
    values = value if isinstance(value, list | tuple) else [value]
    return [each for each in values if isinstance(each, Path)]


def _caution(folders: Iterable[Path]) -> None:
    folders = list(folders)
    for folder in folders:
        if (course := read_course(folder / "training")) and (caution := course.caution()):
            remark(caution if len(folders) == 1 else f"{folder}: {caution}")
