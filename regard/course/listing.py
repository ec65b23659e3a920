"""The code of a step as the page lists it: lines of coloured parts, commands as they are typed, values to set."""

import io
import keyword
import tokenize
from typing import Any

from regard.course.sources import Step

Part = tuple[str, str]  # a kind, empty for plain text, and the text
_STRINGS = ("STRING", "FSTRING_START", "FSTRING_MIDDLE", "FSTRING_END")  # Python 3.12 and later split f-strings
_KINDS = {tokenize.COMMENT: "comment", **{getattr(tokenize, name, -1): "text" for name in _STRINGS}}


def listing(step: Step) -> list[dict[str, Any]]:
    """Return the lines: parts of Python, a command, or the name of a value whose line shows what is set."""
    shown = step.shown.split("\n")
    parts = _coloured(step.code)
    lines: list[dict[str, Any]] = [{"value": value.name} for value in step.values]
    for place in range(len(lines), len(shown)):
        is_command = shown[place] != step.code.split("\n")[place]
        lines.append({"command": shown[place]} if is_command else {"parts": parts[place]})
    return lines


def _coloured(code: str) -> list[list[Part]]:
    """Return the parts of each line."""
    source = code.split("\n")
    lines: list[list[Part]] = [[] for _ in source]
    ends = [0] * len(source)
    for token in tokenize.generate_tokens(io.StringIO(code).readline):
        kind = _KINDS.get(token.type, "keyword" if keyword.iskeyword(token.string) else "")
        if not kind:
            continue
        (first, start), (last, end) = token.start, token.end
        for row in range(first - 1, last):
            begin = max(ends[row], start if row == first - 1 else 0)
            stop = end if row == last - 1 else len(source[row])
            lines[row] += [("", source[row][ends[row] : begin]), (kind, source[row][begin:stop])]
            ends[row] = stop
    for row, line in enumerate(source):
        lines[row].append(("", line[ends[row] :]))
    return [[part for part in line if part[1]] for line in lines]
