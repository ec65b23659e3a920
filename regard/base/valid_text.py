"""Refuse text that was not UTF-8, unless it names a file, whose name may hold any bytes."""

import os
import re
from typing import Any

from regard.base.faults import Fault

_SURROGATE = re.compile("[\ud800-\udfff]")  # Python keeps bytes that it could not decode as some of these
_BEFORE_PATH = re.compile("[=:]")  # as in --set data.source=PATH and --analogies SET:PATH


def refuse_invalid(value: Any, name: str) -> None:
    """Refuse a text, or one in a list, that is not valid UTF-8; `name` is how its writer knows it."""
    for text in value if isinstance(value, list | tuple) else [value]:
        wrong = _SURROGATE.search(text) if isinstance(text, str) else None
        if wrong is None or _names_file(text):
            continue
        byte = ord(wrong[0]) - 0xDC00
        what = f"byte {byte:#04x}" if 0x80 <= byte <= 0xFF else f"{wrong[0]!a}"
        raise Fault(f"{name}: not valid UTF-8 ({what}); give texts and names in UTF-8.")


def _names_file(text: str) -> bool:
    """Return True if a text, or what follows an = or : in it, is the path of a file or folder."""
    paths = [text, *(text[mark.end() :] for mark in _BEFORE_PATH.finditer(text))]
    return any(_SURROGATE.search(path) and os.path.lexists(path) for path in paths)
