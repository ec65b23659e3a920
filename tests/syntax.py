"""The package's syntax trees, parsed once for several tests."""

import ast
from collections.abc import Iterator
from functools import cache
from importlib import resources
from pathlib import Path

PACKAGE = Path(str(resources.files("regard")))


@cache
def nodes(path: Path) -> list[ast.AST]:
    """Return all syntax nodes of a Python file."""
    return list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


def nodes_of_package() -> Iterator[ast.AST]:
    """Return all syntax nodes of the package, file by file."""
    for path in sorted(PACKAGE.rglob("*.py")):
        yield from nodes(path)


def called_name(call: ast.Call) -> str:
    """Return the last name of a called expression: `open` for `path.open()`."""
    return str(getattr(call.func, "attr", getattr(call.func, "id", "")))
