"""Objects named by strings such as module:name; the module is imported only when it is needed."""

from importlib import import_module
from typing import Any

from regard.base.faults import Fault


def find_place(place: str) -> Any:
    """Return what a place, module:name, names; one that a plugin names and that is not there is refused."""
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
