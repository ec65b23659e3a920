"""Word vectors as text: a line for each word, with the word first and then its numbers, separated by spaces.

    3 2                  number of words and numbers per word: word2vec and fastText; GloVe has no such line
    menino 0.25 -1.5     fastText and word2vec leave a space at the end of each line, which is ignored

Words may contain spaces, such as '. . .' in GloVe's files and 'R$ 0,00' in NILC's: the last numbers of a line are its
vector, the rest is its word.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NoReturn

import numpy as np

from regard.base.faults import Fault
from regard.base.progress import Progress
from regard.data.vectors.gathering import Gathering
from regard.data.vectors.word_vectors import WordVectors

_LONGEST_LINE = 1 << 22  # bytes
_WRITTEN_AT_ONCE = 1000  # words
_LONGEST_SHOWN = 40
_MOST_PARTS = 20  # most parts of a word with spaces; more means two lines in one, or no vectors
# An integer before the vector, or thousands as NILC writes them (0.000), may belong to the word. Any other number
# hardly does: its line has too many numbers.
_PART_OF_WORD = re.compile(r"\d{1,3}(\.000)?|\d+")


def read_text(blocks: Iterator[bytes], gathering: Gathering, width: int, count: int | None, progress: Progress) -> None:
    """Read the lines of a file, starting after its header, which announced `count`, if there is one."""
    first, lines = (1 if count is None else 2), _Lines(blocks, gathering.name)
    while block := lines.next_block():
        words, rows = _parse_block(block, width, gathering, first)
        first += len(words)
        gathering.add(words, rows, first - len(words))
        gathering.report(progress, count)
        if gathering.is_full:
            return
        if count is not None and first - 2 > count:
            raise Fault(f"{gathering.name} has more lines than the {count:,} words that its first line announces.")
    if count is not None and first - 2 < count:
        raise Fault(
            f"{gathering.name} is incomplete: its first line announces {count:,} words, but it has {first - 2:,}."
        )
    if not lines.ends_well:
        gathering.remark(f"{gathering.name}: the last line has no end, so its last number may be truncated")


class _Lines:
    """The lines of a file in blocks; at most a block and a line are in memory."""

    def __init__(self, blocks: Iterator[bytes], name: str) -> None:
        self._blocks, self._name, self._rest = blocks, name, b""
        self.ends_well = True

    def next_block(self) -> list[str]:
        """Return the next lines without their ends, invalid UTF-8 as Python's surrogates; empty at the end."""
        whole = b""
        while not whole:
            piece = next(self._blocks, None)
            if piece is None:
                last, self._rest = self._rest.rstrip(), b""
                self.ends_well &= not last
                return _decode(last) if last else []
            text = self._rest + piece
            whole = text[: text.rfind(b"\n") + 1].rstrip(b"\r\n")  # blank lines are kept back: they may be the last
            self._rest = text[text.index(b"\n", len(whole)) + 1 :] if whole else text
            if len(self._rest) > _LONGEST_LINE:
                raise Fault(f"{self._name} holds no word vectors: it has a line of more than {_LONGEST_LINE:,} bytes.")
        return _decode(whole)


def _decode(lines: bytes) -> list[str]:
    return [line.rstrip(" \t\r") for line in lines.decode("utf-8", "surrogateescape").split("\n")]


def _parse_block(lines: Sequence[str], width: int, gathering: Gathering, first: int) -> tuple[list[str], np.ndarray]:
    """Return the words of some lines and their numbers (word, width); regular lines are parsed at once."""
    rows = np.empty((len(lines), width), dtype=np.float32)
    words, regular, numerals = [""] * len(lines), [], []
    for place, line in enumerate(lines):
        if line.count(" ") == width and "\t" not in line:
            words[place], _, rest = line.partition(" ")
            regular.append(place)
            numerals.append(rest)
        else:
            words[place], rows[place] = _parse_line(line, width, gathering, first + place)
    parsed = _parse_table(numerals)
    if parsed.shape == (len(regular), width):
        rows[regular] = parsed
    else:  # some line is regular only in its spaces
        for place in regular:
            words[place], rows[place] = _parse_line(lines[place], width, gathering, first + place)
    return words, rows


def _parse_table(numerals: Sequence[str]) -> np.ndarray:
    """Parse lines of numbers as a table; return an empty one if they are not."""
    try:
        return np.loadtxt(numerals, dtype=np.float32, comments=None, ndmin=2) if numerals else np.empty((0, 0))
    except ValueError:
        return np.empty((0, 0))


def _parse_line(line: str, width: int, gathering: Gathering, number: int) -> tuple[str, list[float]]:
    """Return the word of a line, which may contain spaces, and the numbers at its end."""

    def refuse(why: str) -> NoReturn:
        raise Fault(f"{gathering.name}, line {number}: {why}")

    cells = line.replace("\t", " ").split(" ")
    filled = [cell for cell in cells if cell]
    parts, numerals = filled[: len(filled) - width], filled[len(filled) - width :]
    if len(filled) < width or (not parts and cells[0]):
        refuse(f"{width} numbers must follow the word, but there are {max(len(filled) - 1, 0)}; is the file complete?")
    values = [_number(cell) for cell in numerals]
    wrong = next((cell for cell, value in zip(numerals, values, strict=True) if value is None), None)
    if wrong is not None:
        refuse(f"'{wrong[:_LONGEST_SHOWN]}' is not a number.")
    surplus = parts[1:]
    if len(parts) > _MOST_PARTS or (surplus and _is_of_vector(surplus[-1])):
        refuse(f"{width} numbers must follow the word, but there are more.")
    return " ".join(parts), [value for value in values if value is not None]


def _is_of_vector(cell: str) -> bool:
    return _number(cell) is not None and not _PART_OF_WORD.fullmatch(cell)


def _number(cell: str) -> float | None:
    try:
        return float(cell) if cell.isascii() and "_" not in cell else None
    except ValueError:
        return None


def width_of_line(line: str) -> int:
    """Return how many numbers end a line after its word; 0 if none do."""
    cells = [cell for cell in line.replace("\t", " ").split(" ") if cell]
    width = 0
    while width < len(cells) - 1 and _number(cells[-1 - width]) is not None:
        width += 1
    return width


def text_blocks(vectors: WordVectors, header: bool, space_at_end: bool) -> Iterator[bytes]:
    """Yield the content of a text file of vectors, with the nine digits that restore the same float32."""
    if header:
        yield f"{len(vectors)} {vectors.width}\n".encode()
    line = "%s" + " %.9g" * vectors.width + (" \n" if space_at_end else "\n")
    rows = zip(vectors.words, vectors.matrix, strict=True)
    while some := list(islice(rows, _WRITTEN_AT_ONCE)):
        yield "".join(line % (word, *row.tolist()) for word, row in some).encode()
