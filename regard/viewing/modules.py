"""The files of `regard/page`, and joining its scripts into one, because an offline page has no server for modules.

The scripts are ES modules, so a server sends them to a browser unchanged. Joined, each comes after those it imports,
without its imports and exports; so no two of them may use the same top-level name, and no import may rename.
"""

import posixpath
import re
from importlib import resources

PAGE = resources.files("regard") / "page"
_IMPORT = re.compile(r'^import \{[^}]*\} from "(\.\.?/[\w./-]+\.js)";\n+', re.MULTILINE)
_TYPES = re.compile(r'^/\*\* @import \{[^}]*\} from "[^"]+" \*/\n+', re.MULTILINE)  # needed only for type checking
_EXPORT = re.compile(r"^export (?=(?:async )?function|const|let|class)", re.MULTILINE)


def read_part(name: str) -> str:
    """Read a file of `regard/page` by its path there."""
    return (PAGE / name).read_text(encoding="utf-8")


def module_order(entry: str) -> list[str]:
    """Return the paths of a module and everything it imports, each after what it needs."""
    order: list[str] = []

    def visit(name: str, above: tuple[str, ...]) -> None:
        if name in above:
            raise ValueError(f"modules import each other: {' → '.join((*above, name))}")
        if name in order:
            return
        for address in _IMPORT.findall(read_part(name)):
            visit(posixpath.normpath(posixpath.join(posixpath.dirname(name), address)), (*above, name))
        order.append(name)

    visit(entry, ())
    return order


def join_modules(entry: str) -> str:
    """Return a module and everything it imports as one script."""
    return "\n".join(_alone(read_part(name)) for name in module_order(entry))


def _alone(module: str) -> str:
    """Return a module without its imports and exports."""
    return _EXPORT.sub("", _TYPES.sub("", _IMPORT.sub("", module)))
