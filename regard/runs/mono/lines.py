"""Clean a text of one language before a model translates it, line by line and in little memory."""

from array import array
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

import numpy as np
from pydantic import BaseModel

from regard.base.checksums import file_checksum, read_record, write_record
from regard.base.faults import Fault
from regard.base.figures import quantity
from regard.base.files import whole_file
from regard.base.progress import Progress
from regard.data.corpora.hashes import hash_folded
from regard.data.lines import read_lines

EMPTY, TOO_LONG, REPEATED = "empty", "too long for the model", "repeated"
_AT_ONCE = 10_000  # lines

Lengths = Callable[[list[str]], list[int]]  # tokens of each text


class CleanLines(BaseModel):
    """Record of a cleaned text: what it was made from, how many lines were dropped and why, and its checksum."""

    text: str
    most: int
    read: int
    kept: int
    dropped: dict[str, int]
    checksum: str


def clean_lines(text: Path, out: Path, lengths: Lengths, most: int, progress: Progress) -> CleanLines:
    """Write the lines of a text that are not empty, longer than `most` tokens, or repeated; return the record.

    An earlier result is kept if it is whole and comes from the same text.
    """
    record, of_text = out.with_suffix(".json"), file_checksum(text)
    if record.is_file() and out.is_file():
        before = read_record(CleanLines, record)
        if (before.text, before.most) != (of_text, most):
            raise Fault(f"{text} is not the text that was begun with; give --overwrite to start again.")
        if before.checksum == file_checksum(out):
            return before
    is_first, dropped, kept = _first_mask(text, progress), {EMPTY: 0, TOO_LONG: 0, REPEATED: 0}, 0
    with whole_file(out) as file:
        for first, lines in _portions(text):
            for number, (line, length) in enumerate(zip(lines, lengths(lines), strict=True), first):
                if not line:
                    dropped[EMPTY] += 1
                elif not is_first[number]:
                    dropped[REPEATED] += 1
                elif length > most:
                    dropped[TOO_LONG] += 1
                else:
                    kept += 1
                    file.write(f"{line}\n".encode())
            progress("cleaning the text", first + len(lines), len(is_first))
    if not kept:
        why = ", ".join(f"{count:,} {reason}" for reason, count in dropped.items() if count) or "it is empty"
        raise Fault(f"{text} has no line to learn from: of {quantity(len(is_first), 'line')} {why}.")
    result = CleanLines(
        text=of_text, most=most, read=len(is_first), kept=kept, dropped=dropped, checksum=file_checksum(out)
    )
    write_record(record, result)
    return result


def _first_mask(text: Path, progress: Progress) -> np.ndarray:
    """Return a mask of the lines that did not occur before, ignoring case; 8 bytes a line are in memory."""
    hashes = array("Q")
    for _, lines in _portions(text):
        hashes.frombytes(hash_folded(lines).tobytes())
        progress("reading the text", len(hashes), None)
    mask = np.zeros(len(hashes), bool)
    mask[np.unique(np.frombuffer(hashes, np.uint64), return_index=True)[1]] = True
    return mask


def _portions(text: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield lines without surrounding white space, with tabs and carriage returns as spaces, from each place on."""
    lines, first = read_lines(text), 0
    while portion := [" ".join(line.split()) for line in islice(lines, _AT_ONCE)]:
        yield first, portion
        first += len(portion)
