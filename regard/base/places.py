"""Places in the program, written module:name, so that a table can name what it does not import."""

from importlib import import_module
from typing import Any


def find_place(place: str) -> Any:
    """Return what a place names; its module is imported here, and not before."""
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)
