"""Lines that a command reads: from texts on the command line, a file or part of one, or standard input."""

import io
import lzma
import sys
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from regard.base.faults import Fault

if TYPE_CHECKING:
    from regard.data.lines import LineRange


@dataclass(frozen=True)
class TextInput:
    """A source of lines: texts on the command line, a file or part of one, or else standard input."""

    texts: tuple[str, ...] = ()
    file: Path | None = None
    part: "LineRange | None" = None

    @property
    def name(self) -> str:
        """The name that error messages use."""
        return "your text" if self.texts else str(self.file or "standard input")

    @property
    def first(self) -> int:
        """The number of its first line."""
        return 0 if self.part is None else self.part.first

    @property
    def is_typed(self) -> bool:
        """True if someone at a terminal waits for the answer to each line."""
        return self._is_standard and sys.stdin.isatty()

    def check(self) -> None:
        """Refuse an input that is not there."""
        if self._is_standard and sys.stdin is None:
            raise Fault("There is no standard input; name a file to read.")

    def inputs(self) -> Iterator[str]:
        """Yield each text unchanged, with its line breaks, or else each line."""
        return iter(self.texts) if self.texts else self.lines()

    def lines(self) -> Iterator[str]:
        from regard.data.lines import read_lines, read_stream

        if self.texts:
            whole = "".join(text if text.endswith("\n") else f"{text}\n" for text in self.texts)
            # bytes unchanged: the reader decides whether they are valid
            return read_stream(io.BytesIO(whole.encode("utf-8", "surrogateescape")), self.name)
        if self.file is None:
            self.check()
            return read_stream(sys.stdin.buffer, self.name)
        return read_lines(self.file, part=self.part)

    def count(self) -> int | None:
        """Return the number of lines, if it can be known in advance."""
        if self.texts:
            return sum(1 for _ in self.lines())
        if self.part is not None:
            return self.part.count
        return None if self.file is None else number_of_lines(self.file)

    @property
    def _is_standard(self) -> bool:
        return not self.texts and self.file is None


def number_of_lines(path: Path) -> int | None:
    """Return the number of lines of a file, or None for a pipe or a file that cannot be read."""
    from regard.data.catalogue.unpack import open_content

    if not path.is_file():
        return None
    count, last = 0, b"\n"
    try:
        with open_content(path) as stream:
            while block := stream.read(2**20):
                count, last = count + block.count(b"\n"), block[-1:]
    except (OSError, EOFError, zlib.error, lzma.LZMAError):
        return None
    return count + (last != b"\n")
