"""Lines that a command reads: of texts on the command line, of a file or a part of one, or of standard input."""

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
    """Where the lines come from: texts on the command line, a file or a part of one, or else standard input."""

    texts: tuple[str, ...] = ()
    file: Path | None = None
    part: "LineRange | None" = None

    @property
    def name(self) -> str:
        """The name by which a fault speaks of it."""
        return "--text" if self.texts else str(self.file or "standard input")

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
            raise Fault("There is no standard input; name what is to be read.")

    def inputs(self) -> Iterator[str]:
        """Each text as it was given, line breaks and all, or else each line."""
        return iter(self.texts) if self.texts else self.lines()

    def lines(self) -> Iterator[str]:
        from regard.data.lines import read_lines, read_stream

        if self.texts:
            whole = "".join(text if text.endswith("\n") else f"{text}\n" for text in self.texts)
            # as it came, for whoever reads it to judge
            return read_stream(io.BytesIO(whole.encode("utf-8", "surrogateescape")), self.name)
        if self.file is None:
            self.check()
            return read_stream(sys.stdin.buffer, self.name)
        return read_lines(self.file, part=self.part)

    def count(self) -> int | None:
        """Number of lines, if it can be known in advance."""
        if self.texts:
            return sum(1 for _ in self.lines())
        if self.part is not None:
            return self.part.count
        return None if self.file is None else number_of_lines(self.file)

    @property
    def _is_standard(self) -> bool:
        return not self.texts and self.file is None


def number_of_lines(path: Path) -> int | None:
    """Return the number of lines of a file. A pipe has no length, and unreadable files are reported when they are
    opened.
    """
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
