"""Turn command-line options into the recipe table `compare`."""

import re
from collections.abc import Sequence
from typing import Any

from regard.base.faults import Fault
from regard.base.recipe import apply_settings
from regard.runs.compare.plan import COMPARE

_PIECE = re.compile(r"""\"(?:\\.|[^"\\])*\"|'[^']*'|.""", re.DOTALL)  # a quoted text, or a single character
_QUOTES = ('"', "'")
_CLOSING = {"]": "[", "}": "{"}


def asked_for(
    table: dict[str, Any], vary: Sequence[str], variants: Sequence[str], others: dict[str, Any]
) -> dict[str, Any]:
    """Return the recipe with its comparison changed as the command line says.

    Variants named here replace all those in the recipe; entries of `others` that are None are ignored.
    """
    varied = _unique("--vary", [_read_varied(text) for text in vary])
    return with_comparison(table, varied, _unique("--variant", [_bundle(text) for text in variants]), others)


def with_comparison(
    table: dict[str, Any], vary: dict[str, Any], variants: dict[str, Any], others: dict[str, Any]
) -> dict[str, Any]:
    """Return the recipe with its comparison changed: options with their values, and variants by name."""
    compare = dict(_as_table(table.get(COMPARE, {})))
    if vary or variants:
        compare |= {"vary": vary, "variants": variants}
    return table | {COMPARE: compare | {name: value for name, value in others.items() if value is not None}}


def _as_table(compare: Any) -> dict[str, Any]:
    if not isinstance(compare, dict):
        raise Fault(f"compare is {compare!r}, expected a table")
    return compare


def _unique(option: str, pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    names = [name for name, _ in pairs]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise Fault(f"{option} is given twice for {twice}.")
    return dict(pairs)


def _read_varied(text: str) -> tuple[str, list[Any]]:
    """Return the option and its values from `NAME=a,b,c`."""
    name, equals, values = text.partition("=")
    parts = [part.strip() for part in cut(values, ",")]
    if not equals or not all(parts) or not all(part.strip() for part in name.split(".")):
        raise Fault(f"--vary {text} is not of the form name=value,value as in --vary model.norm=before,after.")
    return name.strip(), [apply_settings({}, [f"value={part}"])["value"] for part in parts]


def _bundle(text: str) -> tuple[str, dict[str, Any]]:
    """Return the name and the options from `NAME: a.b=1 c.d=2`; without options, the variant is the unchanged
    recipe.
    """
    name, colon, rest = text.partition(":")
    settings = cut(rest, " ")
    if not colon or not name.strip() or "=" in name or not all("=" in setting for setting in settings):
        raise Fault(
            f"--variant {text} is not of the form 'name: option=value option=value', "
            "as in --variant 'small: model.width=64 model.heads=2'."
        )
    return name.strip(), apply_settings({}, settings)


def cut(text: str, separator: str) -> list[str]:
    """Split a text at separators outside quotes and brackets; spaces in a row separate only once."""
    parts, opened = [""], list[str]()
    for piece in _PIECE.findall(text):
        if piece in _CLOSING:
            if not opened or _CLOSING[piece] != opened.pop():
                raise _without_partner(piece, text)
        elif piece in _CLOSING.values():
            opened.append(piece)
        elif piece in _QUOTES:  # a closed quote is inside a longer piece
            raise _without_partner(piece, text)
        if piece == separator and not opened:
            parts.append("")
        else:
            parts[-1] += piece
    if opened:
        raise _without_partner(opened[0], text)
    return [part for part in parts if part] if separator == " " else parts


def _without_partner(mark: str, text: str) -> Fault:
    return Fault(f'The {mark} in {text} is never closed; close it, or write the whole value in quotes, as in "it\'s".')
