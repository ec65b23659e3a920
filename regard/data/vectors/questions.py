"""Questions to word vectors: analogies in sections, and word pairs with people's judgements."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from regard.base.faults import Fault
from regard.data.lines import read_lines

Analogy = tuple[str, str, str, str]  # the first is to the second as the third to the fourth


@dataclass(frozen=True)
class Section:
    """Analogies of one sort, such as capitals of countries."""

    name: str
    analogies: list[Analogy]


@dataclass(frozen=True)
class JudgedPair:
    """Two words, and how alike people find them; only the order of judgements counts, whatever their scale."""

    first: str
    second: str
    judgement: float


def read_analogies(path: Path) -> list[Section]:
    """The sections of a file as word2vec's questions-words.txt: ': name' begins one, then four words a line."""
    sections: list[Section] = []
    for number, line in _filled_lines(path):
        if line.startswith(":"):
            sections.append(Section(line.lstrip(":").strip(), []))
            continue
        words = line.split()
        if len(words) != 4:
            raise Fault(f"{path}, line {number}: an analogy has four words, but this line has {len(words)}.")
        if not sections:
            sections.append(Section(path.name, []))
        a, b, c, d = words
        sections[-1].analogies.append((a, b, c, d))
    filled = [section for section in sections if section.analogies]
    if not filled:
        raise Fault(f"{path} holds no analogies.")
    return filled


def read_judged_pairs(path: Path) -> list[JudgedPair]:
    """The pairs of a file with columns between tabs: two words and a judgement, which is the last column.

    A fourth column of single letters, the first as in LX-WordSim-353 or the third as in LX-SimLex-999, says of which
    sort a pair is. Lines with # are comments, and a first line without a number names the columns.
    """
    rows: list[list[str]] = []
    for number, line in _filled_lines(path):
        if line.startswith("#"):
            continue
        cells = [cell.strip() for cell in (line.split("\t") if "\t" in line else line.split())]
        if not rows and not _is_number(cells[-1]):
            continue
        if len(cells) not in (3, 4) or not _is_number(cells[-1]):
            raise Fault(f"{path}, line {number}: two words and a number between tabs are needed.")
        rows.append(cells)
    if not rows:
        raise Fault(f"{path} holds no pairs of words with judgements.")
    sort_is_first = all(len(cells) == 4 and len(cells[0]) == 1 for cells in rows)
    place = 1 if sort_is_first else 0
    return [JudgedPair(cells[place], cells[place + 1], float(cells[-1])) for cells in rows]


def _filled_lines(path: Path) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(read_lines(path), 1):
        if line.strip():
            yield number, line.strip()


def _is_number(cell: str) -> bool:
    try:
        return abs(float(cell)) < float("inf")
    except ValueError:
        return False
