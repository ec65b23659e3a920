"""Objects named by strings such as module:name; the module is imported only when it is needed."""

from importlib import import_module
from typing import Any


def find_place(place: str) -> Any:
    """Return what a place, module:name, names."""
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)
