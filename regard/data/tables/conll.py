"""Sentences with one word per line and a blank line between them: CoNLL-U, and the files of CoNLL's shared tasks.

Only the words of CoNLL-U are read. Comments (`# text = …`), multiword tokens (`1-2`), whose words follow, and empty
nodes (`1.1`), which are not in the text, are skipped and counted.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from regard.base.faults import Fault
from regard.data.tables.columns import columns_in_words
from regard.data.tables.headers import looks_like_header

CONLLU = ["id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc"]

_COMMENT = re.compile(r"#(?:\s|$)|#\s*[\w.]+\s*=")
_NOTE = re.compile(r"#\s*(?:[\w.]+\s*=|id\s|newdoc\b|newpar\b)")
_GLOBAL_COLUMNS = re.compile(r"#\s*global\.columns\s*=(.*)")
_WORD_ID, _RANGE, _EMPTY = re.compile(r"\d+"), re.compile(r"\d+-\d+"), re.compile(r"\d+\.\d+")
_BETWEEN = re.compile(r"[^\0\t-\r ]+")  # runs of characters between ASCII white space
_DOCUMENT = "-DOCSTART-"
_SHOWN = 40  # characters of a line in a fault


class Sentences:
    """The sentences of a file, each as the number of its first line and its words column by column.

    `passed` counts what is skipped while reading. If `columns` are given, every word must have them; otherwise the
    first word decides how many there are, unless its columns are names.
    """

    def __init__(self, file: str, lines: Iterable[str], is_conllu: bool, columns: Sequence[str] = ()) -> None:
        self.file, self.is_conllu, self.width = file, is_conllu, len(columns)
        self.names: list[str] = list(columns)
        self.has_header = False
        self.passed: Counter[str] = Counter()
        self._lines = self._from_first_word(enumerate(lines, 1))

    def _from_first_word(self, lines: Iterator[tuple[int, str]]) -> Iterator[tuple[int, str]]:
        """Read up to the first word, which decides the number of columns, and return all lines."""
        seen: list[tuple[int, str]] = []
        names = CONLLU if self.is_conllu else self.names
        for number, line in lines:
            seen.append((number, line))
            if match := _GLOBAL_COLUMNS.match(line):
                names = [name.rpartition(":")[2].lower() for name in match[1].split()]
            elif line.strip() and not (_COMMENT.match(line) and not self._is_wide_enough(line)):
                self.width = self.width or len(self._cut(line))
                if not self.is_conllu and self.width > 1 and looks_like_header(self._cut(line)):
                    self.has_header = bool(seen.pop())
                    names = names or self._cut(line)
                break
        if self.is_conllu and self.width not in (0, len(names)):
            raise Fault(
                f"{self.file}, line {seen[-1][0]:,} has {columns_in_words((), self.width)}, separated by tabs; "
                f"a CoNLL-U file has {len(names)}."
            )
        self.names = names
        return chain(seen, lines)

    def _is_wide_enough(self, line: str) -> bool:
        """Return True if a line that begins like a comment may still be a word."""
        return bool(self.width) and not self.is_conllu and len(self._cut(line)) == self.width

    def _cut(self, line: str) -> list[str]:
        return line.split("\t") if self.is_conllu else _BETWEEN.findall(line)

    def __iter__(self) -> Iterator[tuple[int, list[list[str]]]]:
        rows: list[list[str]] = []
        first = 0
        for number, line in self._lines:
            if not line.strip():
                if rows:
                    yield first, _by_column(rows)
                rows = []
            elif (row := self._word(line, number, not rows)) is not None:
                first = first if rows else number
                rows.append(row)
        if rows:
            yield first, _by_column(rows)

    def _word(self, line: str, number: int, begins: bool) -> list[str] | None:
        """Return the columns of a word, or None if the line is not one."""
        row = self._cut(line)
        if line.startswith("#") and self._is_comment(line, row, begins):
            self.passed["comments"] += 1
            return None
        if len(row) != self.width:
            if row[:1] == [_DOCUMENT]:
                return None
            separators = "tabs" if self.is_conllu else "spaces"
            raise Fault(
                f"{self.file}, line {number:,}: '{line[:_SHOWN]}' has {columns_in_words((), len(row))}, separated by "
                f"{separators}, expected {columns_in_words(self.names, self.width)}."
            )
        if self.names[:1] == ["id"] and not _WORD_ID.fullmatch(row[0]):
            self._pass_over(row[0], number)
            return None
        return row

    def _is_comment(self, line: str, row: Sequence[str], begins: bool) -> bool:
        """Return True for a comment; `#` with the columns of a word is a word."""
        if self.is_conllu:
            return True
        return bool(_COMMENT.match(line)) and (len(row) != self.width or (begins and bool(_NOTE.match(line))))

    def _pass_over(self, identifier: str, number: int) -> None:
        if _RANGE.fullmatch(identifier):
            self.passed["multiword tokens"] += 1
        elif _EMPTY.fullmatch(identifier):
            self.passed["empty nodes"] += 1
        else:
            shown = identifier[:_SHOWN]
            raise Fault(
                f"{self.file}, line {number:,}: '{shown}' is not a word number, which CoNLL-U has in its first column."
            )


def _by_column(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    return [list(column) for column in zip(*rows, strict=True)]
