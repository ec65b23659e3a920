"""Find objects by strings such as module:name; the module is imported only when needed."""

from importlib import import_module
from typing import Any

from regard.base.faults import Fault


def find_place(place: str) -> Any:
    """Return the object that a place, module:name, refers to; refuse a plugin's place that does not exist."""
    module, _, name = place.partition(":")
    if module.partition(".")[0] == "regard":
        return getattr(import_module(module), name)
    try:
        return getattr(import_module(module), name)
    except Fault:
        raise
    except (Exception, SystemExit) as error:
        first = next(iter(str(error).splitlines()), "")
        raise Fault(
            f"{place}, which a plugin names, cannot be imported: {type(error).__name__}: {first}".rstrip(": ") + "."
        ) from error
