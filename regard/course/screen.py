"""Text as a terminal would show it in the end: carriage returns and backspaces overwrite, escape codes are dropped."""

import re

# An escape sequence of ECMA-48: one that controls, one with a text of its own (a title, a link), or a short one.
_ESCAPE = re.compile(r"\x1b(?:\[([0-?]*)[ -/]*([@-~])|\][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]*[0-Z\\^-~])")
_UNFINISHED = re.compile(r"\x1b(?:\[[0-?]*[ -/]*|\][^\x07\x1b]*\x1b?|[ -/]*)?\Z")
_SIGNS = re.compile(r"[^\n\r\b\0]+|[\n\r\b\0]")
_ERASE = "\0"  # stands for the sequence that erases the rest of a line
_UNSEEN = dict.fromkeys([*range(1, 8), 11, 12, *range(14, 32), 127])
_LONGEST_ESCAPE = 1000  # characters; whatever is longer is not one


class Screen:
    """Lines that a program writes, of which only the last can still change; it keeps at most `most` characters."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._done: list[str] = []
        self._size = 0  # of the lines that are done
        self._line: list[str] = []
        self._at = 0
        self._unfinished = ""
        self.is_cut = False

    @property
    def text(self) -> str:
        return "".join(self._done) + "".join(self._line)

    def write(self, text: str) -> None:
        """Add text; what does not fit is dropped."""
        text = self._unfinished + text.replace(_ERASE, "")
        match = _UNFINISHED.search(text)
        self._unfinished = match[0] if match and len(match[0]) < _LONGEST_ESCAPE else ""
        text = text[: len(text) - len(self._unfinished)]
        for sign in _SIGNS.findall(_ESCAPE.sub(_erasing, text).translate(_UNSEEN)):
            if sign == "\n":
                self._end_line()
            elif sign == "\r":
                self._at = 0
            elif sign == "\b":
                self._at = max(0, self._at - 1)
            elif sign == _ERASE:
                del self._line[self._at :]
            else:
                self._put(sign)

    def _end_line(self) -> None:
        room = self._most - self._size
        line = "".join(self._line) + "\n"
        self.is_cut = self.is_cut or len(line) > room
        if room:
            self._done.append(line[:room])
            self._size += len(self._done[-1])
        self._line, self._at = [], 0

    def _put(self, text: str) -> None:
        room = max(0, self._most - self._size - self._at)
        self.is_cut = self.is_cut or len(text) > room
        text = text[:room]
        self._line[self._at : self._at + len(text)] = text
        self._at += len(text)


def _erasing(match: re.Match[str]) -> str:
    """Return the sign that erases for a sequence that does, nothing for any other."""
    if match[2] != "K":
        return ""
    return _ERASE if match[1] in ("", "0") else f"\r{_ERASE}"
