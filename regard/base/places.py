"""What a string names, as module:name; the module is imported when it is asked for, and not before."""

from importlib import import_module
from typing import Any


def find_place(place: str) -> Any:
    """Return what a place, module:name, names."""
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)
