"""Scripts of several files as one: a page that is complete in itself has nobody to ask for its modules.

The files are ES modules, so a server gives them to a browser as they are. Joined, each stands behind those it imports,
without its imports and exports; so no two of them may use the same name at their top, and no import may rename.
"""

import re
from importlib import resources

_IMPORT = re.compile(r'^import \{[^}]*\} from "\./([\w-]+\.js)";\n+', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?function|const|let)", re.MULTILINE)


def read_part(name: str) -> str:
    """A file of the folder `page`."""
    return (resources.files("regard.viewing") / "page" / name).read_text(encoding="utf-8")


def module_order(entry: str) -> list[str]:
    """A module and all that it imports, each behind what it needs."""
    found: list[str] = []

    def visit(name: str, above: tuple[str, ...]) -> None:
        if name in above:
            raise ValueError(f"modules import each other: {' → '.join((*above, name))}")
        if name in found:
            return
        for needed in _IMPORT.findall(read_part(name)):
            visit(needed, (*above, name))
        found.append(name)

    visit(entry, ())
    return found


def join_modules(entry: str) -> str:
    """A module and all that it imports as one script."""
    return "\n".join(_EXPORT.sub("", _IMPORT.sub("", read_part(name))) for name in module_order(entry))
