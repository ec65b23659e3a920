"""Refuse arguments that are not valid UTF-8, unless they name files, whose names may hold any bytes."""

import os
import re
from collections.abc import Iterator
from functools import wraps
from typing import Any

from regard.base.faults import Fault

_SURROGATE = re.compile("[\ud800-\udfff]")  # Python keeps bytes that it could not decode as some of these
_BEFORE_PATH = re.compile("[=:]")  # as in --set data.source=PATH and --analogies SET:PATH


def refuse_invalid_text(command: Any) -> None:
    """Make a command, or each command of a group, refuse arguments whose text is not valid UTF-8."""
    for inner in getattr(command, "commands", {}).values():
        refuse_invalid_text(inner)
    plain = command.callback
    if plain is None:
        return

    @wraps(plain)
    def callback(**arguments: Any) -> Any:
        for parameter in command.params:
            for text in _texts(arguments.get(parameter.name)):
                _check(text, parameter)
        return plain(**arguments)

    command.callback = callback


def _texts(value: Any) -> Iterator[str]:
    for each in value if isinstance(value, list | tuple) else [value]:
        if isinstance(each, str):
            yield each


def _check(text: str, parameter: Any) -> None:
    wrong = _SURROGATE.search(text)
    if wrong is None or _names_file(text):
        return
    name = parameter.metavar if parameter.param_type_name == "argument" else max(parameter.opts, key=len)
    byte = ord(wrong[0]) - 0xDC00
    what = f"byte {byte:#04x}" if 0x80 <= byte <= 0xFF else f"{wrong[0]!a}"
    raise Fault(f"{name}: not valid UTF-8 ({what}); give texts and names in UTF-8.")


def _names_file(text: str) -> bool:
    """Return True if an argument, or what follows an = or : in it, is the path of a file or folder."""
    paths = [text, *(text[mark.end() :] for mark in _BEFORE_PATH.finditer(text))]
    return any(_SURROGATE.search(path) and os.path.lexists(path) for path in paths)
